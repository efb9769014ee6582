#include "python/core/cuda_driver.h"

#include "support/error.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tilewright::python {

CudaDriver::CudaDriver() {
  const char* given = std::getenv("TILEWRIGHT_LIBCUDA");
  const char* name = given && *given ? given : "libcuda.so.1";
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("kernels on CUDA tensors need NVIDIA's driver, and {} cannot be loaded: {}", name, dlerror());
  auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
  };
  find(launch_, "cuLaunchKernel");
  find(parameter_info_, "cuFuncGetParamInfo");
  find(context_device_, "cuCtxGetDevice");
  find(replace_address_, "cuTensorMapReplaceAddress");
  find(error_text_, "cuGetErrorString");
  if (!launch_) fail("{} has no cuLaunchKernel", name);
}

const CudaDriver& CudaDriver::get() {
  static const CudaDriver driver;
  return driver;
}

bool CudaDriver::parameter_size(Function function, size_t index, size_t* bytes) const {
  size_t offset = 0;
  return parameter_info_(function, index, &offset, bytes) == 0; // an error: no parameter of that number
}

int CudaDriver::current_device() const {
  int device = -1;
  return context_device_(&device) == 0 ? device : -1; // an error: this thread has no context
}

void CudaDriver::refuse(int code) const {
  const char* text = nullptr;
  if (error_text_) error_text_(code, &text);
  fail("the launch of a kernel failed: {} (CUDA error {})", text ? text : "unknown", code);
}

void CudaDriver::replace_address(TensorMap& map, void* address) const {
  int code = replace_address_(&map, address);
  if (code != 0) refuse(code);
}

void CudaDriver::launch(Function function, const uint32_t grid[3], uint32_t threads, uint32_t shared_bytes,
                        Stream stream, void** parameters) const {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return;
  int code = launch_(function, grid[0], grid[1], grid[2], threads, 1, 1, shared_bytes, stream, parameters, nullptr);
  if (code != 0) refuse(code);
}

} // namespace tilewright::python
