// The 8-bit floating-point numbers as C++ values, by the OCP 8-bit floating point specification (2023), as PyTorch has
// them: Float8E4M3FN, with 4 bits of exponent and 3 of mantissa, NaN and no infinity, and Float8E5M2, which is IEEE
// 754's binary16 with the last 8 bits cut off. They store and convert; arithmetic happens in float, which both convert
// to exactly.
#pragma once

#include "tilewright/half.h"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace tilewright {

namespace detail {

// Rounds to nearest, ties to even: to the format of 8 bits whose numbers have `mantissa_bits` and whose exponent of 1
// is `bias`. What is past its largest number becomes `overflow`, NaN becomes `nan`.
constexpr uint8_t round_to_float8(float value, int mantissa_bits, int bias, uint8_t overflow, uint8_t nan) {
  uint32_t pattern = std::bit_cast<uint32_t>(value);
  uint8_t sign = uint8_t((pattern >> 24) & 0x80);
  uint32_t magnitude = pattern & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | nan;
  uint32_t least_normal = uint32_t(128 - bias) << 23; // as a float: 2^(1 - bias)
  uint32_t rounded = 0;
  if (magnitude < least_normal) {
    // Multiples of 2^(1 - bias - mantissa_bits), which is what float addition to this number rounds to.
    float grid = std::bit_cast<float>(uint32_t(127 + 24 - bias - mantissa_bits) << 23);
    rounded = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + grid) - std::bit_cast<uint32_t>(grid);
  } else {
    int cut = 23 - mantissa_bits;
    uint32_t half = (uint32_t(1) << (cut - 1)) - 1 + ((magnitude >> cut) & 1);
    rounded = (magnitude - (least_normal - (uint32_t(1) << 23)) + half) >> cut;
  }
  return sign | uint8_t(rounded < overflow ? rounded : overflow);
}

} // namespace detail

struct Float8E4M3FN {
  uint8_t bits = 0;

  constexpr Float8E4M3FN() = default;
  // Rounds to nearest, ties to even, once, whatever T is. What is more than 448, infinity too, becomes 448.
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr explicit Float8E4M3FN(T value)
      : bits(detail::round_to_float8(detail::to_float_for_rounding(value), 3, 7, 0x7e, 0x7f)) {}
  static constexpr Float8E4M3FN from_bits(uint8_t bits) {
    Float8E4M3FN value;
    value.bits = bits;
    return value;
  }

  constexpr operator float() const {
    uint32_t sign = uint32_t(bits & 0x80) << 24;
    uint32_t magnitude = bits & 0x7f;
    uint32_t pattern = (magnitude << 20) + (uint32_t(120) << 23);
    if (magnitude < 8) pattern = std::bit_cast<uint32_t>(float(magnitude) * 0x1p-9f); // zero and subnormal
    if (magnitude == 0x7f) pattern = 0x7fc00000;
    return std::bit_cast<float>(sign | pattern);
  }
};

struct Float8E5M2 {
  uint8_t bits = 0;

  constexpr Float8E5M2() = default;
  // Rounds to nearest, ties to even, once, whatever T is. What rounds to more than 57344 becomes infinity.
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr explicit Float8E5M2(T value)
      : bits(detail::round_to_float8(detail::to_float_for_rounding(value), 2, 15, 0x7c, 0x7f)) {}
  static constexpr Float8E5M2 from_bits(uint8_t bits) {
    Float8E5M2 value;
    value.bits = bits;
    return value;
  }

  constexpr operator float() const { return Half::from_bits(uint16_t(bits << 8)); }
};

} // namespace tilewright
