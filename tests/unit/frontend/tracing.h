// For tests of the frontend: kernels that are recorded and not run, and checks of what was recorded.
#pragma once

#include "frontend/traced_kernel.h"
#include "tilewright/tilewright.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tilewright::testing {

/// The tile IR of a call, on one line per op.
template <class F, class... Args>
std::string trace_of(const Kernel<F>& kernel, const Args&... args) {
  return trace_to_text(kernel.bind(args...));
}

/// The Error that recording a call throws.
struct TraceError {
  std::string message; // without the place
  unsigned line = 0;
  std::string file;
};

template <class F, class... Args>
TraceError error_of(const Kernel<F>& kernel, const Args&... args) {
  try {
    trace_to_text(kernel.bind(args...));
  } catch (const Error& error) {
    TraceError found{error.what(), error.location().line, ""};
    if (!error.location().known()) return found;
    found.file = error.location().file;
    std::string place = found.file + ":" + std::to_string(found.line) + ": ";
    if (found.message.starts_with(place)) found.message = found.message.substr(place.size());
    return found;
  }
  return {"nothing was thrown", 0, ""};
}

/// `text` holds `pieces` in this order.
inline ::testing::AssertionResult holds(const std::string& text, std::initializer_list<std::string_view> pieces) {
  size_t at = 0;
  for (std::string_view piece : pieces) {
    size_t found = text.find(piece, at);
    if (found == std::string::npos)
      return ::testing::AssertionFailure() << "\"" << piece << "\" is missing, or not after those before it, in:\n" << text;
    at = found + piece.size();
  }
  return ::testing::AssertionSuccess();
}

/// How often `piece` stands in `text`.
inline int count(const std::string& text, std::string_view piece) {
  int n = 0;
  for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + piece.size())) ++n;
  return n;
}

} // namespace tilewright::testing

/// The error's message and line as a user reads them.
#define EXPECT_TRACE_ERROR(call_line, text, ...) \
  do { \
    auto error = ::tilewright::testing::error_of(__VA_ARGS__); \
    EXPECT_EQ(error.message, text); \
    EXPECT_EQ(error.line, unsigned(call_line)); \
    EXPECT_EQ(error.file, __FILE__); \
  } while (false)
