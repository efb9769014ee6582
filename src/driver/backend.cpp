#include "driver/backend.h"

#include "driver/cpu_options.h"
#include "driver/triton_options.h"
#include "tilewright/device.h"

#include <fmt/format.h>

namespace tilewright {

std::optional<Backend> parse_backend(std::string_view name) {
  if (name == "cpu") return Backend::Cpu;
  if (name == "triton") return Backend::Triton;
  return std::nullopt;
}

BackendLimits limits_of(Backend backend) {
  return backend == Backend::Cpu ? limits_of(cpu::host_target()) : limits_of(triton::GpuTarget());
}

std::string hardware_of(Backend backend) {
  if (backend == Backend::Cpu) return fmt::format("{} x{}", cpu::host_target().identity(), num_threads());
  return fmt::format("triton sm_{}", triton::GpuTarget().compute_capability);
}

} // namespace tilewright
