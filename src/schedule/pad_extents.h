// Rounds every dimension of every value up to a power of two, for backends whose tiles must be such (Triton).
//
//   %v = tile.load %x[%i : 1, :]                     %v = tile.load %x[%i : 1, %c0 : 1024] valid [_, %c1000]
//     : ... -> tensor<1x1000xf32>              ->      : ... -> tensor<1x1024xf32>
//   %m = tile.reduce max %v dims [1]                 %m = tile.reduce max %v dims [1] ... valid [_, %c1000]
//
// - Loads, stores, atomic accesses, reductions, combiners, scans, dots and prints get the old size as the bound of a
//   dimension that had none.
// - The other lanes are computed like any that do not exist, and seen by nothing.
// - A reshape that merges or splits a dimension which is padded would move lanes that exist: an error, on the user's
//   line.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright {

mlir::LogicalResult pad_extents(ProgramOp program);

} // namespace tilewright
