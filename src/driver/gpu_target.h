// The GPU that this process makes kernels for: the one that was set last, else triton::GpuTarget's defaults. From any
// thread. Nothing of LLVM is seen here.
#pragma once

#include "backends/triton/target.h"

namespace tilewright {

triton::GpuTarget gpu_target();
void set_gpu_target(const triton::GpuTarget& target);

} // namespace tilewright
