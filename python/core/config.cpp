// Config and Settings as Python objects.
#include "python/core/config.h"
#include "python/core/bindings.h"
#include "python/core/errors.h"

#include "autotune/effort.h"
#include "support/error.h"

#include <nanobind/stl/optional.h>

namespace tilewright::python {

static ConfigValue value_of(nb::handle object, const std::string& option) {
  if (object.is_none()) return nullptr;
  if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
  if (PyLong_Check(object.ptr())) return nb::cast<int64_t>(object);
  if (PyUnicode_Check(object.ptr())) return nb::cast<std::string>(object);
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    ConfigValue::List list;
    for (nb::handle each : object) list.push_back(value_of(each, option));
    return list;
  }
  fail("config option {} is a {}; a value is None, a bool, an int, a string, or a list of these", option,
       text_of(object.type().attr("__name__")));
}

static nb::object python_of(const ConfigValue& value) {
  if (value.is_null()) return nb::none();
  if (value.is_bool()) return nb::bool_(value.as_bool());
  if (value.is_int()) return nb::int_(value.as_int());
  if (value.is_string()) return nb::cast(value.as_string());
  nb::list list;
  for (const ConfigValue& each : value.as_list()) list.append(python_of(each));
  return list;
}

AutotuneEffort autotune_effort_of(const std::string& text) {
  if (text == "none") return AutotuneEffort::none;
  if (text == "quick") return AutotuneEffort::quick;
  if (text == "full") return AutotuneEffort::full;
  fail("autotune_effort is \"{}\"; it is none, quick or full", text);
}

static std::string effort_name(AutotuneEffort effort) {
  switch (effort) {
  case AutotuneEffort::none: return "none";
  case AutotuneEffort::quick: return "quick";
  case AutotuneEffort::full: return "full";
  }
  return "none";
}

static std::optional<std::string> effort_name(const std::optional<AutotuneEffort>& effort) {
  return effort ? std::optional(effort_name(*effort)) : std::nullopt;
}
static std::optional<AutotuneEffort> effort_of_name(const std::optional<std::string>& name) {
  return name ? std::optional(autotune_effort_of(*name)) : std::nullopt;
}

void bind_config(nb::module_& module) {
  nb::class_<Config>(module, "Config")
      .def(
          "__init__",
          [](Config* self, nb::handle options) {
            Config config;
            nb::dict items;
            items.update(options);
            for (auto [name, value] : items) {
              std::string option = nb::cast<std::string>(nb::handle(name));
              config.set(option, value_of(value, option));
            }
            new (self) Config(std::move(config));
          },
          nb::arg("options") = nb::dict())
      .def_static(
          "from_json", [](const std::string& text) { return Config::from_json(text); }, nb::arg("text"))
      .def("to_json", &Config::to_json)
      .def("to_dict",
           [](const Config& self) {
             nb::dict options;
             for (const ConfigOption& option : self.options()) options[option.name.c_str()] = python_of(option.value);
             return options;
           })
      .def("__getitem__",
           [](const Config& self, const std::string& name) {
             const ConfigValue* found = self.find(name);
             if (!found) throw nb::key_error(name.c_str());
             return python_of(*found);
           })
      .def("__contains__",
           [](const Config& self, nb::handle name) {
             return PyUnicode_Check(name.ptr()) && self.has(nb::cast<std::string>(name));
           })
      .def(
          "__eq__",
          [](const Config& self, nb::handle other) {
            return nb::isinstance<Config>(other) && self == nb::cast<const Config&>(other);
          },
          nb::arg().none())
      .def("__hash__", [](const Config& self) { return static_cast<Py_hash_t>(self.hash() >> 1); })
      .def("__repr__", [](const Config& self) { return "Config(" + self.to_json() + ")"; });

  nb::class_<Settings>(module, "Settings")
      .def(
          "__init__",
          [](Settings* self, const std::optional<Config>& config, const std::optional<std::string>& effort,
             std::optional<double> budget) { new (self) Settings{config, effort_of_name(effort), budget, true}; },
          nb::arg("config") = nb::none(), nb::arg("autotune_effort") = nb::none(),
          nb::arg("autotune_budget_seconds") = nb::none())
      .def_rw("config", &Settings::config, nb::arg().none())
      .def_prop_rw(
          "autotune_effort", [](const Settings& self) { return effort_name(self.autotune_effort); },
          [](Settings& self, const std::optional<std::string>& name) { self.autotune_effort = effort_of_name(name); },
          nb::arg().none())
      .def_rw("autotune_budget_seconds", &Settings::autotune_budget_seconds, nb::arg().none());
}

} // namespace tilewright::python
