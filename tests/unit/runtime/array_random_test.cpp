#include "runtime/philox.h"
#include "support/error_of.h"
#include "tilewright/array.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

namespace tilewright {
namespace {

using Words = std::array<uint32_t, 4>;

// Known answers of the authors' own library, Random123 (kat_vectors).
TEST(Philox, gives_the_known_answers) {
  static_assert(philox4x32_10({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr uint32_t ones = 0xffffffff;
  static_assert(philox4x32_10({ones, ones, ones, ones}, {ones, ones}) ==
                Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  static_assert(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Random, elements_depend_on_seed_and_index_alone) {
  EXPECT_TRUE(equal(Array::rand({10, 333}, 7), Array::rand({3330}, 7).view({10, 333})));
  EXPECT_TRUE(equal(Array::randn({100}, 7), Array::randn({100000}, 7).narrow(0, 0, 100)));
  EXPECT_FALSE(equal(Array::rand({1000}, 7), Array::rand({1000}, 8)));
  EXPECT_EQ(Array::rand({2}, 5).at<float>({1}), float(philox_of_index(1, 5)[0] >> 8) * 0x1p-24f);
}

TEST(Random, does_not_depend_on_the_number_of_threads) {
  int before = num_threads();
  set_num_threads(1);
  Array one = Array::randn({100000}, 3, bfloat16);
  set_num_threads(4);
  Array four = Array::randn({100000}, 3, bfloat16);
  set_num_threads(before);
  EXPECT_TRUE(equal(one, four));
}

// What these are on every machine.
TEST(Random, does_not_change) {
  std::vector<double> normal = Array::randn({3}, 42, float64).to_vector<double>();
  EXPECT_EQ(normal, std::vector<double>({0x1.c5e30047aa1d8p-1, -0x1.40bc8bc52b056p-3, -0x1.f9f57c1b69dfep-2}));
  std::vector<float> uniform = Array::rand({3}, 42).to_vector<float>();
  EXPECT_EQ(uniform, std::vector<float>({0x1.39d5ep-1f, 0x1.f9b642p-1f, 0x1.a6d804p-1f}));
  EXPECT_EQ(Array::randint(-5, 5, {8}, 42).to_vector<int64_t>(), std::vector<int64_t>({1, 4, 3, 2, -2, -2, -3, -2}));
}

struct Moments {
  double mean = 0, variance = 0, kurtosis = 0, smallest = 0, largest = 0;
};

Moments moments_of(const Array& array) {
  std::vector<double> values = array.to_vector<double>();
  Moments result;
  for (double value : values) result.mean += value / double(values.size());
  for (double value : values) {
    double square = std::pow(value - result.mean, 2);
    result.variance += square / double(values.size());
    result.kurtosis += square * square / double(values.size());
  }
  result.kurtosis /= result.variance * result.variance;
  result.smallest = *std::min_element(values.begin(), values.end());
  result.largest = *std::max_element(values.begin(), values.end());
  return result;
}

TEST(Random, rand_is_uniform_below_one) {
  for (DType dtype : {float16, bfloat16, float32, float64}) {
    Moments moments = moments_of(Array::rand({400000}, 1, dtype));
    double step = dtype == bfloat16 ? 0x1p-8 : dtype == float16 ? 0x1p-11 : 0; // fractions are cut off
    EXPECT_NEAR(moments.mean, 0.5 - step / 2, 0.002) << name(dtype);
    EXPECT_NEAR(moments.variance, 1.0 / 12, 0.001) << name(dtype);
    EXPECT_NEAR(moments.kurtosis, 1.8, 0.02) << name(dtype);
    EXPECT_GE(moments.smallest, 0) << name(dtype);
    EXPECT_LT(moments.largest, 1) << name(dtype);
  }
}

TEST(Random, randn_is_normal) {
  for (DType dtype : {float16, bfloat16, float32, float64}) {
    Array array = Array::randn({400000}, 2, dtype);
    Moments moments = moments_of(array);
    EXPECT_NEAR(moments.mean, 0, 0.01) << name(dtype);
    EXPECT_NEAR(moments.variance, 1, 0.01) << name(dtype);
    EXPECT_NEAR(moments.kurtosis, 3, 0.06) << name(dtype);
    EXPECT_GT(moments.largest, 4) << name(dtype);
    EXPECT_LT(moments.smallest, -4) << name(dtype);
  }
}

// The library's own logarithm and cosine against the C library's, through the whole formula.
TEST(Random, randn_is_box_and_mullers_transform) {
  Array array = Array::randn({100000}, 11, float64);
  double largest_error = 0;
  for (int64_t i = 0; i < array.numel(); ++i) {
    Words words = philox_of_index(uint64_t(i), 11);
    double u = double(((uint64_t(words[0]) << 32 | words[1]) >> 11) + 1) * 0x1p-53;
    double v = double((uint64_t(words[2]) << 32 | words[3]) >> 11) * 0x1p-53;
    double expected = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
    largest_error = std::max(largest_error, std::abs(array.data<double>()[i] - expected));
  }
  EXPECT_LT(largest_error, 1e-14);
}

TEST(Random, randint_takes_every_value_of_its_range_alike) {
  Array array = Array::randint(-3, 4, {70000}, 9, int8);
  int64_t counts[7] = {};
  for (int64_t value : array.to_vector<int64_t>()) {
    ASSERT_TRUE(value >= -3 && value < 4);
    ++counts[value + 3];
  }
  for (int64_t count : counts) EXPECT_NEAR(double(count), 10000, 500);
  EXPECT_EQ(Array::randint(5, 6, {3}, 1).to_vector<int64_t>(), std::vector<int64_t>({5, 5, 5}));
  Array wide = Array::randint(INT64_MIN, INT64_MAX, {1000}, 1);
  Moments moments = moments_of(wide);
  EXPECT_LT(moments.smallest, -8e18);
  EXPECT_GT(moments.largest, 8e18);
}

TEST(Random, refuses_types_that_do_not_hold_the_numbers) {
  EXPECT_EQ(error_of([] { Array::rand({2}, 1, int32); }), "rand makes floating-point numbers, not int32");
  EXPECT_EQ(error_of([] { Array::randn({2}, 1, boolean); }), "randn makes floating-point numbers, not bool");
  EXPECT_EQ(error_of([] { Array::randint(3, 3, {2}, 1); }), "randint(3, 3): the range is empty");
  EXPECT_EQ(error_of([] { Array::randint(0, 129, {2}, 1, int8); }),
            "randint(0, 129): int8 does not hold all of these numbers");
  EXPECT_EQ(error_of([] { Array::randint(-1, 2, {2}, 1, uint8); }),
            "randint(-1, 2): uint8 does not hold all of these numbers");
  EXPECT_EQ(error_of([] { Array::randint(0, 258, {2}, 1, bfloat16); }),
            "randint(0, 258): bfloat16 does not hold all of these numbers");
  EXPECT_EQ(Array::randint(0, 2, {4}, 1, boolean).dtype(), boolean);
  EXPECT_EQ(Array::randint(-256, 257, {4}, 1, bfloat16).dtype(), bfloat16);
}

} // namespace
} // namespace tilewright
