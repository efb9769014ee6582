// The block sizes that a kernel runs with before it is tuned: right for every kernel, and fast enough to start from.
//
// - The dimensions of a dot: multiples of the register tile, about a hundred rows and columns, and a longer sum.
// - What walks neighbouring elements: about a thousand of them. Other dimensions: a few.
// - Never more than the extent. Then smaller, until what a program reads and writes fits half of a cache (the second
//   level where there is a dot, for it is used again and again, else the first), and until every worker has a few
//   programs.
#pragma once

#include "config/backend_limits.h"
#include "config/block_roles.h"

namespace tilewright {

/// What whole dimensions are rolled in whose length is known at run time only.
inline constexpr int64_t kRolledBlock = 1024;

llvm::SmallVector<int64_t> default_blocks(KernelOp pinned, llvm::ArrayRef<BlockRole> roles,
                                          const BackendLimits& limits);

} // namespace tilewright
