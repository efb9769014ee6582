// Writes on each loop how it is to be run, for backends that leave that to the compiler behind them: the options
// `range_num_stages`, `range_multi_buffers`, `range_flattens`, `range_warp_specializes`, and, instead of unroll_loops,
// `range_unroll_factors` and `static_ranges`.
//
//   scf.for %k = ...  ->  scf.for %k = ... {tile.num_stages = 3 : i64}
//
// Flattening joins a loop with the one around it, which is written on the outer one; a loop in no other one is left
// alone. Runs on program IR after programs are mapped, so that the loop over the tiles of a persistent program is such
// an outer one; a loop is found by the number that number_loops gave it (unroll_loops.h), which goes.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tilewright {

inline constexpr llvm::StringLiteral kLoopStages = "tile.num_stages";       // software pipelining, in so many stages
inline constexpr llvm::StringLiteral kLoopUnroll = "tile.unroll";           // its body so many times
inline constexpr llvm::StringLiteral kLoopStatic = "tile.static";           // its body once for each iteration
inline constexpr llvm::StringLiteral kLoopFlatten = "tile.flatten";         // as one with the loops in it
inline constexpr llvm::StringLiteral kLoopSingleBuffer = "tile.one_buffer"; // of a dot's accumulator
inline constexpr llvm::StringLiteral kLoopWarpSpecialize = "tile.warp_specialize";

/// One entry for each loop's number; missing last ones mean that nothing is said.
struct LoopAnnotations {
  std::vector<int64_t> stages, unroll_factors; // 0 and 1: nothing
  std::vector<bool> statics, flattens, single_buffers, warp_specializes;
};

void annotate_loops(ProgramOp program, const LoopAnnotations& annotations);

} // namespace tilewright
