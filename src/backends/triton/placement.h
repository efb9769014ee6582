// Which values stand where they are used, and which get a line and a name.
#pragma once

#include "ir/tile_dialect.h"

#include "llvm/ADT/DenseMap.h"

namespace tilewright::triton {

class Placement {
public:
  explicit Placement(ProgramOp program);

  /// Whether the op's value is written into the expressions that use it: constants, what only repeats or rearranges,
  /// index arithmetic, and what one op of the same block uses.
  bool is_inlined(mlir::Operation* op) const;
  /// The uses of a value by ops that are not inlined, and by the values of those that are. A use by an op that only
  /// repeats the value counts as often as that one's value is used.
  unsigned uses(mlir::Value value) const;
  /// The last op of `block` at which the value's expression is read; null: never.
  mlir::Operation* last_reader(mlir::Value value, mlir::Block* block) const;

private:
  bool decide(mlir::Operation* op) const;
  mutable llvm::DenseMap<mlir::Operation*, bool> inlined_;
};

/// Ops without work of their own: their expressions are as short as their operand's.
bool only_repeats(mlir::Operation* op);

} // namespace tilewright::triton
