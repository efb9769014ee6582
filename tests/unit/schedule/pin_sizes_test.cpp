// Pinning as the driver sees it: errors on the user's lines, and what the host does around a launch.
#include "schedule/pin_sizes.h"

#include "schedule/host_plan.h"
#include "schedule/pinned_kernel.h"
#include "support/error_of.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Kind = HostPlan::Returned::Kind;

TEST(PinSizes, reports_a_failed_check_with_its_numbers) {
  auto pin = [] { PinnedKernel(test_kernel("matmul").text, {{7, 19}, {20, 11}}); };
  EXPECT_EQ(error_of(pin), "inner sizes differ: 19 and 20");
  EXPECT_EQ(error_line_of(pin), 9u);
}

TEST(PinSizes, names_the_argument_whose_layout_does_not_fit) {
  EXPECT_EQ(error_of([] { PinnedKernel(test_kernel("matmul").text, {{7, 19}, {19}}); }),
            "argument 1 (y) has rank 2, its layout has 1 sizes and 1 strides");
}

TEST(PinSizes, gives_dense_strides) {
  EXPECT_EQ(contiguous_strides({2, 3, 5}), (std::vector<int64_t>{15, 5, 1}));
  EXPECT_EQ(contiguous_strides({}), (std::vector<int64_t>{}));
}

TEST(HostPlan, has_allocations_and_results_in_order) {
  HostPlan plan = evaluate_host(PinnedKernel(test_kernel("two_wholes").text, {{3, 20, 33}, {33}}).kernel());
  ASSERT_EQ(plan.allocations.size(), 2u);
  EXPECT_EQ(plan.allocations[0].dtype, float32);
  EXPECT_EQ(plan.allocations[0].sizes_for({}), (std::vector<int64_t>{3}));
  EXPECT_EQ(plan.allocations[1].sizes_for({}), (std::vector<int64_t>{3, 20, 33}));
  ASSERT_EQ(plan.returned.size(), 2u);
  EXPECT_EQ(plan.returned[0].kind, Kind::Allocation);
  EXPECT_EQ(plan.returned[0].index, 0u);
  EXPECT_EQ(plan.returned[1].index, 1u);
}

TEST(HostPlan, gives_back_an_argument) {
  HostPlan plan = evaluate_host(PinnedKernel(test_kernel("in_place").text, {{5, 40}}).kernel());
  EXPECT_TRUE(plan.allocations.empty());
  ASSERT_EQ(plan.returned.size(), 1u);
  EXPECT_EQ(plan.returned[0].kind, Kind::Argument);
  EXPECT_EQ(plan.returned[0].index, 0u);
}

} // namespace
} // namespace tilewright
