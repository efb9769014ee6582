// Exchange with other libraries by DLPack (https://dmlc.github.io/dlpack).
#include "runtime/array_layout.h"
#include "support/error.h"
#include "tilewright/array.h"

#include <dlpack/dlpack.h>

#include <memory>
#include <utility>

namespace tilewright {

namespace {

// Of DLPack 0.8, and 1.1, and later; Debian 12 has 0.6.
constexpr uint8_t kBoolCode = 6;
constexpr uint8_t kFloat8E4M3FNCode = 10, kFloat8E5M2Code = 12;

DLDataType to_dlpack_type(DType dtype) {
  uint8_t code = kDLInt;
  if (dtype == DType::boolean) code = kBoolCode;
  if (dtype == DType::uint8) code = kDLUInt;
  if (dtype == DType::bfloat16) code = kDLBfloat;
  if (is_floating_point(dtype) && dtype != DType::bfloat16) code = kDLFloat;
  if (dtype == DType::float8_e4m3fn) code = kFloat8E4M3FNCode;
  if (dtype == DType::float8_e5m2) code = kFloat8E5M2Code;
  return {code, uint8_t(size_in_bytes(dtype) * 8), 1};
}

DType from_dlpack_type(DLDataType type, const SourceLocation& location) {
  for (int i = 0; i < kDTypeCount; ++i) {
    DLDataType candidate = to_dlpack_type(DType(i));
    if (candidate.code == type.code && candidate.bits == type.bits && type.lanes == 1) return DType(i);
  }
  fail(location, "from_dlpack: elements of type code {}, {} bits and {} lanes have no element type here", type.code,
       type.bits, type.lanes);
}

bool is_in_cpu_memory(DLDevice device) {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost || device.device_type == kDLROCMHost;
}

// What to_dlpack() gives away: the tensor, and the array that keeps its memory alive and holds its sizes.
struct ExportedArray {
  explicit ExportedArray(Array array) : array(std::move(array)) {}

  Array array;
  DLManagedTensor tensor = {};
};

} // namespace

Array Array::from_dlpack(DLManagedTensor* tensor, SourceLocation location) {
  if (!tensor) fail(location, "from_dlpack: the tensor is null");
  const DLTensor& source = tensor->dl_tensor;
  if (!is_in_cpu_memory(source.device))
    fail(location, "from_dlpack: the tensor is on a device of type {}; expected the CPU's memory",
         int(source.device.device_type));
  DType dtype = from_dlpack_type(source.dtype, location);
  IndexList sizes(std::span<const int64_t>(source.shape, size_t(source.ndim)), location);
  IndexList strides = source.strides
                          ? IndexList(std::span<const int64_t>(source.strides, size_t(source.ndim)), location)
                          : contiguous_strides(sizes);
  void* data = source.data ? static_cast<char*>(source.data) + source.byte_offset : nullptr;
  Array result = from_pointer(data, sizes, strides, dtype, {}, location);
  result.storage_ = std::shared_ptr<void>(data, [tensor](void*) {
    if (tensor->deleter) tensor->deleter(tensor);
  });
  return result;
}

DLManagedTensor* Array::to_dlpack(SourceLocation location) const {
  check_defined(location);
  auto exported = std::make_unique<ExportedArray>(*this);
  DLTensor& tensor = exported->tensor.dl_tensor;
  tensor.data = data_;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = rank();
  tensor.dtype = to_dlpack_type(dtype_);
  tensor.shape = exported->array.sizes_.begin();
  tensor.strides = exported->array.strides_.begin();
  exported->tensor.manager_ctx = exported.get();
  exported->tensor.deleter = [](DLManagedTensor* self) { delete static_cast<ExportedArray*>(self->manager_ctx); };
  return &exported.release()->tensor;
}

} // namespace tilewright
