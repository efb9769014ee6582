// Unrolls loops: the option `range_unroll_factors`.
//
// The sequential tile loops of a kernel are numbered in the order of the source before anything moves them; the number
// stays with the loop (with the innermost one where a loop of several dimensions became a nest) until it is unrolled
// here. A loop whose trip count the factor does not divide is followed by a loop over what is left.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>

namespace tilewright {

/// On a loop: its number among sequential_loops(kernel).
inline constexpr llvm::StringLiteral kLoopNumber = "tile.loop";

void number_loops(KernelOp kernel);

/// `factors` has one for each number; missing last ones mean 1. Takes the numbers off.
mlir::LogicalResult unroll_loops(ProgramOp program, llvm::ArrayRef<int64_t> factors);

} // namespace tilewright
