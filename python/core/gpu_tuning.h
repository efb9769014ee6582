// Tuning a kernel on a GPU: candidates are written here, and compiled and measured by Python processes
// (tilewright/gpu_tuning.py).
#pragma once

#include "python/core/torch_tensors.h"

#include "driver/tune_candidates.h"

#include <nanobind/nanobind.h>

namespace tilewright::python {

/// Kernels are made for this GPU from now on; for a device that is none, nothing changes. Needs the interpreter lock.
void make_for(DeviceIndex device);

/// Not without a GPU, nor while a stream is captured into a graph. Needs the interpreter lock.
bool can_tune_now(DeviceIndex device);

/// `arguments`: tensors and numbers, in order of the specialisation's parameters. `request` has a job_for. Needs the
/// interpreter lock, which it gives away while it searches. Throws Error where nothing can be compiled.
TuningResult tune_on_gpu(const Specialisation& specialisation, const nanobind::list& arguments,
                         const TuneRequest& request);

} // namespace tilewright::python
