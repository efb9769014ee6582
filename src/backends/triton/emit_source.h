// From a program to Triton's Python: one file with the kernels, their combiners and a launcher, which needs PyTorch and
// Triton and nothing of Tilewright.
//
//   tile.program @add(%x, %y, %out)       @triton.jit
//     %id = tile.program_id               def add_kernel(x_ptr, y_ptr, out_ptr):
//     %b = arith.muli %id, 1024               offs = tl.program_id(0) * 1024 + tl.arange(0, 1024)
//     %1 = tile.load %x[%b : 1024]   ->       x = tl.load(x_ptr + offs)
//     %2 = tile.load %y[%b : 1024]            y = tl.load(y_ptr + offs)
//     %3 = arith.addf %1, %2                  tl.store(out_ptr + offs, x + y)
//     tile.store %3, %out[%b : 1024]
//
// What the text is like:
// - Dimensions of one element do not appear. Values that repeat along a dimension are broadcast by the op that uses
//   them, as in NumPy, and stand there in full only where an op asks for it.
// - A value that is used once stands where it is used; others get a name: an array's, or the one that the user's line
//   gives its result, or that of the op.
// - A lane is masked where the program gives a bound. What a masked load puts there is chosen so that the reductions
//   behind it need no further mask (missing_lanes.h).
// - Offsets have 32 bits where the array is small enough.
// - Programs of several phases become a kernel for each, launched one after the other.
//
// The sizes of all tiles are powers of two (schedule/pad_extents.h).
#pragma once

#include "ir/tile_dialect.h"
#include "schedule/host_plan.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilewright::triton {

/// What a config says that is no part of the program.
struct LaunchOptions {
  std::optional<int64_t> num_warps, num_stages, max_registers; // none: Triton decides
};

/// The text of a line of a source file, without the space around it; empty where the file cannot be read.
using SourceLine = llvm::function_ref<llvm::StringRef(llvm::StringRef file, unsigned line)>;

/// Throws Error, on the user's line, where the program has something that Triton cannot say.
std::string emit_source(ProgramOp program, const HostPlan& host, const LaunchOptions& options, SourceLine source_line);

} // namespace tilewright::triton
