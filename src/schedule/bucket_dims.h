// Whole dimensions whose length is known at run time only and that cannot be rolled become slices of a bucket, the next
// power of two:
//
//   tile.load %x[%t, :]      ->      %n = tile.extent <s1>
//                                    %r = tile.slice %zero to %n : !tile.tile<r0>      (r0 is now 1024)
//                                    tile.load %x[%t, %r]
//
// From there on such a dimension is like a tile that ends early. What needs more of it than that (a dimension made of
// it, a reshape) is refused on the user's line. Dimensions that can be rolled (ir/rolling.h) are left for
// roll_reductions, which rolls all of unknown length.
#pragma once

#include "ir/guard.h"
#include "ir/tile_dialect.h"

#include <cstdint>
#include <vector>

namespace tilewright {

/// `sizes` are s0, s1, ... of the call that decides the buckets; what the record then takes for granted is appended to
/// `guards`. The kernel is pinned.
mlir::LogicalResult bucket_dims(KernelOp pinned, llvm::ArrayRef<int64_t> sizes, std::vector<Guard>& guards);

} // namespace tilewright
