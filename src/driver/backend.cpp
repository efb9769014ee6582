#include "driver/backend.h"

#include "driver/cpu_options.h"
#include "driver/gpu_target.h"
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
  return backend == Backend::Cpu ? limits_of(cpu::host_target()) : limits_of(gpu_target());
}

std::string hardware_of(Backend backend) {
  if (backend == Backend::Cpu) return fmt::format("{} x{}", cpu::host_target().identity(), num_threads());
  const triton::GpuTarget gpu = gpu_target();
  return fmt::format("triton {} sm_{} x{}", gpu.name, gpu.compute_capability, gpu.multiprocessors);
}

} // namespace tilewright
