#include "python/core/call_arguments.h"

#include "python/core/operands.h"

#include "support/error.h"

namespace tilewright::python {

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

// Strings and the like are preceded by their length, so that no two lists of arguments have one key.
static void append_text(Key& key, char tag, std::string_view text) {
  key.append(tag);
  key.append(text.size());
  key.append(text.data(), text.size());
}

static void append_constant(Key& key, PyObject* object) {
  const Torch& torch = Torch::get();
  if (object == Py_None || PyBool_Check(object) || torch.is_dtype(object)) { // each is one object for good
    key.append('o');
    key.append(object);
  } else if (PyUnicode_Check(object)) {
    append_text(key, 's', nb::cast<std::string_view>(nb::handle(object)));
  } else if (PyLong_Check(object)) {
    append_text(key, 'i', text_of(nb::handle(object)));
  } else if (PyFloat_Check(object)) {
    key.append('f');
    key.append(PyFloat_AsDouble(object));
  } else if (nb::isinstance<Constant>(nb::handle(object))) {
    append_text(key, 'k', nb::cast<const Constant&>(nb::handle(object)).key);
  } else {
    append_text(key, 'd', text_of(nb::handle(object))); // a device
  }
}

void CallArgument::append_to(Key& key) const {
  switch (kind) {
  case Kind::tensor: {
    // 16 is what a specialisation may assume of an address (frontend/traced_kernel.h).
    bool aligned = reinterpret_cast<uintptr_t>(tensor.data) % 16 == 0;
    char layout[] = {'t', static_cast<char>(*tensor.dtype), static_cast<char>(tensor.rank), aligned};
    key.append(layout);
    key.append(tensor.sizes, sizeof(int64_t) * tensor.rank);
    key.append(tensor.strides, sizeof(int64_t) * tensor.rank);
    return;
  }
  case Kind::number: {
    char type[] = {'n', static_cast<char>(dtype)};
    key.append(type);
    return;
  }
  case Kind::constant: append_constant(key, object); return;
  }
}

//===----------------------------------------------------------------------===//
// Looking at the arguments of a call
//===----------------------------------------------------------------------===//

std::string CallArguments::name_of(size_t index) const { return definition_.argument_name(index); }

Found CallArguments::look_at(PyObject* const* objects, size_t count) {
  arguments_.resize(count);
  key_.clear();
  first_tensor_ = nullptr;
  Found found = Found::all_simple;
  for (size_t i = 0; i < count; ++i) {
    arguments_[i].object = objects[i];
    arguments_[i].kind = CallArgument::Kind::constant;
    Found one = look_at(objects[i], i, arguments_[i]);
    if (one > found) {
      found = one;
      refused_ = i;
      refused_object_ = objects[i];
    }
    if (one == Found::all_simple) arguments_[i].append_to(key_);
  }
  return found;
}

Found CallArguments::look_at(PyObject* object, size_t index, CallArgument& argument) {
  const Torch& torch = Torch::get();
  switch (torch.kind_of(object)) {
  case Torch::Kind::dispatched: return Found::dispatched;
  case Torch::Kind::tensor: {
    argument.kind = CallArgument::Kind::tensor;
    bool grad = torch.requires_grad(object) && torch.is_grad_enabled();
    bool seen = true;
    try {
      torch.view(object, argument.tensor);
    } catch (const nb::python_error&) {
      seen = false; // what it is about is said below
    }
    if (!seen || !argument.tensor.dtype) refuse_tensor(nb::handle(object), index);
    check_device(argument, index);
    return grad ? Found::needs_grad : Found::all_simple;
  }
  case Torch::Kind::other: break;
  }
  bool is_constant = index < constants_.size() && constants_[index];
  if (PyFloat_Check(object)) {
    if (is_constant) return Found::all_simple;
    argument.kind = CallArgument::Kind::number;
    argument.dtype = float64;
    double value = PyFloat_AsDouble(object);
    std::memcpy(&argument.number, &value, sizeof(value));
    return Found::all_simple;
  }
  if (PyLong_Check(object)) {
    if (is_constant || PyBool_Check(object)) return Found::all_simple;
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) fail(calling_line(), "{} of kernel {} does not fit int64", name_of(index), definition_.name);
    argument.kind = CallArgument::Kind::number;
    argument.dtype = int64;
    std::memcpy(&argument.number, &value, sizeof(value));
    return Found::all_simple;
  }
  if (object == Py_None || PyUnicode_Check(object) || torch.is_dtype(object) || torch.is_device(object) ||
      nb::isinstance<Constant>(nb::handle(object)))
    return Found::all_simple;
  return Found::needs_prepare;
}

void CallArguments::check_device(const CallArgument& argument, size_t index) {
  DeviceIndex device = argument.tensor.device;
  if (device.kind != DeviceIndex::kCpu && device.kind != DeviceIndex::kCuda)
    refuse_tensor(nb::handle(argument.object), index);
  if (!first_tensor_) {
    first_tensor_ = &argument;
    device_ = device;
    if (device.kind == DeviceIndex::kCuda) {
      key_.append('c');
      key_.append(device.index);
    }
  } else if (device != device_) {
    fail(calling_line(), "{} of kernel {} is on {}, and {} on {}; all tensors of a call are on one device",
         name_of(index), definition_.name, text_of(nb::handle(argument.object).attr("device")),
         name_of(static_cast<size_t>(first_tensor_ - arguments_.data())),
         text_of(nb::handle(first_tensor_->object).attr("device")));
  }
}

void CallArguments::refuse_tensor(nb::handle tensor, size_t index) const {
  std::string who = name_of(index) + " of kernel " + definition_.name;
  std::string kind = nb::cast<std::string>(tensor.attr("device").attr("type"));
  if (kind != "cpu" && kind != "cuda")
    fail(calling_line(), "{} is on {}, and kernels run on the cpu and on cuda devices", who,
         text_of(tensor.attr("device")));
  if (std::string layout = text_of(tensor.attr("layout")); layout != "torch.strided")
    fail(calling_line(), "{} is of layout {}; pass it with .to_dense()", who, layout);
  if (PyObject_Length(nb::object(tensor.attr("shape")).ptr()) > kMaxRank)
    fail(calling_line(), "{} has {} dimensions; kernels take up to {}", who,
         PyObject_Length(nb::object(tensor.attr("shape")).ptr()), kMaxRank);
  if (Torch::get().is_transformed(tensor.ptr()))
    fail(calling_line(),
         "{} is a tensor inside of torch.func or vmap, and kernels are not transformed by these; call the kernel "
         "outside",
         who);
  if (nb::cast<bool>(tensor.attr("is_complex")()))
    fail(calling_line(), "{} is of {}, which kernels do not take; pass torch.view_as_real of it", who,
         text_of(tensor.attr("dtype")));
  fail(calling_line(), "{} is of {}, which kernels do not take; convert it with .to()", who,
       text_of(tensor.attr("dtype")));
}

void CallArguments::refuse() const {
  std::string type = class_name(nb::handle(refused_object_));
  if (type == "ndarray")
    fail(calling_line(), "{} of kernel {} is a numpy array; pass torch.from_numpy({})", name_of(refused_),
         definition_.name, name_of(refused_));
  fail(calling_line(),
       "{} of kernel {} is a {}; an argument is a torch.Tensor, a number, a string, None, a dtype or a "
       "device",
       name_of(refused_), definition_.name, type);
}

void CallArguments::refuse_grad() const {
  fail(calling_line(),
       "{} of kernel {} requires grad, and the kernel has no backward; call it under torch.no_grad(), pass "
       "{}.detach(), or register one with register_backward",
       name_of(refused_), definition_.name, name_of(refused_));
}

//===----------------------------------------------------------------------===//
// For the compiler
//===----------------------------------------------------------------------===//

static constexpr char kPythonConstant = 0; // its address is the type of all constants

CompilerArguments::CompilerArguments(std::span<const CallArgument> arguments, const SourceLocation& location) {
  size_t count = arguments.size();
  arrays_.resize(count);
  numbers_.resize(count);
  keys_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const CallArgument& given = arguments[i];
    kept_.push_back(keep_alive(given.object));
    objects_.push_back(given.object);
    detail::Argument argument{};
    switch (given.kind) {
    case CallArgument::Kind::tensor:
      arrays_[i] = array_of(given.tensor, kept_.back(), location);
      argument.kind = detail::Argument::Kind::array;
      argument.data = &arrays_[i];
      break;
    case CallArgument::Kind::number:
      numbers_[i] = given.number;
      argument.kind = detail::Argument::Kind::number;
      argument.dtype = given.dtype;
      argument.size = sizeof(uint64_t);
      argument.data = &numbers_[i];
      break;
    case CallArgument::Kind::constant: {
      Key key;
      given.append_to(key);
      keys_[i] = key.text();
      argument.kind = detail::Argument::Kind::constant;
      argument.size = static_cast<uint32_t>(keys_[i].size());
      argument.data = keys_[i].data();
      argument.type = &kPythonConstant;
      break;
    }
    }
    arguments_.push_back(argument);
  }
}

} // namespace tilewright::python
