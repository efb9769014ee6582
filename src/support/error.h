// The one place where errors to users are made: fail() formats a message in fmt's syntax and throws an Error.
#pragma once

#include "tilewright/error.h"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace tilewright {

// Throws Error. Not a template and not inline, so that the throw stands in a file compiled with RTTI.
[[noreturn]] void throw_error(const SourceLocation& location, const std::string& message);

template <class... Args>
[[noreturn]] void fail(const SourceLocation& location, fmt::format_string<Args...> message, Args&&... args) {
  throw_error(location, fmt::format(message, std::forward<Args>(args)...));
}

// For errors that no line of the user's is to blame for, such as a file that cannot be written.
template <class... Args> [[noreturn]] void fail(fmt::format_string<Args...> message, Args&&... args) {
  throw_error(SourceLocation(), fmt::format(message, std::forward<Args>(args)...));
}

} // namespace tilewright
