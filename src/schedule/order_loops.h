// Permutes the dimensions of tile loops: the option `loop_orders`.
//
//   tile.for (%m: b0, %n: b1) = (%a, %b) to (%c, %d)   with [1, 0]:   tile.for (%n: b1, %m: b0) = (%b, %a) to (%d, %c)
//
// One order for each of permutable_loops(kernel), missing last ones meaning the order in the source. An order lists the
// dimensions of the source from the outermost on; the last one runs fastest.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <vector>

namespace tilewright {

/// Reports an error where there are more orders than loops, or one is no permutation of its loop's dimensions.
mlir::LogicalResult order_loops(KernelOp kernel, llvm::ArrayRef<std::vector<int64_t>> orders);

} // namespace tilewright
