// Locations and errors as Python sees them: _core.Location and _core.Error.
#pragma once

#include "tilewright/error.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h> // where these are missing, a cast of a string compiles and fails at run time
#include <nanobind/stl/string_view.h>

#include <string>
#include <string_view>

namespace tilewright::python {

namespace nb = nanobind;

/// A location whose file name is kept as long as the process lives. Needs the interpreter lock.
SourceLocation make_location(std::string_view file, uint32_t line, uint32_t column);

/// str(object).
std::string text_of(nb::handle object);

/// The line of Python that is being run, for errors of calls; unknown where there is none.
SourceLocation calling_line();

/// A message of the C++ DSL as a Python user would write its names: "twl.tile" for "tw::tile".
std::string in_python_words(std::string_view message);

/// Sets Python's error to a _core.Error for a C++ one.
void set_python_error(const Error& error);

void bind_errors(nb::module_& module);

} // namespace tilewright::python
