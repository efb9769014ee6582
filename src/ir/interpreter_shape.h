// Ops of the interpreter that move lanes without computing: constants, splats, and changes of shape.
#pragma once

#include "ir/interpreter_value.h"

namespace tilewright {

/// The value of arith.constant, tile.splat, tile.broadcast, tile.expand_dims, tile.transpose, tile.reshape or
/// tile.take, or of a pointwise op;
/// the two levels of IR have these in common. `shape` is that of the result. Throws for any other op.
BlockValue evaluate_lanewise(mlir::Operation* op, const Environment& environment, llvm::ArrayRef<int64_t> shape);

/// first, first + 1, ... along the one dimension of a tensor of integers.
BlockValue iota(mlir::Type element, int64_t first, int64_t count);

/// The lanes beyond `counts[d]` along some dimension d become missing.
void clip(BlockValue& value, llvm::ArrayRef<int64_t> counts);

} // namespace tilewright
