// Torch tensors from C++, without linking to torch: reading their addresses and layouts, and making new ones.
//
// The fast way is the table of C functions that torch has for DLPack (torch.Tensor.__dlpack_c_exchange_api__, from
// PyTorch 2.10 on); without it, tensors are asked by their Python methods. Everything here needs the interpreter lock.
#pragma once

#include "tilewright/array.h"
#include "tilewright/dtype.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tilewright::python {

namespace nb = nanobind;

/// A device as DLPack numbers them.
struct DeviceIndex {
  static constexpr int32_t kCpu = 1, kCuda = 2;
  int32_t kind = kCpu, index = 0;
  friend bool operator==(const DeviceIndex&, const DeviceIndex&) = default;
};

/// Where a tensor's elements are; valid as long as the tensor is not changed.
struct TensorView {
  void* data;
  int rank;
  std::optional<DType> dtype; // none: one that kernels do not take
  DeviceIndex device;
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxRank];
};

class Torch {
public:
  /// Imports torch at the first call.
  static const Torch& get();

  enum class Kind : uint8_t {
    tensor,     // a torch.Tensor, or a subclass that behaves as one
    dispatched, // a subclass with a __torch_dispatch__ of its own: FakeTensor, functional tensors, ...
    other,
  };
  Kind kind_of(PyObject* object) const;

  /// Of a tensor. Throws nb::python_error where it has no memory of its own to look at (sparse, quantised, meta), or
  /// more than kMaxRank dimensions.
  void view(PyObject* tensor, TensorView& view) const;

  bool requires_grad(PyObject* tensor) const;
  /// Whether it stands for others, inside of torch.func.grad, torch.vmap and the like.
  bool is_transformed(PyObject* tensor) const;
  bool is_grad_enabled() const;
  int num_threads() const;
  bool is_dtype(PyObject* object) const { return Py_TYPE(object) == dtype_type_; }
  bool is_device(PyObject* object) const { return Py_TYPE(object) == device_type_; }

  nb::object dtype(DType dtype) const;
  /// torch.empty(sizes, dtype=dtype, device=device).
  nb::object empty(PyObject* sizes, PyObject* dtype, PyObject* device) const;
  nb::object cpu() const { return nb::borrow(cpu_); }
  nb::object device(DeviceIndex device) const;

  /// The device that torch's calls go to, and the stream of theirs. Only where there is CUDA.
  int current_cuda_device() const;
  void* current_cuda_stream(int device) const;

private:
  Torch();

  PyTypeObject *tensor_type_, *parameter_type_, *dtype_type_, *device_type_;
  PyObject *empty_, *device_, *is_grad_enabled_, *get_num_threads_, *requires_grad_name_, *dispatch_name_,
      *default_dispatch_;
  PyObject* dtypes_[kDTypeCount];
  PyObject *empty_keywords_, *cpu_;
  PyObject *cuda_device_ = nullptr, *cuda_stream_ = nullptr; // null where torch has no CUDA
  const struct ExchangeApi* api_ = nullptr;

  void view_by_attributes(PyObject* tensor, TensorView& view) const;
};

/// Keeps a Python object alive, and lets go of it from any thread.
std::shared_ptr<void> keep_alive(PyObject* object);

/// An array over a tensor's elements, which keeps `owner` alive.
Array array_of(const TensorView& view, std::shared_ptr<void> owner, const SourceLocation& location);

} // namespace tilewright::python
