#include "support/error_of.h"
#include "tilewright/array.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tilewright {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

Array values(const std::vector<double>& values) { return Array::from_vector(values); }

TEST(Allclose, allows_the_sum_of_both_tolerances) {
  EXPECT_TRUE(allclose(values({100, 0}), values({101, 0.5}), 0.01, 0.5));
  EXPECT_FALSE(allclose(values({100}), values({102}), 0.01, 0.5));
  EXPECT_TRUE(allclose(values({1}), values({1 + 1e-6})));
  EXPECT_FALSE(allclose(values({1}), values({1 + 1e-4})));
  EXPECT_TRUE(allclose(values({9}), values({10}), 0.1, 0)); // relative to the second
  EXPECT_FALSE(allclose(values({10}), values({9}), 0.1, 0));
}

TEST(Allclose, takes_infinities_and_nan_by_pytorchs_rules) {
  EXPECT_TRUE(allclose(values({kInfinity}), values({kInfinity})));
  EXPECT_FALSE(allclose(values({kInfinity}), values({-kInfinity}), 1, 1));
  EXPECT_FALSE(allclose(values({1}), values({kInfinity}), 1, 1));
  EXPECT_FALSE(allclose(values({kNan}), values({kNan})));
  EXPECT_TRUE(allclose(values({kNan}), values({kNan}), 0, 0, true));
  EXPECT_FALSE(allclose(values({kNan}), values({1}), 0, 0, true));
}

TEST(Allclose, compares_any_types_and_layouts) {
  Array array = Array::randint(-100, 100, {300, 200}, 1, int32);
  EXPECT_TRUE(allclose(array.t().contiguous(), array.to(bfloat16).t(), 0, 0));
  Array changed = array.to(float64);
  changed.at<double>({299, 199}) += 0.5;
  EXPECT_FALSE(allclose(array, changed, 0, 0.25));
  EXPECT_TRUE(allclose(array, changed, 0, 0.5));
}

TEST(Equal, compares_bits) {
  EXPECT_TRUE(equal(values({kNan, 1}), values({kNan, 1})));
  EXPECT_FALSE(equal(values({0.0}), values({-0.0})));
  EXPECT_FALSE(equal(values({1}), values({1}).to(float32)));
  Array array = Array::rand({301, 203}, 1);
  EXPECT_TRUE(equal(array.t(), array.t().contiguous()));
  Array changed = array.clone();
  changed.at<float>({300, 202}) = 2;
  EXPECT_FALSE(equal(array, changed));
  EXPECT_FALSE(equal(array.t(), changed.t()));
}

TEST(MaxAbsDifference, is_infinite_for_what_differs_beyond_numbers) {
  EXPECT_EQ(max_abs_difference(values({1, -2, 3}), values({1, 2, 3.5})), 4);
  EXPECT_EQ(max_abs_difference(values({kInfinity, kNan}), values({kInfinity, kNan})), 0);
  EXPECT_EQ(max_abs_difference(values({kNan}), values({1})), kInfinity);
  EXPECT_EQ(max_abs_difference(values({kInfinity}), values({kNan})), kInfinity);
  EXPECT_EQ(max_abs_difference(values({kInfinity}), values({5})), kInfinity);
  EXPECT_EQ(max_abs_difference(values({}), values({})), 0);
}

TEST(MaxRelativeError, is_relative_to_the_scale_of_the_reference) {
  EXPECT_EQ(max_relative_error(values({1, 99}), values({0, 100})), 0.01);
  EXPECT_EQ(max_relative_error(values({0}), values({0})), 0);
  EXPECT_EQ(max_relative_error(values({1}), values({0})), kInfinity);
  EXPECT_EQ(max_relative_error(values({1, kInfinity}), values({2, kInfinity})), 0.5);
}

TEST(Comparisons, refuse_other_sizes) {
  std::string expected = "arrays of sizes [2] and [3] cannot be compared";
  Array a = values({1, 2}), b = values({1, 2, 3});
  EXPECT_EQ(error_of([&] { allclose(a, b); }), expected);
  EXPECT_EQ(error_of([&] { equal(a, b); }), expected);
  EXPECT_EQ(error_of([&] { max_abs_difference(a, b); }), expected);
  EXPECT_EQ(error_of([&] { max_relative_error(a, b); }), expected);
}

} // namespace
} // namespace tilewright
