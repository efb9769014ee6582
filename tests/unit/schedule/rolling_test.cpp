// Which whole dimensions may be rolled, and why others may not.
#include "ir/rolling.h"

#include "ir/kernel_loops.h"
#include "schedule/pinned_kernel.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Rolled = llvm::SmallVector<uint32_t>;

/// A kernel over rows of x [64, 64], with this body for row %t. `out` has a row and a column more than it needs.
std::string row_kernel(const std::string& body, const std::string& wholes = "s1") {
  return R"(
tile.kernel @kernel(%x: A<s0 s1>, %y: A<s2 s3>, %out: A<s4>) attributes {whole = #tile.dims<[)" +
         wholes + R"(]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  tile.for (%t: grid) = (%zero) to (%m) parallel {
    %f0 = arith.constant 0.0 : f32
)" + body +
         R"(
  }
  tile.return
})";
}

const std::vector<std::vector<int64_t>> kShapes{{64, 64}, {64, 64}, {64}};

/// Why dimension 0 cannot be rolled; empty where it can.
std::string reason(const std::string& body) {
  PinnedKernel pinned(row_kernel(body), kShapes);
  std::string why;
  bool can = RollingPlan::of(pinned.kernel(), 0, why).has_value();
  EXPECT_EQ(rollable_dims(pinned.kernel()), can ? Rolled{0} : Rolled{});
  return can ? "" : why;
}

TEST(RollingPlan, takes_a_reduction_of_a_load) {
  EXPECT_EQ(reason(R"(
    %v = tile.load %x[at %t, :] : A<s0 s1> -> T<r0>
    %sum = tile.reduce add %v dims [0] : T<r0> -> f32
    tile.store %sum, %out[at %t] : f32, A<s4>)"),
            "");
}

TEST(RollingPlan, refuses_what_a_dot_needs_whole) {
  PinnedKernel attention(test_kernel("attention").text, test_kernel("attention").shapes[0]);
  std::string why;
  EXPECT_FALSE(RollingPlan::of(attention.kernel(), 0, why));
  EXPECT_EQ(why, "'tile.dot' needs it whole");
}

TEST(RollingPlan, refuses_two_dimensions_of_one_length) {
  EXPECT_EQ(reason(R"(
    %v = tile.load %x[:, :] : A<s0 s1> -> T<r0 r0>
    %sum = tile.reduce add %v dims [0, 1] : T<r0 r0> -> f32
    tile.store %sum, %out[at %t] : f32, A<s4>)"),
            "a value has it in two dimensions");
}

TEST(RollingPlan, refuses_a_value_that_a_loop_carries) {
  EXPECT_EQ(reason(R"(
    %v = tile.load %x[at %t, :] : A<s0 s1> -> T<r0>
    %twice = tile.for (%u: b0) = (%zero) to (%m) carry(%acc = %v) : T<r0> {
      %next = arith.addf %acc, %acc : T<r0>
      tile.yield %next : T<r0>
    }
    %sum = tile.reduce add %twice dims [0] : T<r0> -> f32
    tile.store %sum, %out[at %t] : f32, A<s4>)"),
            "a loop carries a value that has it");
}

TEST(RollingPlan, refuses_to_load_again_after_a_store) {
  // The sum would have to be known before the store, which is what it is of.
  EXPECT_EQ(reason(R"(
    %v = tile.load %x[at %t, :] : A<s0 s1> -> T<r0>
    %sum = tile.reduce add %v dims [0] : T<r0> -> f32
    tile.store %sum, %x[at %t, at %zero] : f32, A<s0 s1>
    %first = tile.load %x[at %t, at %zero] : A<s0 s1> -> f32
    %firsts = tile.splat %first : f32 -> T<r0>
    %w = arith.addf %v, %firsts : T<r0>
    %total = tile.reduce add %w dims [0] : T<r0> -> f32
    tile.store %total, %out[at %t] : f32, A<s4>)"),
            "a value would be loaded again after its array was stored to");
}

TEST(RollingPlan, lets_a_store_wait) {
  EXPECT_EQ(reason(R"(
    %v = tile.load %x[at %t, :] : A<s0 s1> -> T<r0>
    tile.store %f0, %x[at %t, at %zero] : f32, A<s0 s1>
    %sum = tile.reduce add %v dims [0] : T<r0> -> f32
    tile.store %sum, %out[at %t] : f32, A<s4>)"),
            "");
}

TEST(RollingPlan, refuses_to_overwrite_what_another_block_reads) {
  EXPECT_EQ(reason(R"(
    %v = tile.load %x[at %t, :] : A<s0 s1> -> T<r0>
    %sum = tile.reduce add %v dims [0] : T<r0> -> f32
    tile.store %v, %x[:, at %t] : T<r0>, A<s0 s1>
    tile.store %sum, %out[at %t] : f32, A<s4>)"),
            "a block would overwrite what another one still reads");
}

TEST(RollingPlan, refuses_to_load_in_a_loop_what_is_stored) {
  EXPECT_EQ(reason(R"(
    %v = tile.load %x[at %t, :] : A<s0 s1> -> T<r0>
    tile.for (%u: grid) = (%zero) to (%m) {
      %sum = tile.reduce add %v dims [0] : T<r0> -> f32
      tile.store %sum, %x[at %t, at %u] : f32, A<s0 s1>
    })"),
            "a loop would load again, in each iteration, from an array that the kernel stores to");
}

TEST(RollingPlan, refuses_a_part_of_a_dimension) {
  EXPECT_EQ(reason(R"(
    %v = tile.splat %f0 : f32 -> tensor<?xf32, #tile.dims<[2 * r0]>>
    %sum = tile.reduce add %v dims [0] : tensor<?xf32, #tile.dims<[2 * r0]>> -> f32
    tile.store %sum, %out[at %t] : f32, A<s4>)"),
            "a value has it as part of a dimension");
}

TEST(RollableDims, are_those_that_are_reduced) {
  PinnedKernel copies(row_kernel(R"(
    %v = tile.load %x[at %t, :] : A<s0 s1> -> T<r0>
    tile.store %v, %y[at %t, :] : T<r0>, A<s2 s3>)"),
                      kShapes);
  EXPECT_TRUE(rollable_dims(copies.kernel()).empty());
}

TEST(RollableDims, leave_out_one_where_each_loop_would_carry_the_other) {
  PinnedKernel crossed(row_kernel(R"(
    %v = tile.load %x[:, :] : A<s0 s1> -> T<r0 r1>
    %columns = tile.reduce add %v dims [0] : T<r0 r1> -> T<r1>
    %rows = tile.reduce add %v dims [1] : T<r0 r1> -> T<r0>
    %a = tile.reduce max %columns dims [0] : T<r1> -> f32
    %b = tile.reduce max %rows dims [0] : T<r0> -> f32
    %c = arith.addf %a, %b : f32
    tile.store %c, %out[at %t] : f32, A<s4>)",
                                  "s0, s1"),
                       {{64, 32}, {64, 64}, {64}});
  EXPECT_EQ(rollable_dims(crossed.kernel()), Rolled{0});
}

TEST(RollableDims, are_rolled_so_that_loops_enclose) {
  const TestKernel& test = test_kernel("two_wholes");
  PinnedKernel pinned(test.text, test.shapes[0]);
  EXPECT_EQ(rollable_dims(pinned.kernel()), (Rolled{0, 1}));
  EXPECT_EQ(rolling_order(pinned.kernel(), {0, 1}), (Rolled{0, 1})); // the sum over r1 leaves r0
  EXPECT_EQ(rolling_order(pinned.kernel(), {1}), Rolled{1});
}

} // namespace
} // namespace tilewright
