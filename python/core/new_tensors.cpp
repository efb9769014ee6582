#include "python/core/new_tensors.h"

#include "python/core/operands.h"

#include <dlfcn.h>
#include <string>

namespace tilewright::python {
namespace {

using TensorHandle = void*; // at::Tensor*

struct TorchFunctions {
  int32_t (*empty_strided)(int64_t rank, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                           int32_t device_type, int32_t device_index, TensorHandle* made) = nullptr;
  int32_t (*data_of)(TensorHandle, void** data) = nullptr;
  int32_t (*forget)(TensorHandle) = nullptr;
  PyObject* (*wrap)(TensorHandle) = nullptr; // a new reference; the tensor is taken by reference, whatever the version
  int32_t (*stream_of)(int32_t device, void** stream) = nullptr;
  int32_t dtypes[kDTypeCount];

  bool can_make() const { return empty_strided && data_of && forget && wrap; }

  static const TorchFunctions& get() {
    static const TorchFunctions functions;
    return functions;
  }

private:
  // The libraries are there already, with whatever torch has been imported; none is loaded.
  static void* loaded(const char* library) { return dlopen(library, RTLD_LAZY | RTLD_NOLOAD); }

  template <class Function> static bool find(Function& function, void* library, const char* name) {
    function = library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
    return function != nullptr;
  }

  TorchFunctions() {
    void *cpu = loaded("libtorch_cpu.so"), *python = loaded("libtorch_python.so"), *cuda = loaded("libtorch_cuda.so");
    find(empty_strided, cpu, "aoti_torch_empty_strided");
    find(data_of, cpu, "aoti_torch_get_data_ptr");
    find(forget, cpu, "aoti_torch_delete_tensor_object");
    if (!find(wrap, python, "_Z16THPVariable_WrapRKN2at10TensorBaseE")) // THPVariable_Wrap(const at::TensorBase&)
      find(wrap, python, "_Z16THPVariable_WrapN2at10TensorBaseE");
    find(stream_of, cuda, "aoti_torch_get_current_cuda_stream");
    for (int i = 0; i < kDTypeCount; ++i) {
      const std::string name(tilewright::name(static_cast<DType>(i)));
      int32_t (*number)() = nullptr;
      dtypes[i] = find(number, cpu, ("aoti_torch_dtype_" + name).c_str()) ? number() : -1;
    }
  }
};

} // namespace

NewTensor::NewTensor(std::vector<int64_t> sizes, DType dtype, DeviceIndex device)
    : sizes_(std::move(sizes)), strides_(sizes_.size()), device_(device) {
  int64_t stride = 1;
  for (size_t i = sizes_.size(); i-- > 0;) {
    strides_[i] = stride;
    stride *= std::max<int64_t>(sizes_[i], 1);
  }
  const TorchFunctions& functions = TorchFunctions::get();
  if (functions.can_make()) dtype_code_ = functions.dtypes[static_cast<int>(dtype)];
  nb::list list;
  for (int64_t size : sizes_) list.append(size);
  const Torch& torch = Torch::get();
  torch_sizes_ = nb::tuple(list);
  torch_dtype_ = torch.dtype(dtype);
  torch_device_ = torch.device(device);
}

NewTensor::Made NewTensor::make() const {
  if (dtype_code_ >= 0) {
    const TorchFunctions& functions = TorchFunctions::get();
    const int32_t type = device_.kind == DeviceIndex::kCuda ? 1 : 0; // c10::DeviceType
    TensorHandle handle = nullptr;
    Made made{{}, nullptr};
    // Where there is no memory, torch.empty says so.
    if (functions.empty_strided(static_cast<int64_t>(sizes_.size()), sizes_.data(), strides_.data(), dtype_code_, type,
                                device_.index, &handle) == 0) {
      functions.data_of(handle, &made.data);
      made.tensor = nb::steal(functions.wrap(handle));
      functions.forget(handle);
      if (!made.tensor.is_valid()) throw nb::python_error();
      return made;
    }
  }
  const Torch& torch = Torch::get();
  Made made{torch.empty(torch_sizes_.ptr(), torch_dtype_.ptr(), torch_device_.ptr()), nullptr};
  TensorView view;
  torch.view(made.tensor.ptr(), view);
  made.data = view.data;
  return made;
}

void* current_stream(int device) {
  void* stream = nullptr;
  const TorchFunctions& functions = TorchFunctions::get();
  if (functions.stream_of && functions.stream_of(device, &stream) == 0) return stream;
  return Torch::get().current_cuda_stream(device);
}

} // namespace tilewright::python
