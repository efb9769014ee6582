// Where the lanes of a block end: `valid` of program IR, which counts lanes from the block's first one, as an index.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <optional>

namespace tilewright::triton {

/// begin <= index < end. `begin` is null for 0, and `end` for `constant_end`.
struct LaneLimit {
  mlir::Value begin;
  mlir::Value end;
  int64_t constant_end = 0;
};

/// The limits that a number of lanes stands for, of `lanes` there are: lane i exists where begin + i < end, for each of
/// them. From `min(end - begin, lanes)`, and the least of several such; another number is its own limit, from 0.
llvm::SmallVector<LaneLimit, 1> limits_of(mlir::Value valid, int64_t lanes);

/// The end of a block's lanes as an index of the array, where it is a constant and counts from the block's own begin.
std::optional<int64_t> limit_of_block(const SubscriptUse& use, int64_t lanes);

} // namespace tilewright::triton
