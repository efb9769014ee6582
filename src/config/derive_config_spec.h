// The search space of a kernel, derived from its tile IR and from what a backend says of the machine.
//
// | option | an entry for each | offered where |
// | --- | --- | --- |
// | block_sizes | block id | there is one |
// | loop_orders | loop that may be walked in any order (permutable_loops) | there is one |
// | flatten_loops | the same | one can be walked as one (ir/flattening.h) |
// | reduction_loops | whole dimension that may be rolled (rollable_dims) | one is longer than the least block |
// | pid_type | the kernel | the backend has two that schedule knows |
// | num_sm_multiplier | the kernel | one of them is persistent |
// | l2_groupings | outermost loop | it has two dimensions |
// | range_unroll_factors | sequential loop (sequential_loops) | one may run twice |
// | static_ranges | the same | one can be short: a few small iterations, however large its blocks |
// | range_num_stages, range_warp_specializes | the same | there is one |
// | range_flattens | the same | one is in another loop, or may be in that of a persistent program |
// | range_multi_buffers | the same | one has a dot |
// | indexing | load and store (loads_and_stores) | one can be done in two ways that differ (access_choices.h) |
// | load_eviction_policies | load | a block of one is followed by the next one |
// | store_eviction_policies | store | the same |
// | the backend's own | the kernel | there are two choices |
//
// The backend must know the option as well (BackendLimits::options). One that is not offered is in `inapplicable` with
// the reason. Entries are in the order of the source, and the same for every size that the kernel is pinned to, as far
// as the size does not change the kernel itself.
#pragma once

#include "config/backend_limits.h"
#include "config/config_spec.h"
#include "ir/tile_dialect.h"

namespace tilewright {

/// `pinned` as schedule() takes it.
ConfigSpec derive_config_spec(KernelOp pinned, const BackendLimits& limits);

} // namespace tilewright
