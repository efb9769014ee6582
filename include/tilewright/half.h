// The 16-bit floating-point numbers as C++ values: Half (IEEE 754 binary16) and BFloat16 (the upper half of a float32).
// They store and convert; arithmetic happens in float, which both convert to exactly.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tilewright {

namespace detail {

// The number as a float32 that rounds to any format of at most 22 significant bits as the number itself does: where
// float32 cannot hold it, the result is the neighbour with an odd last bit, which no later tie can be mistaken for
// (rounding to odd: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
constexpr float round_to_odd(double value) {
  float nearest = static_cast<float>(value);
  double back = nearest;
  if (back == value || back != back) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (bits & 1) return nearest;
  bool nearest_is_larger = (back > value) == (value > 0); // in magnitude
  return std::bit_cast<float>(nearest_is_larger ? bits - 1 : bits + 1);
}

constexpr float round_to_odd(int64_t value) {
  constexpr int64_t exact = int64_t(1) << 53;
  if (-exact <= value && value <= exact) return round_to_odd(static_cast<double>(value));
  int64_t upper = (value >> 11) | ((value & 0x7ff) != 0); // what is cut off leaves the last bit odd
  return round_to_odd(static_cast<double>(upper) * 2048.0);
}

template <class T>
  requires std::is_arithmetic_v<T>
constexpr float to_float_for_rounding(T value) {
  if constexpr (std::is_same_v<T, float>)
    return value;
  else if constexpr (std::floating_point<T>)
    return round_to_odd(static_cast<double>(value));
  else
    return round_to_odd(static_cast<int64_t>(value));
}

} // namespace detail

struct Half {
  uint16_t bits = 0;

  constexpr Half() = default;
  // Rounds to nearest, ties to even, once, whatever T is. NaN stays NaN, and becomes quiet.
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr explicit Half(T value) : bits(round(detail::to_float_for_rounding(value))) {}
  static constexpr Half from_bits(uint16_t bits) {
    Half value;
    value.bits = bits;
    return value;
  }

  constexpr operator float() const {
    uint32_t sign = uint32_t(bits & 0x8000) << 16;
    uint32_t magnitude = bits & 0x7fff;
    if (magnitude < 0x0400) // zero and subnormal: multiples of 2^-24
      return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(float(magnitude) * 0x1p-24f));
    uint32_t rebiased = (magnitude << 13) + 0x38000000;
    if (magnitude >= 0x7c00) rebiased += 0x38000000; // infinity and NaN keep the largest exponent
    if (magnitude > 0x7c00) rebiased |= 0x00400000;  // quiet
    return std::bit_cast<float>(sign | rebiased);
  }

private:
  static constexpr uint16_t round(float value) {
    uint32_t pattern = std::bit_cast<uint32_t>(value);
    uint32_t sign = (pattern >> 16) & 0x8000;
    uint32_t magnitude = pattern & 0x7fffffff;
    if (magnitude > 0x7f800000) return uint16_t(sign | 0x7e00 | ((magnitude >> 13) & 0x1ff));
    if (magnitude >= 0x477ff000) return uint16_t(sign | 0x7c00); // 65520 and more round to infinity
    if (magnitude < 0x38800000) {
      // Below 2^-14 the result is a multiple of 2^-24, which is what float addition to 0.5 rounds to.
      uint32_t sum = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f);
      return uint16_t(sign | (sum - std::bit_cast<uint32_t>(0.5f)));
    }
    uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    return uint16_t(sign | ((rounded - 0x38000000) >> 13));
  }
};

struct BFloat16 {
  uint16_t bits = 0;

  constexpr BFloat16() = default;
  // Rounds to nearest, ties to even, once, whatever T is. NaN stays NaN, and becomes quiet.
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr explicit BFloat16(T value) : bits(round(detail::to_float_for_rounding(value))) {}
  static constexpr BFloat16 from_bits(uint16_t bits) {
    BFloat16 value;
    value.bits = bits;
    return value;
  }

  constexpr operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }

private:
  static constexpr uint16_t round(float value) {
    uint32_t pattern = std::bit_cast<uint32_t>(value);
    if ((pattern & 0x7fffffff) > 0x7f800000) return uint16_t((pattern >> 16) | 0x0040);
    return uint16_t((pattern + 0x7fff + ((pattern >> 16) & 1)) >> 16);
  }
};

} // namespace tilewright
