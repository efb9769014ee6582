// Which values of a program are kept in scratch, and which are computed where they are used.
//
// Some values must be kept: results of reductions and dots, left operands of dots, what a loop carries. A pointwise
// value is kept
//   - where it is expensive (an elementary function, a division) and would be computed more than once: by two
//   consumers,
//     inside a loop that it does not depend on, or for each lane of a dimension it is broadcast along;
//   - where it reads memory that is overwritten before its last use;
//   - where its load, or the store of it, is to go through a packed copy (tensor_descriptor).
#pragma once

#include "ir/tile_dialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tilewright::cpu {

class StoragePlan {
public:
  explicit StoragePlan(ProgramOp program);

  /// True for a pointwise value that gets a scratch buffer, filled where the value is defined.
  bool is_kept(mlir::Value value) const { return kept_.contains(value); }
  /// True where a dot uses the value as accumulator, result or left operand: its buffer is padded to register tiles.
  bool is_dot_operand(mlir::Value value) const { return dot_operands_.contains(value); }
  /// The right operands of dots that are packed where this value is defined, as uses of the dots.
  llvm::ArrayRef<DotOp> packed_here(mlir::Value value) const;
  /// True where `loop`'s carried value `index` may be updated in place by the value the loop yields for it.
  bool is_updated_in_place(mlir::scf::ForOp loop, unsigned index) const {
    return in_place_.contains({loop.getOperation(), index});
  }

  /// True where `user` computes from `value` inside its own loops, and each of its lanes from the same lane.
  bool is_computed_lane_by_lane(mlir::Value value, mlir::Operation* user) const;

  /// What is read through transposes: the value whose buffer a dot addresses, and whether it lies transposed there.
  struct DotOperand {
    mlir::Value source;
    bool transposed; // the last two dimensions are exchanged
  };
  static DotOperand look_through_transpose(mlir::Value operand);

private:
  /// A place where a value is computed as part of a consumer.
  struct Site {
    mlir::Operation* op;
    bool repeated; // more often than the value has lanes: it is broadcast on the way
    bool aligned;  // each lane is used for the same lane of the consumer, a reduction's operand included
    bool operator==(const Site&) const = default;
  };
  using Sites = llvm::SmallVector<Site, 4>;

  void number(ProgramOp program);
  void decide(mlir::Value value);
  void plan_loop(mlir::scf::ForOp loop);
  Sites collect_sites(mlir::Value value) const;
  bool is_overwritten_before_use(LoadOp load, llvm::ArrayRef<Site> sites) const;
  bool must_keep(mlir::Value value, llvm::ArrayRef<Site> sites) const;
  unsigned last_number(mlir::Operation* site, mlir::Operation* definition) const;

  llvm::DenseSet<mlir::Value> kept_, dot_operands_;
  llvm::DenseMap<mlir::Value, Sites> sites_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<DotOp, 1>> packed_;
  llvm::DenseSet<std::pair<mlir::Operation*, unsigned>> in_place_;
  llvm::DenseMap<mlir::Operation*, unsigned> numbers_; // in program order, operations before those inside them
  llvm::SmallVector<mlir::Operation*> writes_;         // stores and atomic accesses
};

/// True where the value is computed by an elementary function, a division or the like, or by pointwise ops over one.
bool computes_costly(mlir::Value value, const llvm::DenseSet<mlir::Value>& kept = {}, int depth = 0);

/// True for ops that are computed lane by lane: arith, math, and the dialect's own pointwise, shape and load ops.
bool is_inlinable(mlir::Operation* op);

} // namespace tilewright::cpu
