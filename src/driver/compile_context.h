// Prepared kernels as text, and the MLIR contexts in which threads read them back.
//
// A specialisation outlives any context: it holds its kernel as text, with locations. Whoever compiles it parses it
// into a context of its thread, which is replaced now and then, because a context never frees the types it has made.
#pragma once

#include "ir/tile_dialect.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace tilewright {

/// The kernel's text with the locations that its errors and comments need.
std::string serialise_kernel(KernelOp kernel);

/// Reads such a text and calls `use` with the kernel, which lives until `use` returns. May be called from many threads,
/// and from inside `use` too.
void with_kernel(const std::string& text, llvm::function_ref<void(KernelOp)> use);

} // namespace tilewright
