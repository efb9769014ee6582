#include "python/core/operands.h"

#include "frontend/dsl_dynamic.h"
#include "support/error.h"

namespace tilewright::python {

std::string class_name(nb::handle object) {
  return nb::cast<std::string>(
      nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__")));
}

// An int that fits int64.
static int64_t whole_number(nb::handle object, const SourceLocation& location) {
  int overflow = 0;
  int64_t number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) fail(location, "{} does not fit int64", text_of(object));
  if (number == -1 && PyErr_Occurred()) throw nb::python_error();
  return number;
}

Operand operand_of(nb::handle object, const SourceLocation& location) {
  if (nb::isinstance<DeviceValue>(object)) return Operand(nb::cast<const DeviceValue&>(object).value(), location);
  if (PyBool_Check(object.ptr())) return Operand(object.ptr() == Py_True, location);
  if (PyLong_Check(object.ptr())) return Operand(whole_number(object, location), location);
  if (PyFloat_Check(object.ptr())) return Operand(PyFloat_AsDouble(object.ptr()), location);
  if (nb::isinstance<Size>(object)) return Operand(nb::cast<const Size&>(object), location);
  if (nb::isinstance<Tile>(object)) fail(location, "a tile is no number; tile.index has its indices");
  if (nb::isinstance<Tensor>(object))
    fail(location, "a tensor in memory is no device value; read it with a subscript, as in x[tile]");
  fail(location, "expected a device value or a number, found {}", class_name(object));
}

std::vector<Operand> operands_of(nb::handle sequence, const SourceLocation& location) {
  std::vector<Operand> operands;
  for (nb::handle each : sequence) operands.push_back(operand_of(each, location));
  return operands;
}

Size size_of(nb::handle object, const SourceLocation& location) {
  if (nb::isinstance<Size>(object)) return nb::cast<Size>(object);
  if (PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr())) return Size(whole_number(object, location));
  fail(location, "expected a whole number, found {}", class_name(object));
}

int int_of(nb::handle object, const SourceLocation& location) {
  int64_t number = size_of(object, location).value();
  if (number != static_cast<int>(number)) fail(location, "{} is too large", number);
  return static_cast<int>(number);
}

DType dtype_of_name(nb::handle object, const SourceLocation& location) {
  std::string text = text_of(object);
  std::string_view name = text;
  if (name.starts_with("torch.")) name.remove_prefix(6);
  if (std::optional<DType> dtype = dtype_from_name(name)) return *dtype;
  fail(location, "kernels do not take the dtype {}", text);
}

nb::object name_of_dtype(DType dtype) { return nb::cast(name(dtype)); }

//===----------------------------------------------------------------------===//
// Shapes, dimensions, subscripts
//===----------------------------------------------------------------------===//

Shape shape_of(nb::handle sequence, const SourceLocation& location) {
  std::vector<ShapeDim> dims;
  for (nb::handle each : sequence) {
    if (nb::isinstance<Tile>(each))
      dims.emplace_back(nb::cast<const Tile&>(each));
    else if (nb::isinstance<DeviceValue>(each))
      dims.emplace_back(nb::cast<const DeviceValue&>(each).value());
    else
      dims.emplace_back(size_of(each, location));
  }
  if (dims.size() > Shape::kMost)
    fail(location, "a value has at most {} dimensions, found {}", Shape::kMost, dims.size());
  return with_list(dims, [](std::initializer_list<ShapeDim> list) { return Shape(list); });
}

Dims dims_of(nb::handle object, const SourceLocation& location) {
  if (object.is_none()) return {};
  if (PyLong_Check(object.ptr()) || nb::isinstance<Size>(object)) return {int_of(object, location)};
  std::vector<int> dims;
  for (nb::handle each : object) dims.push_back(int_of(each, location));
  if (dims.size() > kMaxRank) fail(location, "a value has at most {} dimensions, found {}", kMaxRank, dims.size());
  return with_list(dims, [](std::initializer_list<int> list) { return Dims(list); });
}

void Subscripts::add(nb::handle object, const SourceLocation& location) {
  auto bound = [&](nb::handle each) -> Slice::Bound {
    if (each.is_none()) return none;
    if (nb::isinstance<DeviceValue>(each)) return {nb::cast<const DeviceValue&>(each).value(), location};
    return {size_of(each, location), location};
  };
  auto add_tile = [&](nb::handle tile) {
    tiles_.push_back(nb::cast<const Tile&>(tile));
    list_.emplace_back(tiles_.back(), location);
  };
  if (nb::isinstance<Tile>(object)) {
    add_tile(object);
  } else if (nb::isinstance<DeviceValue>(object)) {
    Value index = nb::cast<const DeviceValue&>(object).value();
    list_.emplace_back(index, location);
  } else if (object.is_none()) {
    list_.emplace_back(none, location);
  } else if (object.ptr() == Py_Ellipsis) {
    list_.emplace_back(ellipsis, location);
  } else if (PySlice_Check(object.ptr())) {
    nb::object begin = object.attr("start"), end = object.attr("stop"), step = object.attr("step");
    if (begin.is_none() && end.is_none() && step.is_none()) {
      list_.emplace_back(_, location);
    } else {
      slices_.push_back(slice(bound(begin), bound(end), step.is_none() ? Slice::Bound(1) : bound(step)));
      list_.emplace_back(slices_.back(), location);
    }
  } else if (nb::isinstance<SliceFrom>(object)) {
    const SliceFrom& from = nb::cast<const SliceFrom&>(object);
    slices_.push_back(slice_from(bound(from.begin), bound(from.length)));
    list_.emplace_back(slices_.back(), location);
  } else if (PyTuple_Check(object.ptr())) {
    for (nb::handle each : object) {
      if (!nb::isinstance<Tile>(each))
        fail(location, "a tuple as a subscript is one of tiles, found {}", class_name(each));
      add_tile(each);
    }
  } else if (nb::isinstance<Size>(object)) {
    list_.emplace_back(nb::cast<const Size&>(object), location);
  } else if (PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr())) {
    list_.emplace_back(whole_number(object, location), location);
  } else {
    fail(location, "a subscript is a tile, a slice, a number, an index tensor, None or ..., found {}",
         class_name(object));
  }
}

Subscripts::Subscripts(nb::handle sequence, const SourceLocation& location) {
  for (nb::handle each : sequence) add(each, location);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void bind_operands(nb::module_& module) {
  nb::class_<DeviceValue>(module, "Value")
      .def_prop_ro("dtype", [](const DeviceValue& self) { return name_of_dtype(self.value().dtype({})); })
      .def_prop_ro("rank", [](const DeviceValue& self) { return self.value().rank({}); })
      .def_prop_ro("shape", [](const DeviceValue& self) {
        nb::list shape;
        for (const std::variant<Size, Value>& length : detail::shape_of(self.value(), {})) {
          if (const Size* size = std::get_if<Size>(&length))
            shape.append(*size);
          else
            shape.append(DeviceValue(std::get<Value>(length)));
        }
        return shape;
      });

  nb::class_<Variable>(module, "Variable")
      .def(nb::init<>())
      .def_prop_ro("has_value", [](const Variable& self) { return self.value.variable().index != 0; })
      .def(
          "read",
          [](const Variable& self, const SourceLocation& location) {
            if (self.value.variable().index == 0) fail(location, "a name is used before it is given a value");
            return DeviceValue(detail::copy(self.value, location));
          },
          nb::kw_only(), nb::arg("location"))
      .def(
          "assign",
          [](Variable& self, nb::handle value, const SourceLocation& location) {
            detail::assign(self.value, operand_of(value, location), location);
          },
          nb::arg("value"), nb::kw_only(), nb::arg("location"));

  nb::class_<Tile>(module, "Tile");
  nb::class_<SliceFrom>(module, "SliceFrom")
      .def(
          "__init__",
          [](SliceFrom* self, nb::object begin, nb::object length) {
            new (self) SliceFrom{std::move(begin), std::move(length)};
          },
          nb::arg("begin").none(), nb::arg("length").none());
}

} // namespace tilewright::python
