// The conversion of one element between any two types, by the rules of Array::copy_from.
#pragma once

#include "tilewright/dtype.h"

#include <concepts>
#include <limits>
#include <type_traits>

namespace tilewright {

// The floating-point types that are computed with as float.
template <class T>
inline constexpr bool is_narrow_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> ||
                                        std::is_same_v<T, Float8E4M3FN> || std::is_same_v<T, Float8E5M2>;

template <std::integral To, std::floating_point From> To float_to_integer(From value) {
  // The bounds are powers of two (or 0), so From holds them exactly; the upper one is the first that does not fit.
  constexpr From lowest = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From end = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
  if (value != value) return 0;
  if (value < lowest) return std::numeric_limits<To>::min();
  if (value >= end) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <class To, class From> To convert_element(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (is_narrow_float<From>)
    return convert_element<To>(static_cast<float>(value));
  else if constexpr (is_narrow_float<To>)
    return To(value);
  else if constexpr (std::is_same_v<To, bool>)
    return value != 0;
  else if constexpr (std::integral<To> && std::floating_point<From>)
    return float_to_integer<To>(value);
  else
    return static_cast<To>(value);
}

} // namespace tilewright
