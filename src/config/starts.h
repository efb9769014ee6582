// Configs to begin with on a GPU, recognised from what the kernel does: never from its name.
//
// | kernel | recognised by | configs |
// | --- | --- | --- |
// | attention-like | two dots in one loop | 64 or 128 rows, blocks of 32 to 128 in the loop |
// | matmul-like | any other dot | tiles from 64x64 to 128x256, three or four stages, persistent programs where there
// are more tiles than multiprocessors, rows of tiles in groups of 8 | | row-like | a whole dimension, or a reduction |
// few rows a program, 4 to 128 elements of them a thread; long rows rolled | | pointwise | the rest | some thousand
// elements a program |
//
// Shapes and warps are those that did best among many on an H200 (docs/performance.md).
#pragma once

#include "config/backend_limits.h"
#include "config/block_roles.h"
#include "config/config_spec.h"

namespace tilewright {

/// Fills in spec.starts, each within the spec's limits, and makes the first of them the default. `spec` has all else.
void add_starts(KernelOp pinned, llvm::ArrayRef<BlockRole> roles, const BackendLimits& limits, ConfigSpec& spec);

} // namespace tilewright
