// What the blocks of a kernel are used for: what a config spec and default block sizes are derived from.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <optional>

namespace tilewright {

/// One block id.
struct BlockRole {
  /// The length that is walked in such blocks. Where the loop's bounds are not constants, that of the longest array
  /// dimension that it is a subscript of; nothing where there is none either.
  std::optional<int64_t> extent = std::nullopt;
  bool parallel = false;    // a dimension of the outermost loop
  bool unit_stride = false; // walks some array along neighbouring elements
  bool dot_row = false, dot_column = false, dot_sum = false, dot_batch = false;
  std::optional<uint32_t> inside = std::nullopt; // the block whose tiles this one walks
  mlir::Location location;                       // of the first loop that walks it
  bool in_dot() const { return dot_row || dot_column || dot_sum || dot_batch; }
};

/// One for each block id.
llvm::SmallVector<BlockRole> block_roles(KernelOp pinned);

} // namespace tilewright
