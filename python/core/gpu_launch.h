// The fast way to launch on a GPU what Triton has compiled: the driver's launch call, with the kernel's own parameters
// and those that Triton hides behind them. What it does not cover (clusters, run-time numbers) Triton's own launcher
// runs; triton_program.py decides.
#pragma once

#include "python/core/cuda_driver.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::python {

namespace nb = nanobind;

/// What a kernel is passed at one place.
struct GpuParameter {
  enum class Kind : uint8_t {
    pointer,    // of an array
    tensor_map, // of an array: the driver's description of it, which is the same but for the address
    value,      // always the same
  };
  Kind kind = Kind::pointer;
  uint32_t array = 0;         // its number among the program's pointers
  std::vector<uint8_t> bytes; // the value, or the map for some address

  size_t size() const { return kind == Kind::pointer ? sizeof(void*) : bytes.size(); }
};

/// One kernel of a program: several follow one another where there are barriers.
struct GpuLaunch {
  CudaDriver::Function function = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t threads = 32;
  uint32_t shared_bytes = 0;
  std::vector<GpuParameter> arguments;
  size_t hidden_parameters = 0; // pointers after those; the first is to scratch memory
  size_t scratch_bytes = 0;     // of all programs together; 0: the pointers are null
};

/// Everything that a call of one specialisation launches.
struct GpuPlan {
  std::vector<GpuLaunch> launches;
  int device = 0;
  nb::object keeps; // the loaded kernels

  /// Throws Error where a kernel has other parameters than its arguments and the hidden ones.
  void add(GpuLaunch launch);

  /// `pointers`: the addresses of the program's arrays. `scratch`: for each launch that wants it, its memory, in order.
  /// Asynchronous. Throws Error where the driver refuses.
  void run(void* const* pointers, void* const* scratch, CudaDriver::Stream stream) const;
};

} // namespace tilewright::python
