// Unrolls loops: the options `range_unroll_factors` and `static_ranges`.
//
// The sequential tile loops of a kernel are numbered in the order of the source before anything moves them; the number
// stays with the loop (with the innermost one where a loop of several dimensions became a nest) until it is unrolled
// here.
//
//   scf.for %i = %a to %b step 16      scf.for %i = %a to %c step 64 { body at %i, %i + 16, %i + 32, %i + 48 }
//     { body at %i }                -> scf.for %i = %c to %b step 16 { body at %i }
//
// The first loop walks what is a multiple of the new step, so that its tiles are all full, also where the last tile of
// the range is not; the second one, which goes where nothing is left for it, walks the rest. Where the range is too
// short to unroll, it stays as it is.
//
// A static loop is unrolled wholly: its body stands there once for each iteration, at a constant.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <vector>

namespace tilewright {

/// On a loop: its number among sequential_loops(kernel).
inline constexpr llvm::StringLiteral kLoopNumber = "tile.loop";

void number_loops(KernelOp kernel);

/// `factors` has one for each number; missing last ones mean 1. Those in `statics` are unrolled wholly instead; their
/// bounds are constants. Takes the numbers off. Says whether it unrolled any.
mlir::FailureOr<bool> unroll_loops(ProgramOp program, llvm::ArrayRef<int64_t> factors,
                                   const std::vector<bool>& statics = {});

} // namespace tilewright
