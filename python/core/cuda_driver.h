// The few functions of NVIDIA's driver that a launch needs, found at run time: neither building nor installing
// Tilewright needs CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewright::python {

class CudaDriver {
public:
  /// Opens libcuda.so.1, or what TILEWRIGHT_LIBCUDA names. Throws Error where there is none.
  static const CudaDriver& get();

  using Function = void*; // CUfunction
  using Stream = void*;   // CUstream

  /// How many bytes the parameters of a kernel have, in order. Empty where the driver is too old to say (before 12.4).
  bool parameter_size(Function function, size_t index, size_t* bytes) const;
  bool knows_parameters() const { return parameter_info_ != nullptr; }

  /// Throws Error with the driver's words.
  void launch(Function function, const uint32_t grid[3], uint32_t threads, uint32_t shared_bytes, Stream stream,
              void** parameters) const;

private:
  CudaDriver();
  [[noreturn]] void refuse(int code) const;

  int (*launch_)(Function, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Stream, void**,
                 void**);
  int (*parameter_info_)(Function, size_t, size_t*, size_t*);
  int (*error_text_)(int, const char**);
};

} // namespace tilewright::python
