// Replaces tile.lane_count, what a mean divides by, by arithmetic: the product of the lengths of whole dimensions and
// of `end - begin` of tiles. Runs before reductions are rolled, where a whole dimension's length is still to be seen.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright {

mlir::LogicalResult count_lanes(KernelOp kernel);

} // namespace tilewright
