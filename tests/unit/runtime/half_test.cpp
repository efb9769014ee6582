#include "tilewright/half.h"

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace tilewright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A 16-bit format by its definition, to hold the conversions to.
template <class T> struct Format;
template <> struct Format<Half> {
  static constexpr int digits = 11, least_exponent = -14;
  static constexpr double largest = 65504;
};
template <> struct Format<BFloat16> {
  static constexpr int digits = 8, least_exponent = -126;
  static constexpr double largest = 0x1.FEp127;
};

template <class T> double value_of_bits(uint16_t bits) {
  constexpr int mantissa_bits = Format<T>::digits - 1;
  int mantissa = bits & ((1 << mantissa_bits) - 1);
  int exponent = (bits & 0x7fff) >> mantissa_bits;
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << (15 - mantissa_bits)) - 1) return mantissa ? NAN : sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(mantissa, Format<T>::least_exponent - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - 1 + Format<T>::least_exponent - mantissa_bits);
}

// To nearest, ties to even, with one rounding of the exact number (long double holds every double and int64).
template <class T> double rounded(long double value) {
  if (value == 0 || !std::isfinite(value)) return double(value);
  int exponent = std::max(std::ilogb(value), Format<T>::least_exponent);
  long double unit = std::ldexp(1.0L, exponent - Format<T>::digits + 1);
  long double result = std::nearbyint(value / unit) * unit;
  return std::abs(result) > Format<T>::largest ? std::copysign(kInfinity, double(value)) : double(result);
}

template <class T> class SixteenBits : public testing::Test {};
using Types = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(SixteenBits, Types);

TYPED_TEST(SixteenBits, every_pattern_converts_to_its_value_and_back) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = TypeParam::from_bits(uint16_t(bits));
    double expected = value_of_bits<TypeParam>(uint16_t(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(float(TypeParam(value)))) << bits;
    } else {
      ASSERT_EQ(value, expected) << bits;
      ASSERT_EQ(TypeParam(value).bits, bits);
    }
  }
}

// Each pair of neighbours: their middle, and the doubles next to the middle.
TYPED_TEST(SixteenBits, rounds_once_to_nearest_even) {
  for (uint32_t bits = 0; value_of_bits<TypeParam>(uint16_t(bits)) < kInfinity; ++bits) {
    double low = value_of_bits<TypeParam>(uint16_t(bits));
    double high = value_of_bits<TypeParam>(uint16_t(bits + 1));
    if (high == kInfinity) high = 2 * low - value_of_bits<TypeParam>(uint16_t(bits - 1));
    double middle = low / 2 + high / 2;
    uint32_t even = bits + (bits & 1);
    for (uint32_t sign : {0x0000u, 0x8000u}) {
      double factor = sign ? -1 : 1;
      ASSERT_EQ(TypeParam(factor * middle).bits, even | sign) << middle;
      ASSERT_EQ(TypeParam(factor * std::nextafter(middle, 0)).bits, bits | sign) << middle;
      ASSERT_EQ(TypeParam(factor * std::nextafter(middle, kInfinity)).bits, (bits + 1) | sign) << middle;
      float single = float(middle);
      if (single != middle) continue; // below the smallest float
      ASSERT_EQ(TypeParam(float(factor) * single).bits, even | sign) << middle;
      ASSERT_EQ(TypeParam(float(factor) * std::nextafter(single, 0.0f)).bits, bits | sign) << middle;
      ASSERT_EQ(TypeParam(float(factor) * std::nextafter(single, INFINITY)).bits, (bits + 1) | sign) << middle;
    }
  }
}

TYPED_TEST(SixteenBits, random_numbers_of_all_sizes_round_as_the_definition_says) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    double value = std::ldexp(double(int64_t(random())), int(random() % 320) - 240);
    ASSERT_EQ(float(TypeParam(value)), rounded<TypeParam>(value)) << value;
    ASSERT_EQ(float(TypeParam(float(value))), rounded<TypeParam>(float(value))) << value;
    int64_t integer = int64_t(random()) >> (random() % 64);
    ASSERT_EQ(float(TypeParam(integer)), rounded<TypeParam>((long double)integer)) << integer;
  }
}

TYPED_TEST(SixteenBits, does_not_round_twice) {
  // Just above the middle between 1 and its successor; float32 cannot tell it from the middle.
  double above = 1 + std::ldexp(1, -Format<TypeParam>::digits) + 0x1p-40;
  EXPECT_EQ(TypeParam(above).bits, TypeParam(1.0f).bits + 1);
  int64_t integer = (int64_t(1) << 60) + (int64_t(1) << (60 - Format<TypeParam>::digits)) + 1;
  constexpr bool overflows = std::is_same_v<TypeParam, Half>;
  EXPECT_EQ(TypeParam(integer).bits, overflows ? 0x7c00 : TypeParam(0x1p60).bits + 1);
}

TYPED_TEST(SixteenBits, nan_stays_nan_and_is_quiet) {
  uint16_t quiet = std::is_same_v<TypeParam, Half> ? 0x7e00 : 0x7fc0;
  for (uint32_t pattern : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffc12345u}) {
    TypeParam value(std::bit_cast<float>(pattern));
    EXPECT_EQ(value.bits & quiet, quiet) << pattern;
    EXPECT_EQ(value.bits >> 15, int(pattern >> 31)) << pattern;
  }
  EXPECT_EQ(TypeParam(double(NAN)).bits & quiet, quiet);
}

TYPED_TEST(SixteenBits, zero_and_infinity_keep_their_sign) {
  EXPECT_EQ(TypeParam(0.0f).bits, 0);
  EXPECT_EQ(TypeParam(-0.0).bits, 0x8000);
  EXPECT_EQ(float(TypeParam(-INFINITY)), -INFINITY);
  EXPECT_EQ(float(TypeParam(1e300)), INFINITY);
  EXPECT_EQ(float(TypeParam(-1e300)), -INFINITY);
  EXPECT_EQ(float(TypeParam(1e-300)), 0);
}

TEST(Half, converts_at_compile_time) {
  static_assert(Half(1.5f).bits == 0x3e00 && float(Half::from_bits(0x0001)) == 0x1p-24f);
  static_assert(Half(65519.0f).bits == 0x7bff && Half(65520.0f).bits == 0x7c00);
  static_assert(BFloat16(1.0f).bits == 0x3f80 && BFloat16(3).bits == 0x4040);
}

} // namespace
} // namespace tilewright
