// What a config can say to the CPU backend: its limits as the config spec takes them, and its own options.
//
// | option | values | meaning |
// | --- | --- | --- |
// | num_threads | null, or a number | how many threads a launch may use; null: all there are |
// | vector_width | bits | how wide vectors are |
// | register_tile | [rows, vectors] | the accumulators of a dot that are in registers at once |
#pragma once

#include "backends/cpu/target.h"
#include "config/backend_limits.h"
#include "tilewright/config.h"

namespace tilewright {

/// What the schedule and the config spec must know of a CPU.
BackendLimits limits_of(const cpu::CpuTarget& target);

/// The target as a config wants it used.
cpu::CpuTarget target_with(const cpu::CpuTarget& target, const Config& config);

/// The most threads that a launch uses.
int max_workers_of(const Config& config);

} // namespace tilewright
