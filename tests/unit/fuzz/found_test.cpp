// What the fuzzer found, made small: one test for each kind of bug.
#include "fuzz/check_call.h"
#include "fuzz/inputs.h"
#include "tilewright/tilewright.h"

#include <gtest/gtest.h>

namespace tw = tilewright;
using namespace tilewright::fuzz;

// Lanes of a tail were read from scratch past its end, where they are no neighbours.
TEST(found, strided_lanes_of_scratch_are_read_within_it) {
  const auto kernel = tw::kernel("roots", {"x"}, [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty({n, m}, tw::float32);
    for (auto [tile_m, tile_n] : tw::tile({m, n})) {
      tw::Value ones = tw::ones({tile_n, tile_m}, tw::boolean);
      out[tile_n, tile_m] = tw::sqrt(ones);
    }
    return out;
  });
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 3}, {2, 5}, {3, 3}, {1, 7}}) {
    auto call = kernel.bind(tw::Array::zeros({m, n}));
    for (const char* pid_type : {"flat", "persistent_blocked"})
      for (int64_t block : {1, 2, 4, 8})
        EXPECT_EQ(check(call, tw::Config{{"block_sizes", {block, 4}}, {"pid_type", pid_type}}), "");
  }
}

// A constant of dimensions of 1, which folding had left, stood outside of the tile loop.
TEST(found, folded_values_of_one_element_stay_in_their_loop) {
  const auto kernel = tw::kernel("nothing", {"x"}, [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      tw::Value ones = tw::ones({1, 1}, tw::int64);
      tw::Value zeros = ones ^ ones;
      x[tile, tw::_] = zeros + (ones != ones);
    }
  });
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {1, 5}, {5, 1}, {6, 7}})
    EXPECT_EQ(check(kernel.bind(tw::Array::ones({m, n}, tw::int64)), tw::Config{{"block_sizes", {2}}}), "");
}

// MLIR folds atan2(0, 0) to NaN; it is 0, or half a turn for -0.
TEST(found, the_angle_of_the_origin_is_folded_as_it_is_computed) {
  const auto kernel = tw::kernel("angles", {"x", "out"}, [](tw::Tensor x, tw::Tensor out) {
    for (auto tile : tw::tile(x.size(0))) {
      tw::Value zero = tile.id().to(tw::float32), one = x[0];
      out[0, tile] = tw::atan2(zero, zero);
      out[1, tile] = tw::atan2(-zero, zero);
      out[2, tile] = tw::atan2(zero, -zero);
      out[3, tile] = tw::atan2(zero, one);
      out[4, tile] = tw::atan2(zero, one - one);
      out[5, tile] = tw::atan2(x[tile] - one, tw::zeros({tile}));
    }
  });
  for (int64_t n : {1, 3}) {
    tw::Array out = tw::Array::zeros({6, n});
    EXPECT_EQ(check(kernel.bind(tw::Array::ones({n}), out), tw::Config{{"block_sizes", {n}}}), "");
  }
}

// Rows of a reshaped value have no gaps between them, and were read in whole vectors past the last one.
TEST(found, reshaped_values_are_read_within_scratch) {
  const auto kernel = tw::kernel("squeezed", {"x"}, [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    for (auto tile : tw::tile(m)) x[tile, tw::_] = tw::squeeze(tw::ones({1, tile, n}, tw::float64), 0);
  });
  for (tw::DType dtype : {tw::float16, tw::float32, tw::float64})
    for (int64_t n : {1, 9, 17})
      EXPECT_EQ(check(kernel.bind(tw::Array::zeros({3, n}, dtype)), tw::Config{{"block_sizes", {2}}}), "");
}

// Scratch that two programs share out got longer rows, but gathers from it kept the distance of the old ones.
TEST(found, stores_that_come_late_gather_from_the_rows_of_scratch) {
  const auto kernel = tw::kernel("products", {"x"}, [](tw::Tensor x) {
    auto [m, n, one] = x.sizes<3>();
    auto out = tw::empty({m, m, m, one}, tw::bfloat16);
    for (auto [a, b, c] : tw::tile({one, m, m})) {
      tw::Value start = tw::ones({m, c, a}, tw::bfloat16);
      out[b, tw::_, c, a] = tw::dot(x[tw::_, c, tw::_], tw::ones({m, one, a}, tw::bfloat16), start);
    }
    return out;
  });
  for (int64_t m : {2, 3, 8})
    for (int64_t block : {1, 2}) {
      tw::Config config{{"block_sizes", {1, 1, block}}, {"store_eviction_policies", {"first"}}};
      tw::Array x = tw::Array::randint(-4, 5, {m, m, 1}, 3).to(tw::bfloat16);
      EXPECT_EQ(check(kernel.bind(x), config), "");
    }
}
