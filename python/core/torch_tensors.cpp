#include "python/core/torch_tensors.h"

#include "python/core/operands.h"

#include "support/error.h"

#include <dlpack/dlpack.h>

#include <cstring>

namespace tilewright::python {

// DLPack 1.3's table of functions, as far as it is used here.
struct ExchangeApi {
  struct {
    uint32_t major, minor;
  } version;
  ExchangeApi* previous;
  void* allocate;
  void* managed_from_python;
  void* managed_to_python;
  // Fills in a view of a tensor; 0, or -1 with Python's error set. May be null.
  int (*view_of_python)(void* tensor, DLTensor* view);
  void* current_stream;
};

static const ExchangeApi* find_api(nb::handle tensor_type) {
  nb::object capsule = nb::getattr(tensor_type, "__dlpack_c_exchange_api__", nb::none());
  if (capsule.is_none()) return nullptr;
  const auto* api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  PyErr_Clear(); // of a capsule by another name
  while (api && api->version.major > 1) api = api->previous;
  return api && api->version.major == 1 && api->view_of_python ? api : nullptr;
}

static PyObject* keep(nb::object object) { return object.release().ptr(); } // as long as the interpreter

Torch::Torch() {
  nb::module_ torch = nb::module_::import_("torch");
  auto type = [](nb::object object) { return reinterpret_cast<PyTypeObject*>(keep(std::move(object))); };
  tensor_type_ = type(torch.attr("Tensor"));
  parameter_type_ = type(torch.attr("nn").attr("Parameter"));
  dtype_type_ = type(torch.attr("dtype"));
  device_type_ = type(torch.attr("device"));
  empty_ = keep(torch.attr("empty"));
  is_grad_enabled_ = keep(torch.attr("is_grad_enabled"));
  get_num_threads_ = keep(torch.attr("get_num_threads"));
  requires_grad_name_ = keep(nb::steal(PyUnicode_InternFromString("requires_grad")));
  dispatch_name_ = keep(nb::steal(PyUnicode_InternFromString("__torch_dispatch__")));
  default_dispatch_ =
      keep(nb::object(nb::handle(reinterpret_cast<PyObject*>(tensor_type_)).attr("__torch_dispatch__")));
  for (int i = 0; i < kDTypeCount; ++i)
    dtypes_[i] = keep(torch.attr(nb::cast<std::string>(nb::cast(name(static_cast<DType>(i)))).c_str()));
  empty_keywords_ = keep(nb::make_tuple("dtype", "device"));
  device_ = keep(torch.attr("device"));
  cpu_ = keep(torch.attr("device")("cpu"));
  nb::object c = torch.attr("_C");
  if (nb::hasattr(c, "_cuda_getDevice") && nb::hasattr(c, "_cuda_getCurrentRawStream")) {
    cuda_device_ = keep(c.attr("_cuda_getDevice"));
    cuda_stream_ = keep(c.attr("_cuda_getCurrentRawStream"));
  }
  api_ = find_api(nb::handle(reinterpret_cast<PyObject*>(tensor_type_)));
}

const Torch& Torch::get() {
  // Not a static's own guard, which a thread would wait for with the interpreter lock that an import may give away.
  static const Torch* torch = nullptr;
  if (!torch) {
    const auto* made = new Torch();
    if (!torch) torch = made;
  }
  return *torch;
}

Torch::Kind Torch::kind_of(PyObject* object) const {
  PyTypeObject* type = Py_TYPE(object);
  if (type == tensor_type_ || type == parameter_type_) return Kind::tensor;
  if (!PyType_IsSubtype(type, tensor_type_)) return Kind::other;
  nb::object dispatch = nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(type), dispatch_name_));
  if (!dispatch.is_valid()) throw nb::python_error();
  return dispatch.ptr() == default_dispatch_ ? Kind::tensor : Kind::dispatched;
}

//===----------------------------------------------------------------------===//
// Looking at tensors
//===----------------------------------------------------------------------===//

static std::optional<DType> dtype_of(const DLDataType& type) {
  enum : uint8_t {
    kInt = 0,
    kUInt = 1,
    kFloat = 2,
    kBfloat = 4,
    kBool = 6,
    kFloat8E4M3FN = 10,
    kFloat8E5M2 = 12,
  };
  if (type.lanes != 1) return std::nullopt;
  switch (type.code) {
  case kInt:
    switch (type.bits) {
    case 8: return DType::int8;
    case 16: return DType::int16;
    case 32: return DType::int32;
    case 64: return DType::int64;
    }
    return std::nullopt;
  case kUInt: return type.bits == 8 ? std::optional(DType::uint8) : std::nullopt;
  case kFloat:
    switch (type.bits) {
    case 16: return DType::float16;
    case 32: return DType::float32;
    case 64: return DType::float64;
    }
    return std::nullopt;
  case kBfloat: return type.bits == 16 ? std::optional(DType::bfloat16) : std::nullopt;
  case kBool: return DType::boolean;
  case kFloat8E4M3FN: return DType::float8_e4m3fn;
  case kFloat8E5M2: return DType::float8_e5m2;
  }
  return std::nullopt;
}

static void check_rank(int64_t rank) {
  if (rank <= kMaxRank) return;
  PyErr_SetString(PyExc_ValueError, "a tensor of too many dimensions");
  throw nb::python_error();
}

void Torch::view(PyObject* tensor, TensorView& view) const {
  if (!api_) return view_by_attributes(tensor, view);
  DLTensor given;
  if (api_->view_of_python(tensor, &given) != 0) throw nb::python_error();
  check_rank(given.ndim);
  view.data = static_cast<char*>(given.data) + given.byte_offset;
  view.rank = given.ndim;
  view.dtype = dtype_of(given.dtype);
  view.device = {given.device.device_type, given.device.device_id};
  int64_t contiguous = 1;
  for (int i = given.ndim - 1; i >= 0; --i) {
    view.sizes[i] = given.shape[i];
    view.strides[i] = given.strides ? given.strides[i] : contiguous;
    contiguous *= given.shape[i];
  }
}

void Torch::view_by_attributes(PyObject* tensor, TensorView& view) const {
  nb::handle object(tensor);
  nb::object dtype = object.attr("dtype");
  view.dtype = std::nullopt;
  for (int i = 0; i < kDTypeCount; ++i)
    if (dtypes_[i] == dtype.ptr()) view.dtype = static_cast<DType>(i);
  nb::object device = object.attr("device"), index = device.attr("index");
  std::string kind = nb::cast<std::string>(device.attr("type"));
  view.device.kind = kind == "cpu" ? DeviceIndex::kCpu : kind == "cuda" ? DeviceIndex::kCuda : 0;
  view.device.index = index.is_none() ? 0 : nb::cast<int32_t>(index);
  nb::object sizes = object.attr("shape"), strides = object.attr("stride")();
  check_rank(static_cast<int64_t>(nb::len(sizes)));
  view.rank = static_cast<int>(nb::len(sizes));
  for (int i = 0; i < view.rank; ++i) {
    view.sizes[i] = nb::cast<int64_t>(sizes[i]);
    view.strides[i] = nb::cast<int64_t>(strides[i]);
  }
  view.data = reinterpret_cast<void*>(nb::cast<uintptr_t>(object.attr("data_ptr")()));
}

static bool is_true(PyObject* given) {
  nb::object owned = nb::steal(given);
  if (!owned.is_valid()) throw nb::python_error();
  return owned.ptr() == Py_True;
}

bool Torch::requires_grad(PyObject* tensor) const { return is_true(PyObject_GetAttr(tensor, requires_grad_name_)); }

bool Torch::is_transformed(PyObject* tensor) const {
  nb::object functorch = nb::getattr(nb::module_::import_("torch").attr("_C"), "_functorch", nb::none());
  if (functorch.is_none() || !nb::hasattr(functorch, "is_functorch_wrapped_tensor")) return false;
  return nb::cast<bool>(functorch.attr("is_functorch_wrapped_tensor")(nb::handle(tensor)));
}

bool Torch::is_grad_enabled() const { return is_true(PyObject_CallNoArgs(is_grad_enabled_)); }

int Torch::num_threads() const {
  nb::object count = nb::steal(PyObject_CallNoArgs(get_num_threads_));
  if (!count.is_valid()) throw nb::python_error();
  return static_cast<int>(PyLong_AsLong(count.ptr()));
}

//===----------------------------------------------------------------------===//
// Making tensors
//===----------------------------------------------------------------------===//

nb::object Torch::dtype(DType dtype) const { return nb::borrow(dtypes_[static_cast<int>(dtype)]); }

nb::object Torch::device(DeviceIndex device) const {
  if (device.kind == DeviceIndex::kCpu) return cpu();
  return nb::borrow(device_)("cuda", device.index);
}

static int64_t number(PyObject* given) {
  nb::object owned = nb::steal(given);
  if (!owned.is_valid()) throw nb::python_error();
  int64_t value = PyLong_AsLongLong(owned.ptr());
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

int Torch::current_cuda_device() const { return static_cast<int>(number(PyObject_CallNoArgs(cuda_device_))); }

void* Torch::current_cuda_stream(int device) const {
  nb::object index = nb::int_(device);
  return reinterpret_cast<void*>(number(PyObject_CallFunctionObjArgs(cuda_stream_, index.ptr(), nullptr)));
}

nb::object Torch::empty(PyObject* sizes, PyObject* dtype, PyObject* device) const {
  PyObject* arguments[] = {nullptr, sizes, dtype, device};
  nb::object made =
      nb::steal(PyObject_Vectorcall(empty_, arguments + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, empty_keywords_));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

std::shared_ptr<void> keep_alive(PyObject* object) {
  Py_INCREF(object);
  return {object, [](void* kept) {
            nb::gil_scoped_acquire lock;
            Py_DECREF(static_cast<PyObject*>(kept));
          }};
}

Array array_of(const TensorView& view, std::shared_ptr<void> owner, const SourceLocation& location) {
  alignas(64) static char nothing[64]; // torch has no address for a tensor without elements
  void* data = view.data ? view.data : nothing;
  std::span<const int64_t> sizes(view.sizes, view.rank), strides(view.strides, view.rank);
  return Array::from_pointer(data, IndexList(sizes), IndexList(strides), *view.dtype, std::move(owner), location);
}

} // namespace tilewright::python
