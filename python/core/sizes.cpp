// Host numbers and host work: Size, Tensor, check, empty, fill, and what the config says.
#include "python/core/bindings.h"
#include "python/core/operands.h"

#include "frontend/dsl_dynamic.h"
#include "support/error.h"

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>

#include <algorithm>
#include <map>

namespace tilewright::python {

// Python's // and %, which round down.
static Size floor_divide(const Size& a, const Size& b, bool remainder) {
  int64_t x = a.value(), y = b.value();
  if (y == 0) {
    PyErr_SetString(PyExc_ZeroDivisionError, "integer division or modulo by zero");
    throw nb::python_error();
  }
  if (y == -1) return remainder ? Size(0) : Size(0) - a; // INT64_MIN / -1
  int64_t quotient = x / y, rest = x % y;
  if (rest != 0 && (rest < 0) != (y < 0)) {
    quotient -= 1;
    rest += y;
  }
  return Size(remainder ? rest : quotient);
}

// An int or a Size; else none, for Python to try the other operand.
static std::optional<Size> other_of(nb::handle object) {
  if (nb::isinstance<Size>(object)) return nb::cast<Size>(object);
  if (PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr())) return size_of(object, {});
  return std::nullopt;
}

static nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

template <class Compute> static auto operation(Compute compute) {
  return [compute](const Size& self, nb::handle object) -> nb::object {
    std::optional<Size> other = other_of(object);
    return other ? nb::cast(compute(self, *other)) : not_implemented();
  };
}
template <class Compute> static auto reflected(Compute compute) {
  return operation([compute](const Size& a, const Size& b) { return compute(b, a); });
}
template <class Compare> static auto comparison(Compare compare) {
  return operation([compare](const Size& a, const Size& b) { return compare(a.value(), b.value()); });
}

static void bind_size(nb::module_& module) {
  auto add = [](const Size& a, const Size& b) { return a + b; };
  auto subtract = [](const Size& a, const Size& b) { return a - b; };
  auto multiply = [](const Size& a, const Size& b) { return a * b; };
  auto divide = [](const Size& a, const Size& b) { return floor_divide(a, b, false); };
  auto modulo = [](const Size& a, const Size& b) { return floor_divide(a, b, true); };
  nb::class_<Size>(module, "Size")
      .def(nb::init<int64_t>(), nb::arg("value"))
      .def_prop_ro("value", &Size::value)
      .def_prop_ro("is_symbolic", [](const Size& self) { return self.symbol().index != 0; })
      .def("__int__", &Size::value)
      .def("__index__", &Size::value)
      .def("__float__", [](const Size& self) { return static_cast<double>(self.value()); })
      .def("__bool__", [](const Size& self) { return self.value() != 0; })
      .def("__hash__", [](const Size& self) { return nb::hash(nb::cast(self.value())); })
      .def("__repr__", [](const Size& self) { return std::to_string(self.value()); })
      .def("__add__", operation(add))
      .def("__radd__", reflected(add))
      .def("__sub__", operation(subtract))
      .def("__rsub__", reflected(subtract))
      .def("__mul__", operation(multiply))
      .def("__rmul__", reflected(multiply))
      .def("__floordiv__", operation(divide))
      .def("__rfloordiv__", reflected(divide))
      .def("__mod__", operation(modulo))
      .def("__rmod__", reflected(modulo))
      .def("__neg__", [](const Size& self) { return -self; })
      .def("__eq__", comparison(std::equal_to<>()), nb::arg().none())
      .def("__ne__", comparison(std::not_equal_to<>()), nb::arg().none())
      .def("__lt__", comparison(std::less<>()))
      .def("__le__", comparison(std::less_equal<>()))
      .def("__gt__", comparison(std::greater<>()))
      .def("__ge__", comparison(std::greater_equal<>()));
}

static Condition compare(const Size& a, const std::string& comparison, const Size& b, const SourceLocation& location) {
  if (comparison == "==") return a == b;
  if (comparison == "!=") return a != b;
  if (comparison == "<") return a < b;
  if (comparison == "<=") return a <= b;
  if (comparison == ">") return a > b;
  if (comparison == ">=") return a >= b;
  fail(location, "there is no comparison {}", comparison);
}

// The recording's messages have {} for values; here they are filled in already.
static std::string without_places(std::string message) {
  for (size_t at; (at = message.find("{}")) != std::string::npos;) message.replace(at, 2, "{ }");
  return message;
}

static thread_local std::map<uint32_t, std::vector<int64_t>> noted_strides; // by the number of the tensor's handle

void note_strides(const Tensor& argument, std::span<const int64_t> strides) {
  noted_strides[argument.handle().index].assign(strides.begin(), strides.end());
}

void forget_strides() { noted_strides.clear(); }

static std::vector<int64_t> strides_of(const Tensor& tensor) {
  if (auto noted = noted_strides.find(tensor.handle().index); noted != noted_strides.end()) return noted->second;
  std::vector<int64_t> strides(tensor.rank({}));
  int64_t stride = 1;
  for (size_t dim = strides.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(tensor.size(static_cast<int>(dim), {}).value(), 1);
  }
  return strides;
}

void bind_host(nb::module_& module) {
  bind_size(module);
  nb::class_<Tensor>(module, "Tensor")
      .def_prop_ro("rank", [](const Tensor& self) { return self.rank({}); })
      .def_prop_ro("dtype", [](const Tensor& self) { return name_of_dtype(self.dtype({})); })
      .def_prop_ro("sizes",
                   [](const Tensor& self) {
                     std::vector<Size> sizes;
                     for (int dim = 0; dim < self.rank({}); ++dim) sizes.push_back(self.size(dim, {}));
                     return sizes;
                   })
      .def_prop_ro("strides", &strides_of);

  module.def(
      "check",
      [](nb::handle left, const std::string& comparison, nb::handle right, const std::string& message,
         const SourceLocation& location) {
        Condition condition = compare(size_of(left, location), comparison, size_of(right, location), location);
        detail::check({condition, location}, without_places(message).c_str(), nullptr, 0);
      },
      nb::arg("left"), nb::arg("comparison"), nb::arg("right"), nb::arg("message"), nb::kw_only(), nb::arg("location"));
  module.def(
      "cdiv",
      [](nb::handle a, nb::handle b, const SourceLocation& location) {
        Size x = size_of(a, location), y = size_of(b, location);
        if (x.value() < 0 || y.value() <= 0)
          fail(location, "cdiv takes a >= 0 and b > 0, found {} and {}", x.value(), y.value());
        return cdiv(x, y);
      },
      nb::arg("a"), nb::arg("b"), nb::kw_only(), nb::arg("location"));
  module.def(
      "next_power_of_2",
      [](nb::handle n, const SourceLocation& location) { return next_power_of_2(size_of(n, location)); }, nb::arg("n"),
      nb::kw_only(), nb::arg("location"));
  module.def(
      "empty",
      [](nb::handle sizes, nb::handle dtype, const SourceLocation& location) {
        std::vector<Size> list;
        for (nb::handle each : sizes) list.push_back(size_of(each, location));
        if (list.size() > SizeList::kMost)
          fail(location, "a tensor has at most {} dimensions, found {}", SizeList::kMost, list.size());
        return with_list(list, [&](std::initializer_list<Size> all) {
          return empty(SizeList(all), dtype_of_name(dtype, location), location);
        });
      },
      nb::arg("sizes"), nb::arg("dtype") = "float32", nb::kw_only(), nb::arg("location"));
  module.def(
      "fill",
      [](const Tensor& tensor, nb::handle value, const SourceLocation& location) {
        tensor.fill(operand_of(value, location), location);
      },
      nb::arg("tensor"), nb::arg("value"), nb::kw_only(), nb::arg("location"));
  module.def(
      "register_block_size",
      [](nb::handle extent, nb::handle least, const SourceLocation& location) {
        Size most = size_of(extent, location);
        RegisteredBlockSize block = least.is_none() ? register_block_size(most, location)
                                                    : register_block_size(size_of(least, location), most, location);
        return DeviceValue(block.variable());
      },
      nb::arg("extent"), nb::arg("least") = nb::none(), nb::kw_only(), nb::arg("location"));
  module.def(
      "host_number",
      [](const DeviceValue& block, const SourceLocation& location) {
        return detail::host_number(block.value(), location).value();
      },
      nb::arg("block"), nb::kw_only(), nb::arg("location"));
  module.def(
      "register_tunable",
      [](const std::string& name, const std::vector<int64_t>& choices, const SourceLocation& location) {
        return detail::register_tunable(name, choices, location).value();
      },
      nb::arg("name"), nb::arg("choices"), nb::kw_only(), nb::arg("location"));
}

} // namespace tilewright::python
