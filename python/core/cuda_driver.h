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
  struct alignas(64) TensorMap {
    uint64_t opaque[16]; // CUtensorMap
  };

  /// How many bytes the parameters of a kernel have, in order. Empty where the driver is too old to say (before 12.4).
  bool parameter_size(Function function, size_t index, size_t* bytes) const;
  bool knows_parameters() const { return parameter_info_ != nullptr; }

  /// The device of this thread's context; -1 where it has none.
  int current_device() const;
  bool knows_device() const { return context_device_ != nullptr; }

  /// Makes a tensor map one of memory elsewhere. Throws Error with the driver's words.
  void replace_address(TensorMap& map, void* address) const;
  bool knows_tensor_maps() const { return replace_address_ != nullptr; }

  /// Throws Error with the driver's words.
  void launch(Function function, const uint32_t grid[3], uint32_t threads, uint32_t shared_bytes, Stream stream,
              void** parameters) const;

private:
  CudaDriver();
  [[noreturn]] void refuse(int code) const;

  int (*launch_)(Function, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Stream, void**,
                 void**);
  int (*parameter_info_)(Function, size_t, size_t*, size_t*);
  int (*context_device_)(int*);
  int (*replace_address_)(TensorMap*, void*);
  int (*error_text_)(int, const char**);
};

} // namespace tilewright::python
