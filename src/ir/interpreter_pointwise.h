// Pointwise ops in the interpreter: arith, math and tile.composite, lane by lane.
#pragma once

#include "ir/interpreter_value.h"

#include <functional>
#include <string>
#include <unordered_map>

namespace tilewright {

/// What an op makes of one lane of each of its operands, all of which exist. The types are the element types of the
/// first operand and of the result.
using LaneFunction = std::function<Lane(llvm::ArrayRef<Lane> operands, mlir::Type from, mlir::Type to)>;
using LaneFunctions = std::unordered_map<std::string, LaneFunction>;

/// Ops that their name says everything of: `arith.addf`, `math.exp`.
const LaneFunctions& arith_functions();
const LaneFunctions& math_functions();

/// Ops of arith with a predicate or a rounding mode, and tile.composite; none where the op is no such op.
LaneFunction comparison_or_cast(mlir::Operation* op);
LaneFunction composite_function(Composite function);

/// The value of a pointwise op, `shape` being its result's. A lane is missing where it is in one of the operands, and
/// undefined where it is so. arith.select looks at its condition and at the operand it takes, not at the other.
/// Throws for an op that is not known.
BlockValue evaluate_pointwise(mlir::Operation* op, llvm::ArrayRef<const BlockValue*> operands,
                              llvm::ArrayRef<int64_t> shape, bool with_bounds);

} // namespace tilewright
