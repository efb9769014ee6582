// Tile IR becomes program IR: the option `block_sizes`.
//
// Every symbol becomes a number, encodings go, tiles become a begin and a number of lanes that exist:
//
//   tile.for (%m: b0, %n: b1) = ... parallel     %id = tile.program_id
//                                                %i, %j = tile.map_program %id into [16, 16]
//                                                %m0 = %i * 64, %m_valid = min(64, 1000 - %m0), ...
//   tile.for (%k: b2) = ... carry(...)           scf.for %k0 = ... step 32 iter_args(...) { %k_valid = ... }
//   tile.load %x[%m, %k]                         tile.load %x[%m0 : 64, %k0 : 32] valid [%m_valid, %k_valid]
//
// - The outermost loop becomes as many programs as it has tiles, mapped flat and ungrouped (map_programs changes that).
// - A sequential loop of several dimensions becomes nested loops, the last one innermost.
// - The number of lanes of a tile is one value, defined at the top of its loop's body, and the same value wherever the
//   tile is used. It is there whether or not the tile can end early; prove_bounds takes away what is not needed.
// - Reductions get the bounds of the dimensions they run over, a dot that of the dimension it sums over: of all tiles
//   that limit the operand (ir/validity.h), the least.
// - Values without elements (a dimension of length 0) do not appear: reductions over them are neutral elements.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>

namespace tilewright {

/// Makes the program where `builder` stands. `block_sizes` has one size for each block id; one more is no harm, since
/// an id may have lost its last loop. The kernel is pinned, and its lane counts are arithmetic (count_lanes.h). Errors
/// are reported on the user's lines.
mlir::FailureOr<ProgramOp> lower_tiles(KernelOp pinned, llvm::ArrayRef<int64_t> block_sizes, mlir::OpBuilder& builder);

} // namespace tilewright
