// Walks loops of several dimensions as one: the option `flatten_loops`.
//
//   tile.for (%m: b0, %n: b1) = (0, 0) to (1000, 3) {              tile.for (%t: b2) = (0) to (3000) {
//     tile.load %x[%m, %n] : array<[1000, 3]> -> tensor<[b0, b1]>    tile.load %x[%t] : array<[3000]> -> tensor<[b2]>
//
// The new block has as many elements as the old ones had together; it is a new block id. The kernel's arrays are seen
// with the merged dimension from there on, also by the program that is made of it: the memory is the same. See
// ir/flattening.h for which loops can be walked so. Runs before whatever makes loops of its own.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <vector>

namespace tilewright {

/// `flatten` has a value for each of permutable_loops(kernel); missing last ones mean false. The sizes of new block ids
/// are appended to `block_sizes`, which must have those of the kernel. Reports an error for a loop that has to stay.
mlir::LogicalResult flatten_loops(KernelOp kernel, const std::vector<bool>& flatten,
                                  llvm::SmallVectorImpl<int64_t>& block_sizes);

} // namespace tilewright
