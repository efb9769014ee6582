// Which member of the runtime's table of scalar functions stands for an op of the loops stage.
#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <optional>

namespace tilewright::cpu {

// The offset in bytes, within RuntimeTable (runtime/kernel_abi.h), of the pointer to the function that computes `op`
// (math.sinh, arith.remf, tile.composite erfc) on scalars of type `element` (f32 or f64). None where the table has no
// such function.
std::optional<int64_t> runtime_function_offset(mlir::Operation& op, mlir::Type element);

} // namespace tilewright::cpu
