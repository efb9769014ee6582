#include "ir/interpreter_compare.h"

#include "support/error_of.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

Array values(const std::vector<double>& values, DType dtype = float32) { return Array::from_vector(values).to(dtype); }

TEST(DescribeDifference, integers_agree_exactly) {
  Array expected = Array::arange(6, int32).view({2, 3});
  EXPECT_EQ(describe_difference(expected, expected), "");
  Array other = expected.clone();
  other.at<int32_t>({1, 0}) = 4;
  EXPECT_EQ(describe_difference(other, expected), "element [1, 0] is 4, expected 3");
}

TEST(DescribeDifference, reals_agree_within_some_units_in_the_last_place) {
  EXPECT_EQ(describe_difference(values({1 + 0x1p-22}), values({1})), "");
  EXPECT_NE(describe_difference(values({1 + 0x1p-19}), values({1})), "");
  EXPECT_EQ(describe_difference(values({1 + 0x1p-6}, bfloat16), values({1}, bfloat16)), "");
  EXPECT_NE(describe_difference(values({1 + 0x1p-4}, bfloat16), values({1}, bfloat16)), "");
  EXPECT_EQ(describe_difference(values({1 + 0x1p-51}, float64), values({1}, float64)), "");
  EXPECT_NE(describe_difference(values({1 + 0x1p-40}, float64), values({1}, float64)), "");
}

TEST(DescribeDifference, long_sums_may_differ_by_what_they_lose) {
  Array result = values({1e-5, 1}), expected = values({0, 1}); // what cancels, beside what does not
  EXPECT_EQ(describe_difference(result, expected),
            "element [0] is 9.99999975e-06, expected 0; allowed is a difference of 1.19e-07");
  EXPECT_EQ(describe_difference(result, expected, 1000), "");
}

TEST(DescribeDifference, infinity_and_nan_agree_with_themselves) {
  EXPECT_EQ(describe_difference(values({HUGE_VAL, NAN}), values({HUGE_VAL, NAN})), "");
  EXPECT_NE(describe_difference(values({HUGE_VAL}), values({-HUGE_VAL})), "");
  EXPECT_NE(describe_difference(values({1}), values({NAN}), 1000), "");
  EXPECT_NE(describe_difference(values({NAN}), values({1}), 1000), "");
  EXPECT_NE(describe_difference(values({1e38}), values({HUGE_VAL}), 1000), "");
}

TEST(DescribeDifference, the_worst_element_is_named) {
  EXPECT_EQ(describe_difference(values({1, 2, 5}), values({1, 3, 4})).substr(0, 27), "element [1] is 2, expected ");
}

TEST(DescribeDifference, different_shapes_cannot_be_compared) {
  EXPECT_EQ(error_of([] { describe_difference(values({1}), values({1, 2})); }),
            "results of different sizes or element types cannot be compared");
}

} // namespace
} // namespace tilewright
