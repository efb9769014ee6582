// What a config can say to the Triton backend: its limits as the config spec takes them, and its own options.
//
// | option | values | meaning |
// | --- | --- | --- |
// | num_warps | 1 to 32 | warps of a program |
// | num_stages | 1 to 6 | stages in which loops are pipelined that do not say it themselves; where there is a loop |
// | maxnreg | null, or a number | the most registers of a thread; null: the compiler decides; with few enough warps |
#pragma once

#include "backends/triton/emit_source.h"
#include "backends/triton/target.h"
#include "config/backend_limits.h"
#include "tilewright/config.h"

namespace tilewright {

/// What the schedule and the config spec must know of a GPU.
BackendLimits limits_of(const triton::GpuTarget& target);

/// What is said at the launch.
triton::LaunchOptions launch_options(const Config& config);

} // namespace tilewright
