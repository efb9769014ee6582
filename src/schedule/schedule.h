// From a kernel and a config to a program: the list of everything that happens in between.
#pragma once

#include "config/backend_limits.h"
#include "ir/tile_dialect.h"
#include "tilewright/config.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright {

/// A module with one tile.program, in the context of the kernel, which is left as it is. `pinned` has gone through
/// pin_sizes and simplify_kernel; `config` is complete (config/normalise.h). Throws Error, on the user's line, where
/// the kernel or the config asks for what there is not.
mlir::OwningOpRef<mlir::ModuleOp> schedule(KernelOp pinned, const Config& config, const BackendLimits& limits);

/// The program of such a module.
ProgramOp program_of(mlir::ModuleOp module);

} // namespace tilewright
