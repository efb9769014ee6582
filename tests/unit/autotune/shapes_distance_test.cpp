#include "autotune/shapes_distance.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(ShapesDistance, counts_doublings_of_sizes) {
  EXPECT_EQ(shapes_distance("float32[1024, 333]:(333, 1)", "float32[1024, 333]:(333, 1)"), 0);
  EXPECT_NEAR(shapes_distance("float32[1024]", "float32[2048]"), 1, 0.01);
  EXPECT_NEAR(shapes_distance("float32[1024]", "float32[512]"), 1, 0.01);
  EXPECT_NEAR(shapes_distance("float32[1024, 64]", "float32[4096, 128]"), 3, 0.05);
  EXPECT_GT(shapes_distance("float32[0]", "float32[1]"), 0);
}

TEST(ShapesDistance, is_symmetric) {
  EXPECT_EQ(shapes_distance("float32[7, 5]", "float32[100, 2]"), shapes_distance("float32[100, 2]", "float32[7, 5]"));
}

TEST(ShapesDistance, other_dtypes_and_ranks_are_far_apart_whatever_the_sizes) {
  EXPECT_GE(shapes_distance("float32[64]", "float64[64]"), kFarApart) << "the number in a dtype's name is no size";
  EXPECT_GE(shapes_distance("float32[64]", "float32[64, 1]"), kFarApart);
  EXPECT_LT(shapes_distance("float32[1, 1]", "float32[1000000, 1000000]"), kFarApart);
  EXPECT_LT(shapes_distance("float32[64]", "float64[64]"), shapes_distance("float32[64]", "float64[128]"));
}

} // namespace
} // namespace tilewright
