// What lower_tiles.cpp and lower_tile_values.cpp share: the state of lowering one kernel. Private to lower_tiles.
#pragma once

#include "ir/validity.h"

#include "mlir/IR/IRMapping.h"

namespace tilewright {

/// A tile as program IR knows it.
struct LoweredTile {
  mlir::Value begin;
  mlir::Value valid;  // lanes that exist, at most `block`
  mlir::Value number; // its number from the loop's lower bound on; null where it must be computed from `begin`
  int64_t block = 0;
  mlir::Value lower, upper; // of its loop
};

class TileLowering {
public:
  TileLowering(KernelOp kernel, llvm::ArrayRef<int64_t> block_sizes, const Validity& validity, mlir::OpBuilder& builder)
      : kernel_(kernel), block_sizes_(block_sizes), wholes_(kernel.whole_dims()), validity_(validity),
        builder_(builder) {}

  mlir::FailureOr<ProgramOp> run();

private:
  // lower_tiles.cpp: the program, loops and branches.
  ProgramOp make_program();
  mlir::LogicalResult lower_host();
  mlir::LogicalResult lower_parallel(ProgramOp program);
  mlir::LogicalResult lower_parallel(ForOp loop, mlir::Value id);
  mlir::LogicalResult lower_parallel(ForOp loop, mlir::ValueRange coordinates,
                                     llvm::ArrayRef<mlir::OpFoldResult> counts);
  mlir::LogicalResult lower_data_bounds(ProgramOp program, ForOp loop);
  mlir::ValueRange map_program(ForOp loop, mlir::Value id, llvm::ArrayRef<mlir::OpFoldResult> counts);
  mlir::OpFoldResult tile_count(ForOp loop, unsigned dim);
  mlir::OpFoldResult program_count(ForOp loop);
  TilesAttr tiles_of(ForOp loop);
  void set_program_counts(ProgramOp program);
  mlir::OpFoldResult multiply(mlir::Location loc, mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult add(mlir::Location loc, mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::Value as_value(mlir::Location loc, mlir::OpFoldResult number);
  mlir::LogicalResult lower_sequential(ForOp loop);
  mlir::LogicalResult lower_if(mlir::scf::IfOp branch);
  mlir::LogicalResult lower_while(mlir::scf::WhileOp loop);
  mlir::LogicalResult lower_region(mlir::Block& from, mlir::Block& to);
  mlir::LogicalResult lower_body(mlir::Block& block);
  LoweredTile tile_of(ForOp loop, unsigned dim);
  void define_variable(mlir::Location loc, mlir::Value variable, LoweredTile tile);
  void map_present(mlir::ValueRange values, mlir::ValueRange lowered);
  llvm::SmallVector<mlir::Value> present(mlir::ValueRange values);
  llvm::SmallVector<mlir::Type> present_types(mlir::ValueRange values);
  mlir::LogicalResult lower(mlir::Operation* op);
  bool gives_only_empty_values(mlir::Operation* op) const;

  // lower_tile_values.cpp: numbers, accesses and values.
  mlir::Value constant(mlir::Location loc, int64_t value);
  Dim known(const Dim& dim) const;
  int64_t size_of(const Dim& dim) const;
  mlir::Value lower_extent(ExtentOp extent);
  mlir::Type lowered_type(mlir::Type type) const;
  mlir::Value end_of(mlir::Location loc, const LoweredTile& tile);
  mlir::Value id_of(mlir::Location loc, const LoweredTile& tile);
  mlir::Value count_of(mlir::Location loc, const LoweredTile& tile);
  void lower_shift(ShiftOp shift);
  void lower_slice(SliceOp slice);
  mlir::Value valid_lanes(mlir::Location loc, llvm::ArrayRef<mlir::Value> tiles, int64_t size);
  llvm::SmallVector<mlir::Value, 1> tiles_of(mlir::Operation* user, mlir::Value value, unsigned dim);

  struct LoweredSubscripts {
    llvm::SmallVector<mlir::Value> operands, valid;
    llvm::SmallVector<int32_t> kinds, valid_dims;
    mlir::Value mask;
  };
  LoweredSubscripts lower_subscripts(AccessOp access, mlir::Type block, mlir::ValueRange written);
  mlir::LogicalResult lower_access(AccessOp access);
  mlir::Value splat(mlir::Location loc, mlir::Value scalar, mlir::Type type);
  mlir::Value lower_reduce(ReduceOp reduce);
  mlir::Value lower_dot(DotOp dot);
  mlir::Value valid_along(mlir::Operation* op, mlir::ValueRange sources, int64_t dim);
  void lower_combine(CombineOp op);
  void lower_scan(ScanOp op);
  void lower_print(PrintOp op);
  mlir::Value exists(mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<llvm::SmallVector<mlir::Value, 1>> tiles);
  mlir::Value completed(mlir::OpOperand& operand);
  mlir::LogicalResult lower_same(mlir::Operation* op);

  KernelOp kernel_;
  llvm::ArrayRef<int64_t> block_sizes_;
  llvm::SmallVector<Dim> wholes_;
  const Validity& validity_;
  mlir::OpBuilder& builder_;
  mlir::IRMapping mapping_;
  llvm::DenseMap<mlir::Value, LoweredTile> tiles_;
};

/// Whether a value of program IR has no elements.
bool is_empty(mlir::Type type);

} // namespace tilewright
