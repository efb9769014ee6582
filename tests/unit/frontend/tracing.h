// For tests of the frontend: kernels that are recorded and not run, and checks of what was recorded.
#pragma once

#include "frontend/trace_to_text.h"
#include "tilewright/tilewright.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tilewright::testing {

/// The tile IR of a call.
template <class F, class... Args> std::string trace_of(const Kernel<F>& kernel, const Args&... args) {
  return trace_to_text(kernel.bind(args...));
}

/// The tile IR of a kernel that computes f(x[tile], y[tile], ...) from vectors of these dtypes, 100 elements each.
template <class F, class... DTypes> std::string trace_pointwise(F f, DType dtype, DTypes... more) {
  auto vector = [](DType dtype) { return Array::empty({100}, dtype); };
  if constexpr (sizeof...(more) == 0) {
    auto kernel = tilewright::kernel("pointwise", [f](Tensor x) {
      auto out = empty_like(x);
      for (auto tile : tilewright::tile(x.size(0))) out[tile] = f(x[tile]);
      return out;
    });
    return trace_of(kernel, vector(dtype));
  } else {
    auto kernel = tilewright::kernel("pointwise", [f](Tensor x, Tensor y) {
      auto out = empty_like(x);
      for (auto tile : tilewright::tile(x.size(0))) out[tile] = f(x[tile], y[tile]);
      return out;
    });
    return trace_of(kernel, vector(dtype), vector(more)...);
  }
}

/// An Error as a user reads it: the message without the place, and the place.
struct UserError {
  std::string message;
  unsigned line = 0;
  std::string file;
};

template <class Action> UserError error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    UserError found{error.what(), error.location().line, ""};
    if (!error.location().known()) return found;
    found.file = error.location().file;
    std::string place = found.file + ":" + std::to_string(found.line) + ": ";
    if (found.message.starts_with(place)) found.message = found.message.substr(place.size());
    return found;
  }
  return {"nothing was thrown", 0, ""};
}

/// Each run of spaces as one.
inline std::string single_spaced(std::string_view text) {
  std::string result;
  for (char c : text)
    if (c != ' ' || result.empty() || result.back() != ' ') result += c;
  return result;
}

/// `spaced` holds `pieces` in this order, however many spaces are between words.
inline ::testing::AssertionResult holds(std::string_view spaced, std::initializer_list<std::string_view> pieces) {
  std::string text = single_spaced(spaced);
  size_t at = 0;
  for (std::string_view piece : pieces) {
    size_t found = text.find(piece, at);
    if (found == std::string::npos)
      return ::testing::AssertionFailure() << "\"" << piece << "\" is missing, or not after those before it, in:\n"
                                           << text;
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

/// `action` throws an Error with this text, at this line of this file.
#define EXPECT_ERROR_AT(expected_line, text, ...)                                                                      \
  do {                                                                                                                 \
    auto found_error = ::tilewright::testing::error_of([&] { (void)(__VA_ARGS__); });                                  \
    EXPECT_EQ(found_error.message, text);                                                                              \
    EXPECT_EQ(found_error.line, static_cast<unsigned>(expected_line));                                                 \
    EXPECT_EQ(found_error.file, __FILE__);                                                                             \
  } while (false)
