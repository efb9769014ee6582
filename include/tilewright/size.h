// Host integers: the sizes of tensors, and what a kernel's host part computes from them.
#pragma once

#include "tilewright/error.h"

#include <concepts>
#include <cstdint>
#include <source_location>
#include <type_traits>

namespace tilewright {

namespace detail {

// Names something of one recording of a kernel: a value, a tile, a tensor or a symbolic size. Index 0 is none.
struct Handle {
  uint32_t recording = 0;
  uint32_t index = 0;
};

template <class> inline constexpr bool kNever = false;

} // namespace detail

class Condition;

// A whole number on the host, such as the size of a tensor's dimension. It has a value, and knows how it depends on the
// sizes of the kernel's arguments as long as only +, - and * are used. What else is done with its value, such as an
// `if` on it or a division, holds for this specialisation of the kernel: with run-time sizes, a call for which it has
// another outcome is another specialisation. On the device it is a plain number.
class Size {
public:
  Size() = default;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Size(T value) : value_(static_cast<int64_t>(value)) {}

  // The number, on which the recording depends from here on: with run-time sizes, each is another specialisation.
  int64_t value() const { return symbol_.index == 0 ? value_ : specialize(*this).value_; }
  // double(n), int(n): for computing with C++ numbers.
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
  explicit operator T() const {
    return static_cast<T>(value());
  }
  // The number that this call has, for messages and for what the recording does not depend on.
  int64_t traced_value() const { return value_; }

  // The size as a constant of the specialisation, where sizes are known at run time only.
  friend Size specialize(const Size& size);

  friend Size operator+(const Size& a, const Size& b);
  friend Size operator-(const Size& a, const Size& b);
  friend Size operator*(const Size& a, const Size& b);
  // As in C++: rounds toward zero. Throw Error where b is 0.
  friend Size operator/(const Size& a, const Size& b);
  friend Size operator%(const Size& a, const Size& b);
  friend Size operator-(const Size& a) { return Size(0) - a; }
  Size& operator+=(const Size& other) { return *this = *this + other; }
  Size& operator-=(const Size& other) { return *this = *this - other; }
  Size& operator*=(const Size& other) { return *this = *this * other; }
  Size& operator/=(const Size& other) { return *this = *this / other; }

  friend Condition operator==(const Size& a, const Size& b);
  friend Condition operator!=(const Size& a, const Size& b);
  friend Condition operator<(const Size& a, const Size& b);
  friend Condition operator<=(const Size& a, const Size& b);
  friend Condition operator>(const Size& a, const Size& b);
  friend Condition operator>=(const Size& a, const Size& b);

  // How it depends on the arguments' sizes, for the recording; no index: not at all.
  const detail::Handle& symbol() const { return symbol_; }
  Size(int64_t value, detail::Handle symbol) : value_(value), symbol_(symbol) {}

private:
  int64_t value_ = 0;
  detail::Handle symbol_;
};

Size specialize(const Size& size);
Size min(const Size& a, const Size& b);
Size max(const Size& a, const Size& b);
// a / b rounded up, for b > 0 and a >= 0. Throws Error for other numbers.
Size cdiv(const Size& a, const Size& b);
// The smallest power of two that is at least n; 1 for n < 1.
Size next_power_of_2(const Size& n);

// Whether two host integers compare as asked. It is known while the kernel is recorded, so `if (m > 4)` does what it
// says for each specialisation.
class Condition {
public:
  enum class Comparison : uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

  Condition(Comparison comparison, const Size& left, const Size& right, bool value)
      : comparison_(comparison), value_(value), left_(left), right_(right) {}

  // The outcome, on which the recording depends from here on.
  bool value() const;
  explicit operator bool() const { return value(); }
  bool traced_value() const { return value_; }

  Comparison comparison() const { return comparison_; }
  const Size& left() const { return left_; }
  const Size& right() const { return right_; }

private:
  Comparison comparison_;
  bool value_;
  Size left_, right_;
};

namespace detail {

// The first parameter of check(): a condition, and the line of the call.
struct Check {
  Check(const Condition& condition, SourceLocation location = std::source_location::current())
      : condition(&condition), holds(condition.traced_value()), location(location) {}
  template <std::same_as<bool> T>
  Check(T holds, SourceLocation location = std::source_location::current()) : holds(holds), location(location) {}

  const Condition* condition = nullptr; // none: a bool, settled in this specialisation
  bool holds;
  SourceLocation location;
};

void check(const Check& check, const char* message, const Size* values, int count);

} // namespace detail

// Refuses a call of the kernel whose sizes do not fit, before anything is allocated or written:
//   tw::check(k == k2, "inner sizes differ: {} and {}", k, k2);
// `message` has one {} for each of `values`. Before the kernel's tile loop only.
template <std::convertible_to<Size>... Values>
void check(const detail::Check& condition, const char* message, const Values&... values) {
  const Size list[] = {Size(0), values...};
  detail::check(condition, message, list + 1, sizeof...(values));
}

} // namespace tilewright
