// tile.reduce and tile.dot in the interpreter.
//
// Both take part in lanes: those within the bound along each dimension. A lane of the result whose own operand lanes
// are all missing is missing itself, as rows past a tile's end are; where some are missing and others exist, the bound
// is wrong, and that is an Error. `with_bounds`: lanes carry error bounds (interpreter_bounds.h).
#pragma once

#include "ir/interpreter_value.h"

namespace tilewright {

/// `bounds`: for each dimension of the source, how many of its lanes exist.
BlockValue reduce(ReduceOp op, const BlockValue& source, llvm::ArrayRef<int64_t> bounds, bool with_bounds = false);

/// `bound`: how many lanes of k exist.
BlockValue dot(DotOp op, const BlockValue& a, const BlockValue& b, const BlockValue& acc, int64_t bound,
               bool with_bounds = false);

} // namespace tilewright
