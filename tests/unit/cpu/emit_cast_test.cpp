// Conversions, above all those of the 16-bit floating-point types.
#include "cpu/loops_kernel.h"
#include "tilewright/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace {

std::vector<uint16_t> every_16_bit_pattern() {
  std::vector<uint16_t> patterns(65536);
  for (int i = 0; i < 65536; ++i) patterns[i] = static_cast<uint16_t>(i);
  return patterns;
}

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float bfloat16_value(uint16_t bits) { return float_of(uint32_t(bits) << 16); }

// By its definition, in double precision: exact for every float16.
double float16_value(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return mantissa ? std::nan("") : sign * HUGE_VAL;
  return sign * (exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24));
}

TEST(EmitCast, every_bfloat16_extends_exactly) {
  auto patterns = every_16_bit_pattern();
  auto wide = evaluate<uint32_t>("%f = arith.extf $0 : $T0 to $V{f32}\n$r = arith.bitcast %f : $V{f32} to $R", {"bf16"},
                                 "i32", patterns);
  for (int i = 0; i < 65536; ++i) ASSERT_EQ(wide[i], uint32_t(i) << 16);
}

TEST(EmitCast, float32_rounds_to_bfloat16_ties_to_even_and_keeps_nan) {
  // Around every bfloat16: itself, just below, at and above the middle to the next.
  std::vector<float> values;
  std::vector<uint16_t> expected;
  for (uint32_t pattern = 0; pattern < 65536; pattern += 7) {
    if (std::isnan(bfloat16_value(pattern))) continue;
    bool is_infinity = (pattern & 0x7fff) == 0x7f80;
    for (uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      if (is_infinity && low != 0) continue;
      values.push_back(float_of(pattern << 16 | low));
      bool up = low > 0x8000 || (low == 0x8000 && pattern % 2 == 1);
      expected.push_back(static_cast<uint16_t>(pattern + up));
    }
  }
  auto rounded = evaluate<uint16_t>("$r = arith.truncf $0 : $T0 to $R", {"f32"}, "bf16", values);
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(rounded[i], expected[i]) << values[i];

  std::vector<float> nans = {float_of(0x7fc00000), float_of(0x7f800001), float_of(0xffffffff), float_of(0x7fffffff)};
  for (uint16_t result : evaluate<uint16_t>("$r = arith.truncf $0 : $T0 to $R", {"f32"}, "bf16", nans))
    EXPECT_TRUE(std::isnan(bfloat16_value(result)));
}

TEST(EmitCast, every_float16_extends_exactly) {
  auto patterns = every_16_bit_pattern();
  auto wide = evaluate<float>("$r = arith.extf $0 : $T0 to $R", {"f16"}, "f32", patterns);
  auto wider = evaluate<double>("$r = arith.extf $0 : $T0 to $R", {"f16"}, "f64", patterns);
  for (int i = 0; i < 65536; ++i) {
    double expected = float16_value(i);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide[i]) && std::isnan(wider[i]));
    } else {
      ASSERT_EQ(wide[i], expected);
      ASSERT_EQ(wider[i], expected);
    }
  }
}

// The nearer of two neighbouring numbers of a 16-bit type, ties to the even pattern; `value` is positive and finite.
template <class Value> uint16_t nearest(double value, Value of, uint16_t infinity) {
  uint16_t below = 0;
  for (int bit = 14; bit >= 0; --bit)
    if (below + (1 << bit) < infinity && of(below + (1 << bit)) <= value) below += 1 << bit;
  uint16_t above = below + 1;
  double low = of(below);
  double high = above == infinity ? low + (low - of(below - 1)) : of(above);
  double middle = low + (high - low) / 2;
  return value > middle || (value == middle && below % 2 == 1) ? above : below;
}

TEST(EmitCast, float64_rounds_once_to_the_16_bit_types) {
  // Just off the middle between two 16-bit numbers by less than float32 can tell: rounding by way of it would go wrong.
  std::vector<double> values;
  for (double start : {1.0, 1.5, 3.14159, 1e-5, 6e-8, 1000.0, 65503.9, 65519.9})
    for (double offset : {0.0, 0x1p-40, -0x1p-40}) {
      for (double step : {0x1p-9, 0x1p-8, 0x1p-11, 0x1p-12}) values.push_back(start * (1 + step) * (1 + offset));
      values.push_back(start);
    }
  for (double exponent : {-24.0, -25.0, -14.0, 15.0})
    for (double offset : {0.0, 0x1p-45, -0x1p-45}) values.push_back(std::exp2(exponent) * (1.5 + offset));
  auto to_bfloat16 = evaluate<uint16_t>("$r = arith.truncf $0 : $T0 to $R", {"f64"}, "bf16", values);
  auto to_float16 = evaluate<uint16_t>("$r = arith.truncf $0 : $T0 to $R", {"f64"}, "f16", values);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(to_bfloat16[i], nearest(values[i], bfloat16_value, 0x7f80)) << values[i];
    EXPECT_EQ(to_float16[i], nearest(values[i], float16_value, 0x7c00)) << values[i];
  }
}

TEST(EmitCast, float64_infinities_and_nan_survive_two_roundings) {
  std::vector<double> values = {HUGE_VAL, -HUGE_VAL, 1e300, -1e300, std::nan(""), -0.0};
  auto rounded = evaluate<uint16_t>("$r = arith.truncf $0 : $T0 to $R", {"f64"}, "bf16", values);
  EXPECT_EQ(rounded[0], 0x7f80);
  EXPECT_EQ(rounded[1], 0xff80);
  EXPECT_EQ(rounded[2], 0x7f80);
  EXPECT_EQ(rounded[3], 0xff80);
  EXPECT_TRUE(std::isnan(bfloat16_value(rounded[4])));
  EXPECT_EQ(rounded[5], 0x8000);
}

TEST(EmitCast, float32_rounds_to_float16_as_the_hardware_does) {
  std::vector<float> values = {0,         -0.0f,   1, 65504, 65519, 65520, 1e-8f, 5.9604645e-8f, 6.1035156e-5f,
                               HUGE_VALF, 1 / 3.0f};
  auto rounded = evaluate<uint16_t>("$r = arith.truncf $0 : $T0 to $R", {"f32"}, "f16", values);
  EXPECT_EQ(rounded, (std::vector<uint16_t>{0, 0x8000, 0x3c00, 0x7bff, 0x7bff, 0x7c00, 0, 1, 0x0400, 0x7c00, 0x3555}));
}

TEST(EmitCast, integers_widen_by_their_signedness_and_narrow_by_dropping_bits) {
  std::vector<int8_t> narrow = {-128, -1, 0, 1, 127};
  EXPECT_EQ(evaluate<int32_t>("$r = arith.extsi $0 : $T0 to $R", {"i8"}, "i32", narrow),
            (std::vector<int32_t>{-128, -1, 0, 1, 127}));
  EXPECT_EQ(evaluate<int32_t>("$r = arith.extui $0 : $T0 to $R", {"i8"}, "i32", narrow),
            (std::vector<int32_t>{128, 255, 0, 1, 127}));
  std::vector<int64_t> wide = {-1, 0x100000001, 255, 256, INT64_MIN};
  EXPECT_EQ(evaluate<int8_t>("$r = arith.trunci $0 : $T0 to $R", {"i64"}, "i8", wide),
            (std::vector<int8_t>{-1, 1, -1, 0, 0}));
}

TEST(EmitCast, integers_and_floats) {
  std::vector<int32_t> integers = {0, -1, 16777217, INT32_MAX, INT32_MIN};
  EXPECT_EQ(evaluate<float>("$r = arith.sitofp $0 : $T0 to $R", {"i32"}, "f32", integers),
            (std::vector<float>{0, -1, 16777216, 2147483648.0f, -2147483648.0f}));
  EXPECT_EQ(evaluate<double>("$r = arith.uitofp $0 : $T0 to $R", {"i32"}, "f64", integers),
            (std::vector<double>{0, 4294967295.0, 16777217, 2147483647, 2147483648.0}));
  std::vector<float> floats = {0, -1.9f, 1.9f, 1e9f, -1e9f};
  EXPECT_EQ(evaluate<int32_t>("$r = arith.fptosi $0 : $T0 to $R", {"f32"}, "i32", floats),
            (std::vector<int32_t>{0, -1, 1, 1000000000, -1000000000}));
  std::vector<double> doubles = {0, 1.5, 4e9, 7, 9};
  EXPECT_EQ(evaluate<uint32_t>("$r = arith.fptoui $0 : $T0 to $R", {"f64"}, "i32", doubles),
            (std::vector<uint32_t>{0, 1, 4000000000u, 7, 9}));
}

TEST(EmitCast, bitcast_keeps_bits) {
  std::vector<float> floats = {1, -2, 0.1f};
  EXPECT_EQ(evaluate<uint32_t>("$r = arith.bitcast $0 : $T0 to $R", {"f32"}, "i32", floats),
            (std::vector<uint32_t>{bits_of(1), bits_of(-2), bits_of(0.1f)}));
  std::vector<uint16_t> halves = {0x3c00, 0xbf80};
  EXPECT_EQ(evaluate<uint16_t>("$r = arith.bitcast $0 : $T0 to $R", {"bf16"}, "i16", halves), halves);
  EXPECT_EQ(evaluate<uint16_t>("$r = arith.bitcast $0 : $T0 to $R", {"i16"}, "f16", halves), halves);
}

TEST(EmitCast, index_casts) {
  std::vector<int32_t> integers = {5, -3, 7};
  auto back =
      evaluate<int64_t>("%a = arith.index_cast $0 : $T0 to $V{index}\n%b = arith.index_castui $0 : $T0 to $V{index}\n"
                        "%s = arith.addi %a, %b : $V{index}\n$r = arith.index_cast %s : $V{index} to $R",
                        {"i32"}, "i64", integers);
  EXPECT_EQ(back, (std::vector<int64_t>{10, 4294967290, 14}));
}

} // namespace
