// Where num_threads() (<tilewright/device.h>) begins: with the environment, else with the CPUs of this process.
#pragma once

#include <string_view>

namespace tilewright {

// CPUs in the process's affinity mask, which cpusets and taskset narrow.
int available_cpu_count();

// The value of TILEWRIGHT_NUM_THREADS. Throws Error where it is not a whole number from 1 to kMaxThreads.
int parse_num_threads(std::string_view text);

} // namespace tilewright
