// Cleaning up between passes: folding, common subexpressions, loop invariants. Nothing here depends on a config.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright {

/// A kernel in tile IR after pinning: canonical, without duplicates. Once per specialisation.
mlir::LogicalResult simplify_kernel(KernelOp kernel);

/// A program, once per config:
///  - folds, drops what is dead and loops that run once or never, merges common subexpressions;
///  - moves what does not change in a loop out of it, but leaves ops that only repeat or rearrange (splat, broadcast,
///    iota, ...) beside their users, so that no backend has to keep a large value for them;
///  - writes constant tensors as tile.splat, and an access to the block at 0 that is the whole dimension as `:`.
mlir::LogicalResult simplify_program(ProgramOp program);

} // namespace tilewright
