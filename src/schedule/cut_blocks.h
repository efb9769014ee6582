// Cuts blocks to what they walk: a block of 64 over a range of 20 becomes one of 20, a full tile instead of a partial
// one. A tile that walks in another one is cut to that one's block. Where some range of a block is not known, or is
// data, and where the kernel sees how large the block is, the block stays. Where a backend pads extents to powers of
// two, blocks are cut to the next of those. A block of a dot's dimension is never cut below the least that the backend
// multiplies.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>

namespace tilewright {

/// The sizes that blocks have in the program; those of a config, one for each block id, are cut.
llvm::SmallVector<int64_t> cut_blocks(KernelOp pinned, llvm::ArrayRef<int64_t> block_sizes, bool pads_extents,
                                      int64_t min_dot_block = 1);

} // namespace tilewright
