// Rolls reductions over whole dimensions into loops: the option `reduction_loops`.
//
// Softmax of a row, rolled in blocks of b1, becomes three loops: one for the maximum, one for the sum of exponentials,
// one to store.
//
//   %v = tile.load %x[%t, :]                     %max = tile.for (%u: b1) = (0) to (length) carry(%m = -inf) {
//   %max = tile.reduce max %v dims [1]             %v = tile.load %x[%t, %u]
//   ...                                    ->      %part = tile.reduce max %v dims [1]
//                                                  %next = arith.maximumf %m, %part
//                                                  tile.yield %next
//                                                }
//                                                ...
//
// What is carried: one partial result for each reduction, of the reduction's own type, combined with that of each
// block, and starting from the neutral element. What is computed again, in each loop that needs it: every value that
// has the dimension, from its loads on. Reductions that do not depend on each other share a loop. See ir/rolling.h for
// which dimensions can be rolled and what becomes of memory effects.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <optional>

namespace tilewright {

/// `sizes`: for each of rollable_dims(kernel) the block to roll it in, or nothing to keep it whole; missing last ones
/// mean nothing. A block as long as the dimension keeps it whole; one whose length is known at run time only is always
/// rolled. Each dimension that is rolled gets a new block id,
/// whose size is appended to `block_sizes`, which must have those of the kernel.
mlir::LogicalResult roll_reductions(KernelOp kernel, llvm::ArrayRef<std::optional<int64_t>> sizes,
                                    llvm::SmallVectorImpl<int64_t>& block_sizes);

} // namespace tilewright
