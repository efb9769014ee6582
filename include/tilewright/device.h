// Where arrays live and kernels run, and how many threads of the CPU kernels use.
#pragma once

#include "tilewright/error.h"

#include <cstdint>
#include <source_location>
#include <string_view>

namespace tilewright {

enum class DeviceKind : uint8_t { cpu };

constexpr std::string_view name(DeviceKind) { return "cpu"; }

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;

  friend constexpr bool operator==(const Device&, const Device&) = default;
};

// The number of threads, the calling one included, that a kernel and this library's own loops run on. At first it is
// the environment variable TILEWRIGHT_NUM_THREADS, else the number of CPUs that the process may run on. Throws Error
// where the variable is not a whole number from 1 to kMaxThreads.
int num_threads();
inline constexpr int kMaxThreads = 1024;

// Takes effect with the next launch. Throws Error where `count` is not from 1 to kMaxThreads. Results never depend on
// the number of threads.
void set_num_threads(int count, SourceLocation location = std::source_location::current());

} // namespace tilewright
