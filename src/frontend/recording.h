// A kernel while its lambda runs: what the DSL's handles stand for, which loops are open, and what they carry.
//
// Each tw::Value is a variable with its own number. Inside a sequential loop a variable from outside is first seen as a
// placeholder, a block argument; when the loop ends, a variable that was assigned to becomes a carried value of the
// loop, and the placeholders of the others are replaced by what they stand for.
#pragma once

#include "frontend/builder.h"
#include "frontend/traced_kernel.h"
#include "tilewright/ops.h"

#include "llvm/ADT/MapVector.h"

#include <memory>
#include <vector>

namespace tilewright::detail {

class Recording {
public:
  Recording(const KernelDefinition& definition, std::span<const Argument> arguments, mlir::MLIRContext* context);
  ~Recording();

  /// The one that this thread is in; null outside of any.
  static Recording* current();
  /// Throws Error where there is none; `what` is what the user called.
  static Recording& require(const SourceLocation& where, const char* what);

  const KernelDefinition& definition() const { return definition_; }

  /// The builder at the user's line, for device work inside a tile loop, or for host work before it. Throws Error where
  /// that is not where we are.
  Builder& device(const SourceLocation& where, const char* what);
  Builder& host(const SourceLocation& where, const char* what);
  /// For what is legal everywhere.
  Builder& at(const SourceLocation& where);

  //
  // Handles. All throw Error for handles of other recordings and of loops that have ended.
  //

  Handle new_variable(mlir::Value value);
  mlir::Value read(const Handle& variable);
  /// Gives the variable a new value, and itself a home in the current loop where it had none.
  void assign(Handle& variable, mlir::Value value);
  Term term(const Operand& operand);

  Size size(const Dim& dim);
  Dim dim(const Size& size);

  struct TensorEntry {
    mlir::Value array;
    DType dtype;
    llvm::SmallVector<Dim, 4> dims;
  };
  const TensorEntry& tensor(const Handle& handle);
  Handle new_tensor(mlir::Value array, DType dtype);

  mlir::Value tile(const Handle& handle);
  /// The loop's block is known to hold the one index there is.
  bool at_most_one(mlir::Value tile);

  //
  // Loads and stores
  //

  llvm::SmallVector<SubscriptTerm> subscripts(std::span<const TensorIndex> list);
  uint32_t new_place(Place place);
  const Place& place(uint32_t number) const { return places_[number].place; }
  const SourceLocation& place_location(uint32_t number) const { return places_[number].where; }
  void check_place(uint32_t number);

  /// The dimensions of a new value, and the tiles that limit them.
  struct ShapeParts {
    llvm::SmallVector<Dim> dims;
    llvm::SmallVector<mlir::Value> tiles;
  };
  ShapeParts shape(const Shape& shape);
  ShapeParts shape_like(mlir::Value value);

  //
  // Loops
  //

  struct LoopStart {
    const Operand* begin; // null: from 0
    const Operand* end;
    const BlockSizes* blocks;
    int rank;
    bool grid;
    SourceLocation where;
  };
  /// Opens a loop and returns the handle of its first variable; the others follow it.
  Handle open_loop(const LoopStart& start);
  void close_loop();
  /// Notes that the innermost loops, down to and with the one at `depth`, were left before their bodies' ends.
  void leave_loop(uint32_t depth);
  uint32_t depth() const { return loops_.size(); }

  //
  // Parameters and results
  //

  Handle parameter(size_t index) const { return parameters_[index]; }
  void set_results(std::span<const Tensor> results);
  TracedKernel finish();

private:
  struct Variable {
    mlir::Value value;
    uint32_t depth; // of the loop it lives in; 0: the host part
    uint32_t loop;  // that loop's number
  };
  struct Tracked { // a variable from outside, seen in a loop
    mlir::Value outer, placeholder, current;
    bool assigned = false;
  };
  struct OpenLoop {
    std::unique_ptr<mlir::Block> block;
    uint32_t number;
    SourceLocation where;
    bool parallel;
    llvm::SmallVector<mlir::Value> lower, upper;
    llvm::SmallVector<DimAttr> blocks;
    llvm::MapVector<uint32_t, Tracked> tracked; // by variable
    llvm::SmallVector<uint32_t> assigned;       // variables in order of their first assignment
  };
  struct TileEntry {
    mlir::Value tile;
    uint32_t depth, loop;
  };
  struct TileRangeFacts {
    int64_t least_begin;
    std::optional<int64_t> greatest_end;
  };
  struct PlaceEntry {
    Place place;
    uint32_t depth = 0, loop = 0;
    SourceLocation where = {};
  };

  bool is_open(uint32_t depth, uint32_t loop) const {
    return depth == 0 || (depth <= loops_.size() && loops_[depth - 1].number == loop);
  }
  uint32_t innermost() const { return loops_.empty() ? 0 : loops_.back().number; }
  void check_mine(const Handle& handle, const char* what) const;
  mlir::Value value_in(uint32_t variable, uint32_t depth);
  void assign_in(uint32_t variable, uint32_t depth, mlir::Value value);
  /// What is known of an index while recording.
  std::optional<int64_t> greatest(mlir::Value index);
  std::optional<int64_t> least(mlir::Value index);
  mlir::Value without_placeholders(mlir::Value value);
  void check_carried(const OpenLoop& loop, const Tracked& tracked);

  const KernelDefinition& definition_;
  uint32_t id_;
  Builder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  KernelOp kernel_;
  std::vector<Handle> parameters_;
  llvm::SmallVector<size_t> numbers_; // of the kernel's arguments among those of the call
  std::vector<Dim> sizes_;
  std::vector<Variable> variables_;
  std::vector<TensorEntry> tensors_;
  std::vector<TileEntry> tiles_;
  llvm::DenseMap<mlir::Value, TileRangeFacts> tile_facts_;
  std::vector<PlaceEntry> places_;
  std::vector<OpenLoop> loops_;
  uint32_t loops_opened_ = 0;
  bool had_outermost_ = false;
  std::optional<SourceLocation> left_early_; // the loop
  std::optional<llvm::SmallVector<mlir::Value>> results_;
};

} // namespace tilewright::detail
