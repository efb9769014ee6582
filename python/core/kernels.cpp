// Kernel, Recorded and Constant as Python objects, and the number of threads.
#include "python/core/bindings.h"
#include "python/core/config.h"
#include "python/core/kernel.h"
#include "python/core/operands.h"

#include "support/error.h"
#include "tilewright/device.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

namespace tilewright::python {

//===----------------------------------------------------------------------===//
// Kernel's slots
//===----------------------------------------------------------------------===//

// The way of every call, without nanobind's dispatch.
static PyObject* call_kernel(PyObject* self, PyObject* args, PyObject* kwargs) {
  try {
    return nb::inst_ptr<Kernel>(nb::handle(self))->call(args, kwargs).release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Error& error) {
    set_python_error(error);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// Callbacks are methods of what holds the kernel, more often than not.
static int traverse_kernel(PyObject* self, visitproc visit, void* arg) {
#if PY_VERSION_HEX >= 0x03090000
  Py_VISIT(Py_TYPE(self));
#endif
  if (!nb::inst_ready(nb::handle(self))) return 0;
  Kernel* kernel = nb::inst_ptr<Kernel>(nb::handle(self));
  Py_VISIT(kernel->options.record.ptr());
  Py_VISIT(kernel->options.prepare.ptr());
  Py_VISIT(kernel->autograd.ptr());
  Py_VISIT(kernel->dispatched.ptr());
  return 0;
}

static int clear_kernel(PyObject* self) {
  Kernel* kernel = nb::inst_ptr<Kernel>(nb::handle(self));
  kernel->options.record = nb::none();
  kernel->options.prepare = nb::none();
  kernel->autograd = nb::none();
  kernel->dispatched = nb::none();
  return 0;
}

static PyType_Slot kernel_slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(call_kernel)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse_kernel)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_kernel)},
    {0, nullptr},
};

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static Recorded recorded_of(nb::handle results, nb::handle finish) {
  Recorded recorded;
  for (nb::handle each : results) {
    if (!nb::isinstance<Tensor>(each))
      fail("a kernel gives back tensors in memory, found {} as result {}", class_name(each), recorded.results.size());
    recorded.results.push_back(nb::cast<const Tensor&>(each));
  }
  if (!PyUnicode_Check(finish.ptr())) {
    recorded.finish = Recorded::Finish::call;
    recorded.function = nb::borrow(finish);
    return recorded;
  }
  std::string name = nb::cast<std::string>(finish);
  if (name == "none")
    recorded.finish = Recorded::Finish::none;
  else if (name == "one" && recorded.results.size() == 1)
    recorded.finish = Recorded::Finish::one;
  else if (name == "tuple")
    recorded.finish = Recorded::Finish::tuple;
  else
    fail("a Recorded of {} results is no \"{}\"", recorded.results.size(), name);
  return recorded;
}

void bind_kernels(nb::module_& module) {
  nb::class_<Constant>(module, "Constant")
      .def(
          "__init__",
          [](Constant* self, nb::object value, const nb::bytes& key) {
            new (self) Constant{std::move(value), std::string(key.c_str(), key.size())};
          },
          nb::arg("value").none(), nb::arg("key"))
      .def_prop_ro("value", [](const Constant& self) { return self.value; })
      .def_prop_ro("key", [](const Constant& self) { return nb::bytes(self.key.data(), self.key.size()); });

  nb::class_<Recorded>(module, "Recorded")
      .def(
          "__init__",
          [](Recorded* self, nb::handle results, nb::handle finish) {
            new (self) Recorded(recorded_of(results, finish));
          },
          nb::arg("results"), nb::arg("finish"));

  nb::class_<Kernel>(module, "Kernel", nb::type_slots(kernel_slots))
      .def(
          "__init__",
          [](Kernel* self, const std::string& name, std::vector<std::string> argument_names, nb::object record,
             const SourceLocation& location, nb::handle constants, nb::object prepare, bool prepare_always, bool triton,
             const std::optional<Settings>& settings) {
            Kernel::Options options{{}, std::move(record), std::move(prepare), prepare_always, triton};
            for (nb::handle each : constants) {
              auto index = nb::cast<size_t>(each);
              if (options.constants.size() <= index) options.constants.resize(index + 1);
              options.constants[index] = true;
            }
            new (self)
                Kernel({name, location, std::move(argument_names)}, std::move(options), settings.value_or(Settings()));
          },
          nb::arg("name"), nb::arg("argument_names"), nb::arg("record"), nb::kw_only(), nb::arg("location"),
          nb::arg("constants") = nb::make_tuple(), nb::arg("prepare") = nb::none(), nb::arg("prepare_always") = false,
          nb::arg("triton") = false, nb::arg("settings") = nb::none())
      .def_prop_ro("name", [](const Kernel& self) { return self.definition().name; })
      .def_prop_ro("settings", [](const Kernel& self) { return self.settings(); })
      .def_rw("autograd", &Kernel::autograd, nb::arg().none())
      .def_rw("dispatched", &Kernel::dispatched, nb::arg().none())
      .def("with_settings", &Kernel::with, nb::arg("settings"))
      .def("reset", &Kernel::reset);

  module.def("recording_device", &recording_device);
  module.def("num_threads", &num_threads);
  module.def("set_num_threads", &limit_threads, nb::arg("count"));
}

} // namespace tilewright::python
