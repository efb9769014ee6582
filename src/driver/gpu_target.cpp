#include "driver/gpu_target.h"

#include <mutex>

namespace tilewright {

static std::mutex target_mutex;
static triton::GpuTarget current_target;

triton::GpuTarget gpu_target() {
  std::lock_guard lock(target_mutex);
  return current_target;
}

void set_gpu_target(const triton::GpuTarget& target) {
  std::lock_guard lock(target_mutex);
  current_target = target;
}

} // namespace tilewright
