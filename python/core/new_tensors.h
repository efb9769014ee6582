// New torch tensors from C++ at the least cost, without linking to torch: through the C functions that compiled PyTorch
// programs call (torch/csrc/inductor/aoti_torch/c/shim.h), where the torch that is loaded has them, else through
// torch.empty. The same functions know the current stream.
#pragma once

#include "python/core/torch_tensors.h"

#include <cstdint>
#include <vector>

namespace tilewright::python {

/// What torch.empty is asked for, prepared once for many calls.
class NewTensor {
public:
  NewTensor(std::vector<int64_t> sizes, DType dtype, DeviceIndex device);

  struct Made {
    nb::object tensor;
    void* data; // null where it has no elements
  };
  /// Throws nb::python_error where there is no memory. Needs the interpreter lock.
  Made make() const;

private:
  std::vector<int64_t> sizes_, strides_;
  DeviceIndex device_;
  int32_t dtype_code_ = -1; // torch's own number; -1: made by torch.empty
  nb::object torch_sizes_, torch_dtype_, torch_device_;
};

/// The stream that torch's calls on this device go to.
void* current_stream(int device);

} // namespace tilewright::python
