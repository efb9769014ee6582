#include "tilewright/float8.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace tilewright {
namespace {

template <class T> float value(int bits) { return T::from_bits(uint8_t(bits)); }

// Of a format whose numbers from 0 on are those of the bits 0 to `last`: every number is itself, and what lies between
// two is the nearer one, or of two as near the even one.
template <class T> void expect_rounds_to_nearest(int last) {
  for (int bits = 0; bits <= last; ++bits) {
    float here = value<T>(bits);
    EXPECT_EQ(T(here).bits, bits) << here;
    EXPECT_EQ(T(-here).bits, bits | 0x80) << here;
    if (bits == last) break;
    float next = value<T>(bits + 1), middle = here + (next - here) / 2;
    EXPECT_LT(here, next);
    EXPECT_EQ(T(middle).bits, bits % 2 == 0 ? bits : bits + 1) << middle;
    EXPECT_EQ(T(std::nextafter(middle, 0.0f)).bits, bits) << middle;
    EXPECT_EQ(T(std::nextafter(middle, INFINITY)).bits, bits + 1) << middle;
    // Once, also from float64: just above the middle, where float32 has only the middle.
    EXPECT_EQ(T(double(middle) * (1 + 0x1p-40)).bits, bits + 1) << middle;
  }
}

TEST(Float8, e4m3fn_rounds_to_nearest_and_stays_finite) {
  expect_rounds_to_nearest<Float8E4M3FN>(0x7e);
  EXPECT_EQ(value<Float8E4M3FN>(0x7e), 448);
  EXPECT_EQ(value<Float8E4M3FN>(0x01), 0x1p-9f);
  EXPECT_TRUE(std::isnan(value<Float8E4M3FN>(0x7f)) && std::isnan(value<Float8E4M3FN>(0xff)));
  // What torch 2.13 gives.
  const std::vector<float> given{464, 464.1f, 480, 1e9f, INFINITY, -INFINITY, 0x1p-10f, 0x1.8p-9f, 1e-12f};
  const std::vector<int> expected{126, 126, 126, 126, 126, 254, 0, 2, 0};
  for (size_t i = 0; i < given.size(); ++i) EXPECT_EQ(Float8E4M3FN(given[i]).bits, expected[i]) << given[i];
  EXPECT_EQ(Float8E4M3FN(NAN).bits, 0x7f);
}

TEST(Float8, e5m2_rounds_to_nearest_and_has_infinity) {
  expect_rounds_to_nearest<Float8E5M2>(0x7b);
  EXPECT_EQ(value<Float8E5M2>(0x7b), 57344);
  EXPECT_EQ(value<Float8E5M2>(0x01), 0x1p-16f);
  EXPECT_EQ(value<Float8E5M2>(0x7c), INFINITY);
  EXPECT_EQ(value<Float8E5M2>(0xfc), -INFINITY);
  for (int bits : {0x7d, 0x7e, 0x7f, 0xff}) EXPECT_TRUE(std::isnan(value<Float8E5M2>(bits)));
  const std::vector<float> given{61439, 61440, 1e9f, INFINITY, -INFINITY, 0x1p-17f, 0x1.04p-17f, 0x1.8p-16f};
  const std::vector<int> expected{123, 124, 124, 124, 252, 0, 1, 2};
  for (size_t i = 0; i < given.size(); ++i) EXPECT_EQ(Float8E5M2(given[i]).bits, expected[i]) << given[i];
  EXPECT_EQ(Float8E5M2(NAN).bits, 0x7f);
}

} // namespace
} // namespace tilewright
