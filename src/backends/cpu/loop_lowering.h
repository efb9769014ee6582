// What the lower_*.cpp files share: the state of lowering one program to the loops stage. Private to lower_to_loops.
#pragma once

#include "backends/cpu/storage_plan.h"
#include "backends/cpu/target.h"
#include "ir/tile_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <vector>

namespace tilewright::cpu {

using mlir::Value;

/// An upper bound of an index: a number, or the value that holds it. Two bounds are the same where they are equal.
struct Bound {
  int64_t number = 0;
  Value value = {}; // wins over number; at most `number`
  bool operator==(const Bound&) const = default;
};

/// The index, along one dimension of a value, of what is asked for: one lane, or a vector of neighbours.
struct Lanes {
  Value begin;         // of the first lane
  int64_t count = 1;   // 1: one lane, as a scalar
  Value existing = {}; // how many of the lanes exist; none: all do
  Bound limit = {};    // existing lanes are below it
};

/// Which of the lanes of an access are read or written, and where they lie.
struct LaneChoice {
  Value existing = {}; // how many of the lanes exist; none: all do
  Value mask = {};     // those to be accessed, a bool or a vector of them; none: all
  Value offsets = {};  // of each lane, in elements from where the access begins, a vector of i64; none: neighbours
};

/// A scratch buffer, or an array in memory: a memref whose dimensions are ordered by stride, the largest first.
struct Buffer {
  Value memref;
  llvm::SmallVector<unsigned> order; // memref dimension i is dimension order[i] of the value or array
  mlir::Type element;                // of the value; the memref's may be wider, and is i8 for i1
};

/// Vectors that an iteration of a long vector loop works on, and accumulators of a reduction: enough to hide the
/// latency of an add and of the second-level cache (docs/loops-prototype.md).
inline constexpr int64_t kUnrolledVectors = 4;

/// One dimension of a loop nest.
struct NestDim {
  int64_t extent;      // lanes at most
  Bound bound;         // lanes that exist
  bool walked = false; // by a loop around this nest
};

class LoopLowering {
public:
  LoopLowering(ProgramOp program, const CpuTarget& target)
      : program_(program), target_(target), plan_(program), b_(program.getContext()) {}

  mlir::LogicalResult run(mlir::ModuleOp module);

private:
  // lower_to_loops.cpp: the program's ops in order.
  mlir::func::FuncOp make_function(mlir::ModuleOp module);
  void bind_arguments();
  /// The number that a dimension over run-time sizes stands for.
  Value extent(const Dim& dim);
  mlir::LogicalResult lower_block(mlir::Block& block);
  mlir::LogicalResult lower_op(mlir::Operation* op);
  mlir::LogicalResult lower_scalar(mlir::Operation* op);
  void lower_store(StoreOp store);
  void lower_reshape(ReshapeOp reshape);
  void lower_sort(SortOp sort); // lower_sort.cpp
  void lower_print(PrintOp print);
  /// Gives a tensor a buffer holding it; into `buffer` where one is given.
  void keep(Value value);
  Buffer destination_of(Value value);
  void assign(const Buffer& to, Value from, llvm::ArrayRef<NestDim> dims);
  void fill(const Buffer& to, Value from, llvm::ArrayRef<Lanes> at);

  // lower_control.cpp: loops and branches of the program.
  mlir::LogicalResult lower_for(mlir::scf::ForOp loop);
  mlir::LogicalResult lower_if(mlir::scf::IfOp branch);
  mlir::LogicalResult lower_while(mlir::scf::WhileOp loop);
  void carry_on(mlir::ValueRange places, mlir::ValueRange values);
  Buffer slot_of(Value value, Value init);
  llvm::SmallVector<Value> scalars_of(mlir::ValueRange values);
  void map_scalars(mlir::ValueRange values, mlir::ValueRange lowered);

  // lower_access.cpp
  struct ResolvedAccess {
    llvm::SmallVector<Lanes> where; // along each dimension of the array
    int64_t lanes = 1;
    LaneChoice choice;
  };
  ResolvedAccess resolve(AccessOp access, llvm::ArrayRef<Lanes> at);
  llvm::SmallVector<NestDim> dims_of_access(AccessOp access);
  Value as_index(Value number);  // a scalar
  Value as_int64(Value numbers); // a vector
  /// How far from the first element of an access those are that lie `numbers`, a vector of i64, steps along a
  /// dimension. `stride` is i64.
  Value offsets_along(Value numbers, Value stride);
  void lower_atomic(AccessOp access);

  // lower_combine.cpp: combiners of the user's.
  void lower_combine(CombineOp combine);
  void lower_scan(ScanOp scan);
  using Operands = llvm::SmallVector<Value, 2>;
  Operands apply(mlir::Block& combiner, llvm::ArrayRef<Value> left, llvm::ArrayRef<Value> right);
  Operands evaluate_sources(mlir::ValueRange sources, llvm::ArrayRef<Lanes> at, int64_t lanes);
  Operands combine_along(CombineOp op, llvm::SmallVector<Lanes> at, const NestDim& dim, int64_t lanes);
  Operands combine_across(CombineOp op, llvm::SmallVector<Lanes> at, const NestDim& dim, int64_t lanes);
  Operands fold(mlir::Block& combiner, mlir::ValueRange sources, llvm::ArrayRef<Lanes> at, unsigned dim,
                const NestDim& along, Value from, Value to, int64_t step, int64_t lanes, llvm::ArrayRef<Value> start);
  Operands or_other(CombineOp op, const NestDim& dim, int64_t lanes, llvm::function_ref<Operands()> total);
  llvm::SmallVector<NestDim> dims_of_sources(mlir::ValueRange sources, int64_t dim, Value valid);
  /// if-then-else that gives values of the same types on both sides.
  Operands choose(Value condition, llvm::ArrayRef<mlir::Type> types, llvm::function_ref<Operands()> then_values,
                  llvm::function_ref<Operands()> else_values);

  // buffers.cpp: scratch and arrays as memrefs.
  Buffer make_scratch(Value value);
  Buffer make_scratch(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Type storage_type(Value value);
  static mlir::MemRefType array_memref(ArrayType type);
  static mlir::Type argument_type(mlir::Type type);
  /// `strides`: those that are known at run time only, by dimension.
  Buffer array_buffer(Value argument, ArrayType type, llvm::ArrayRef<Value> strides);
  /// The stride along `dim`, an i64.
  Value stride_of(const Buffer& buffer, unsigned dim);
  Value read(const Buffer& buffer, llvm::ArrayRef<Lanes> at, const LaneChoice& choice = {});
  void write(const Buffer& buffer, llvm::ArrayRef<Lanes> at, Value value, bool streaming = false,
             const LaneChoice& choice = {});
  Value mask_of(const LaneChoice& choice, int64_t count);
  Value offsets_of(const Buffer& buffer, int vector_dim, int64_t count, const LaneChoice& choice);
  llvm::SmallVector<Value> memref_indices(const Buffer& buffer, llvm::ArrayRef<Lanes> at);

  // nest.cpp: loops over lanes, and where ops go in them.
  void nest(llvm::ArrayRef<NestDim> dims, int vector_dim, int64_t lanes,
            llvm::function_ref<void(llvm::ArrayRef<Lanes>)> body);
  void vector_loop(NestDim dim, int64_t lanes, int64_t unroll, llvm::function_ref<void(Lanes)> body);
  Value loop(Value from, Value to, int64_t step, mlir::ValueRange carried,
             llvm::function_ref<llvm::SmallVector<Value>(Value, mlir::ValueRange)> body,
             llvm::SmallVectorImpl<Value>* results = nullptr);
  /// Runs `body` in a block of a branch. What it computes stays there: without the branch's condition, what it reads
  /// may not exist.
  void in_branch(mlir::Block* block, llvm::function_ref<void()> body);
  /// Runs `build` with the builder where `operands` are all available, as far out as possible.
  Value at_level_of(mlir::ValueRange operands, llvm::function_ref<Value()> build);
  void push_level(mlir::Block* block);
  void pop_level();
  void restore_innermost();
  NestDim dim_of(Value value, unsigned dim);
  llvm::SmallVector<NestDim> dims_to_walk(Value value);
  /// How many lanes of a value's dimensions exist: the bounds of what it is computed from, where they agree.
  llvm::SmallVector<Value> existing_lanes(Value value);
  /// A value may be used many times in what another one is made of, and each time that in turn: each is looked at once.
  using KnownLanes = llvm::DenseMap<Value, llvm::SmallVector<Value>>;
  llvm::SmallVector<Value> existing_lanes(Value value, KnownLanes& known);
  Value to_value(const Bound& bound);
  int choose_vector_dim(Value value, llvm::ArrayRef<bool> candidates, int preferred);
  void score(Value value, llvm::SmallVector<int> dims, llvm::SmallVectorImpl<int>& scores, int depth);
  int64_t native_lanes(mlir::Type element, int64_t extent);

  // evaluate.cpp: a value's lanes, from its operands' lanes.
  Value evaluate(Value value, llvm::ArrayRef<Lanes> at);
  Value compute(Value value, llvm::ArrayRef<Lanes> at);
  Value compute_pointwise(mlir::Operation* op, llvm::ArrayRef<Lanes> at);
  Value compute_load(LoadOp load, llvm::ArrayRef<Lanes> at);
  void prefetch(LoadOp load, llvm::ArrayRef<Lanes> at);
  Value compute_iota(IotaOp iota, llvm::ArrayRef<Lanes> at);
  Value compute_take(TakeOp take, llvm::ArrayRef<Lanes> at);
  /// The value of all lanes in `at`: a vector where `at` has one, else a scalar.
  Value evaluate_full(Value value, llvm::ArrayRef<Lanes> at);
  Value pointwise(mlir::Operation* op, llvm::ArrayRef<Value> operands);
  Value broadcast_to(Value value, int64_t lanes);
  Value convert(Value value, mlir::Type element);
  /// Builds an op of type T over scalars or vectors where its operands are available.
  template <typename Op, typename... Args> Value make(mlir::Location loc, mlir::ValueRange operands, Args&&... args) {
    return at_level_of(operands, [&]() -> Value { return b_.create<Op>(loc, std::forward<Args>(args)...); });
  }
  Value index(int64_t number);
  Value constant(mlir::TypedAttr attribute, mlir::Location loc);
  Value add(Value a, Value b);
  Value add(Value a, int64_t b);
  Value min(Value a, Value b);

  // lower_reduce.cpp
  void lower_reduce(ReduceOp reduce);
  /// Leaves the filling of a kept value's buffer to the reduction that follows it, if that can be: fuse_reductions.h.
  bool leave_to_reduction(Value kept);
  bool walks_same_lanes(ReduceOp reduce, Value kept);
  /// The lanes of a reduction's operand; those of the buffer that the reduction fills are stored on the way.
  Value reduced_lanes(ReduceOp reduce, llvm::ArrayRef<Lanes> at);
  Value combine(Reduction kind, Value a, Value b, mlir::Location loc);
  Value reduce_along_vector(ReduceOp reduce, llvm::ArrayRef<Lanes> outer, llvm::ArrayRef<NestDim> dims, int vector_dim,
                            int64_t lanes);
  Value reduce_across(ReduceOp reduce, llvm::ArrayRef<Lanes> outer, llvm::ArrayRef<NestDim> dims);

  // lower_dot.cpp
  struct DotShape;
  mlir::LogicalResult lower_dot(DotOp dot);
  DotShape shape_of(DotOp dot);
  void pack(DotOp dot);
  void pack_rows(DotOp dot, const DotShape& shape, const Buffer& panels);
  void pack_columns(DotOp dot, const DotShape& shape, const Buffer& panels);
  void microkernel(DotOp dot, const DotShape& shape, llvm::ArrayRef<Lanes> batch, Value panel, Value row_block,
                   bool from_zero);

  ProgramOp program_;
  const CpuTarget& target_;
  StoragePlan plan_;
  mlir::OpBuilder b_;
  mlir::func::FuncOp function_;
  mlir::IRMapping mapping_;                         // scalars and arrays of the program to those of the function
  llvm::DenseMap<Value, Buffer> buffers_;           // kept tensors; arrays
  llvm::DenseMap<Value, Buffer> destinations_;      // where values that are not computed yet shall be kept
  llvm::DenseMap<mlir::Operation*, Value> filled_;  // kept values, by the reduction that fills their buffers
  llvm::DenseMap<Value, Buffer> asides_;            // carried values copied out of the way of their successors
  llvm::DenseMap<mlir::Operation*, Buffer> panels_; // packed right operands, by their dot
  Value program_id_, workers_;
  llvm::DenseMap<unsigned, Value> sizes_; // of s0, s1, ..., those that are known at run time only

  /// The loops open around the builder, outermost first: ops go before `anchor`, or at the block's end.
  struct Level {
    mlir::Block* block;
    mlir::Operation* anchor;
  };
  std::vector<Level> levels_;
  /// What the open nest's loads fetch ahead of their use.
  enum class Prefetch { Nothing, NextTile, NextRows } prefetch_ = Prefetch::Nothing;
  size_t nest_level_ = 0;              // where the open nest or branch begins: its memory is not read further out
  mlir::Operation* current_ = nullptr; // the program's op that is being lowered
  std::map<std::vector<const void*>, Value> computed_; // lanes already evaluated in the open nest
  llvm::DenseMap<mlir::Attribute, Value> constants_;   // in the entry block
};

/// Elements between neighbours along `dim` of what the buffer holds; kDynamic where that is known at run time only.
int64_t stride_along(const Buffer& buffer, unsigned dim);

/// The element type that arithmetic on `element` is done in: floats of 16 and 8 bits are computed in float32.
mlir::Type compute_type(mlir::Type element);

} // namespace tilewright::cpu
