#include "python/core/errors.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace tilewright::python {

static PyObject* error_type = nullptr; // lives as long as the interpreter

SourceLocation make_location(std::string_view file, uint32_t line, uint32_t column) {
  static auto* files = new std::unordered_set<std::string>(); // never freed: locations in compiled kernels refer to it
  return {files->emplace(file).first->c_str(), line, column};
}

std::string text_of(nb::handle object) {
  nb::object text = nb::steal(PyObject_Str(object.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  return nb::cast<std::string>(text);
}

// Of a function of this package, between the user and the core.
static bool is_ours(nb::handle frame) {
  nb::object name = frame.attr("f_globals").attr("get")("__name__");
  if (!PyUnicode_Check(name.ptr())) return false;
  std::string module = nb::cast<std::string>(name);
  return module == "tilewright" || module.starts_with("tilewright.");
}

SourceLocation calling_line() {
  nb::object frame = nb::steal(PyObject_CallMethod(nb::module_::import_("sys").ptr(), "_getframe", nullptr));
  if (!frame.is_valid()) {
    PyErr_Clear();
    return {};
  }
  while (!frame.is_none() && is_ours(frame)) frame = frame.attr("f_back");
  if (frame.is_none()) return {};
  return make_location(nb::cast<std::string>(frame.attr("f_code").attr("co_filename")),
                       nb::cast<uint32_t>(frame.attr("f_lineno")), 0);
}

std::string in_python_words(std::string_view message) {
  // What a name of the DSL is called in Python, where it is not just without its tw::.
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"for (auto tile : tw::tile(n))", "for tile in twl.tile(n)"},
      {"tw::if_", "if"},
      {"tw::while_", "while"},
      {"tw::tile", "twl.tile"},
      {"tw::grid", "twl.grid"},
      {"tw::barrier", "twl.barrier"},
      {"tw::register_block_size", "twl.register_block_size"},
      {"tw::register_tunable", "twl.register_tunable"},
      {"tw::jagged_tile", "twl.jagged_tile"},
      {"tw::rand", "twl.rand"}, // and randn, randint, rand4x
      {"tw::cdiv", "tw.cdiv"},
      {"tw::next_power_of_2", "tw.next_power_of_2"},
      {"tw::kernel", "tw.kernel"},
      {"tile.begin()", "tile.begin"},
      {"tile.end()", "tile.end"},
      {"tile.index()", "tile.index"},
      {"tile.id()", "tile.id"},
      {"tile.count()", "tile.count"},
      {"tile.block_size()", "tile.block_size"},
      {"tw::load", "twl.load"},
      {"tw::store", "twl.store"},
      {"tw::reduce", "twl.reduce"},
      {"tw::associative_scan", "twl.associative_scan"},
      {"tw::dot", "twl.dot"},
      {"tw::Value", "device value"},
      {"tw::Tensor", "tensor"},
      {"tw::Tile", "tile"},
      {"tw::Size", "size"},
      {"tw::Array", "torch.Tensor"},
      {"tw::slice_from(begin, length)", "begin : begin + length"},
      {"tw::none", "None"},
      {"tw::ellipsis", "..."},
      {"tw::_", ":"},
      {"tw::check", "assert"},
      {"tw::print", "print"},
      {"tw::boolean", "torch.bool"},
      {"tw::atomic_", "twl.atomic_"},
      {"tw::", "torch."},
  };
  std::string text;
  while (!message.empty()) {
    const auto* found = std::find_if(std::begin(kWords), std::end(kWords),
                                     [&](const auto& word) { return message.starts_with(word.first); });
    if (found == std::end(kWords)) {
      text += message.front();
      message.remove_prefix(1);
    } else {
      text += found->second;
      message.remove_prefix(found->first.size());
    }
  }
  return text;
}

// what() without the place that it begins with.
static std::string message_of(const Error& error) {
  std::string_view message = error.what();
  if (!error.location().known()) return std::string(message);
  std::string place = std::string(error.location().file) + ":" + std::to_string(error.location().line) + ": ";
  if (message.starts_with(place)) message.remove_prefix(place.size());
  return std::string(message);
}

void set_python_error(const Error& error) {
  try {
    std::string message = in_python_words(message_of(error));
    nb::object location = error.location().known() ? nb::cast(error.location()) : nb::none();
    nb::object instance = nb::borrow(error_type)(message, location);
    PyErr_SetObject(error_type, instance.ptr());
  } catch (nb::python_error& failed) {
    failed.restore();
  }
}

//===----------------------------------------------------------------------===//
// The exception type
//===----------------------------------------------------------------------===//

// Error(message, location=None)
static int init_error(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"message", "location", nullptr};
  PyObject *message = nullptr, *location = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|O:Error", const_cast<char**>(names), &message, &location))
    return -1;
  try {
    nb::handle object(self);
    nb::object text = nb::borrow(message);
    SourceLocation where;
    if (location != Py_None) where = nb::cast<SourceLocation>(nb::handle(location));
    if (where.known())
      text = nb::cast(std::string(where.file) + ":" + std::to_string(where.line) + ": " +
                      nb::cast<std::string>(nb::handle(message)));
    nb::setattr(object, "args", nb::make_tuple(text));
    nb::setattr(object, "message", nb::handle(message));
    nb::setattr(object, "file", where.known() ? nb::cast(where.file) : nb::none());
    nb::setattr(object, "line", nb::cast(where.line));
    nb::setattr(object, "column", nb::cast(where.column));
  } catch (nb::python_error& failed) {
    failed.restore();
    return -1;
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "the location of an Error is a Location or None");
    return -1;
  }
  return 0;
}

static PyObject* make_error_type() {
  PyType_Slot slots[] = {
      {Py_tp_init, reinterpret_cast<void*>(init_error)},
      {Py_tp_doc,
       const_cast<char*>("Everything Tilewright raises about a kernel or a call: message, file, line, column.")},
      {0, nullptr},
  };
  PyType_Spec spec = {"tilewright.Error", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  nb::object bases = nb::make_tuple(nb::handle(PyExc_Exception));
  PyObject* type = PyType_FromSpecWithBases(&spec, bases.ptr());
  if (!type) throw nb::python_error();
  return type;
}

void bind_errors(nb::module_& module) {
  nb::class_<SourceLocation>(module, "Location")
      .def(
          "__init__",
          [](SourceLocation* self, std::string_view file, uint32_t line, uint32_t column) {
            new (self) SourceLocation(make_location(file, line, column));
          },
          nb::arg("file"), nb::arg("line"), nb::arg("column") = 0)
      .def_prop_ro("file", [](const SourceLocation& self) { return std::string_view(self.file); })
      .def_prop_ro("line", [](const SourceLocation& self) { return self.line; })
      .def_prop_ro("column", [](const SourceLocation& self) { return self.column; })
      .def("__repr__", [](const SourceLocation& self) {
        return "Location('" + std::string(self.file) + "', " + std::to_string(self.line) + ", " +
               std::to_string(self.column) + ")";
      });

  error_type = make_error_type();
  module.attr("Error") = nb::handle(error_type);
  nb::register_exception_translator([](const std::exception_ptr& exception, void*) {
    try {
      std::rethrow_exception(exception);
    } catch (const Error& error) {
      set_python_error(error);
    }
  });
}

} // namespace tilewright::python
