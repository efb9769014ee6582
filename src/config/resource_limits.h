// What programs of many threads need of a processor's resources, estimated from tile IR: so that a search does not
// spend its time on what does not compile or fit.
//
// - Shared memory holds the operands of dots: what a loop loads for them once for each stage, what is loaded before it
//   once. Where programs are persistent, a tile that is stored passes through a place beside them.
// - A thread's registers hold its part of a tile; those of a loop the accumulators of all its dots at once.
//
// Formulas and bounds were compared with what Triton 3.6 asks for on compute capability 9.0 (docs/performance.md).
#pragma once

#include "config/backend_limits.h"
#include "config/config_spec.h"
#include "ir/tile_dialect.h"

namespace tilewright {

/// For a spec that has all its options. `rollable`: the whole dimensions that reduction_loops has entries for.
std::vector<ResourceLimit> resource_limits(KernelOp pinned, const BackendLimits& limits,
                                           llvm::ArrayRef<uint32_t> rollable, const ConfigSpec& spec);

} // namespace tilewright
