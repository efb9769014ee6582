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

// What a combiner begins with is read in a branch, for there may be no such lanes; reads went out of it, past the end.
TEST(found, combiners_read_no_lanes_that_are_not_there) {
  const auto places = tw::kernel("places", {"x", "out"}, [](tw::Tensor x, tw::Tensor out) {
    for (auto tile : tw::tile(x.size(0)))
      for (auto again : tw::tile(1, 3)) out[tile] = tw::argmax(tw::log(x[tile]), 0) + again.id().to(tw::int64);
  });
  const auto segments = tw::kernel("segments", {"x", "ends", "out"}, [](tw::Tensor x, tw::Tensor ends, tw::Tensor out) {
    for (auto i : tw::grid(ends.size(0)))
      for (auto tile : tw::tile(ends[i], x.size(0))) {
        out[0, i] = tw::reduce([](tw::Value a, tw::Value b) { return a + b; }, x[tile], 0, 7);
        out[1, i] = tw::sum(tw::associative_scan([](tw::Value a, tw::Value b) { return a + b; }, x[tile], 0));
      }
  });
  for (tw::DType dtype : {tw::float32, tw::float64, tw::int32})
    for (int64_t n : {1, 16, 17, 33, 65})
      for (int64_t block : {3, 8, 15, 16, 32}) {
        tw::Array x = tw::Array::randint(1, 6, {n}, 1).to(dtype), out = tw::Array::zeros({n}, tw::int64);
        EXPECT_EQ(check(places.bind(x.to(dtype == tw::int32 ? tw::float32 : dtype), out),
                        tw::Config{{"block_sizes", {block, 1}}}),
                  "");
        tw::Array ends = tw::Array::arange(n + 1).to(tw::int32), sums = tw::Array::zeros({2, n + 1}, dtype);
        EXPECT_EQ(check(segments.bind(x, ends, sums), tw::Config{{"block_sizes", {block}}}), "");
      }
}

// Stores that come late computed what they store for the program before the first one too, and divided by its zeros.
TEST(found, divisions_wait_for_a_program) {
  const auto kernel = tw::kernel("rests", {"flags", "copy", "x"}, [](tw::Tensor flags, tw::Tensor copy, tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty({m, n}, x.dtype());
    for (auto tile : tw::tile(m)) {
      copy[tile] = flags[tile];
      tw::Value rows = x[tile, tw::_], rest = tw::remainder(rows, 31) + tw::sum(flags[tile]);
      out[tile, tw::_] = rows + rest + tw::floor_divide(rows, 5);
    }
    return out;
  });
  for (tw::DType dtype : {tw::int32, tw::int64})
    for (int64_t n : {4, 9, 23})
      for (int64_t block : {1, 2, 4}) {
        tw::Array flags = tw::Array::ones({6}, tw::boolean), copy = tw::Array::zeros({6}, tw::boolean);
        auto call = kernel.bind(flags, copy, tw::Array::randint(-50, 50, {6, n}, 1).to(dtype));
        EXPECT_EQ(check(call, tw::Config{{"block_sizes", {block}}, {"store_eviction_policies", {"first"}}}), "");
      }
}

// The interpreter took an array without elements for one that cannot be walked as one.
TEST(found, flattened_loops_walk_arrays_without_elements) {
  const auto kernel = tw::kernel("empty_sums", {"x"}, [](tw::Tensor x) {
    auto [m, n, one, k] = x.sizes<4>();
    auto out = tw::empty({m, n}, x.dtype());
    for (auto [a, b] : tw::tile({m, n})) out[a, b] = tw::sum(x[a, b, -1, tw::_], 2);
    return out;
  });
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 0}, {3, 16, 0}, {0, 3, 4}, {3, 0, 0}, {3, 4, 2}})
    EXPECT_EQ(check(kernel.bind(tw::Array::zeros({m, n, 1, k})),
                    tw::Config{{"block_sizes", {2, 2}}, {"flatten_loops", {true}}}),
              "");
}

// A sum whose own rounding happens to be exact is not so for operands that are a little off: the bound was too narrow.
TEST(found, sums_of_inexact_numbers_are_rounded_however_they_look) {
  const auto kernel = tw::kernel("sums", {"x", "out"}, [](tw::Tensor x, tw::Tensor out) {
    for (auto tile : tw::tile(x.size(0))) out[tile] += tw::deg2rad(x[tile]) + 1;
  });
  for (uint64_t seed = 1; seed < 20; ++seed) {
    tw::Array x = input({64}, tw::float32, Layout::contiguous, Contents::fractions, true, seed);
    tw::Array out = input({64}, tw::float32, Layout::contiguous, Contents::fractions, true, seed + 100);
    EXPECT_EQ(check(kernel.bind(x, out), tw::Config{{"block_sizes", {16}}}), "");
  }
}

// A rolled reduction over a slice read whole blocks from the slice's begin, again and again.
TEST(found, reductions_of_slices_are_rolled) {
  const auto kernel = tw::kernel("slices", {"x", "begins", "out"}, [](tw::Tensor x, tw::Tensor begins, tw::Tensor out) {
    auto [m, n] = x.sizes<2>();
    for (auto tile : tw::tile(m)) {
      auto middle = x[tile, tw::slice(2, -2)], first = x[tile, tw::slice(tw::none, -4)];
      out[tile, 0] = tw::sum(middle * first, 1);
      out[tile, 1] = tw::amax(middle - tw::sum(first, 1, true), 1);
      out[tile, 2] = tw::count_nonzero(x[tile, tw::slice_from(begins[0], n - 4)], 1);
      out[tile, 3] = tw::sum(x[tile, tw::slice(1, tw::none, 2)], 1);
    }
  });
  for (int64_t n : {5, 9, 21, 40})
    for (int64_t block : {1, 4, 16}) {
      if (block >= n - 4) continue;
      tw::Array x = tw::Array::randint(-3, 4, {3, n}, 1).to(tw::float32), out = tw::Array::zeros({3, 4});
      auto call = kernel.bind(x, tw::Array::full({1}, 3, tw::int32), out);
      EXPECT_EQ(check(call, tw::Config{{"block_sizes", {2}}, {"reduction_loops", {block}}}), "");
      EXPECT_EQ(check(call, tw::Config{{"block_sizes", {2}}}), "");
    }
}

// The dimension of a tile with a number for its block size looked like a whole one, which merges and splits.
TEST(found, tiles_of_fixed_blocks_stay_as_others_change_their_shape) {
  const auto kernel = tw::kernel("shapes", {"x"}, [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty({4, m, n, 2}, tw::float32);
    for (auto [a, b] : tw::tile({m, n}, tw::block_size({3, 4})))
      out[tw::_, a, b, tw::_] = tw::reshape(tw::ones({8, a, b}, tw::float32) * x[a, b], {2, 2, 2, a, b})
                                    .reshape({4, 2, a, b})
                                    .permute({0, 2, 3, 1});
    return out;
  });
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {1, 7}, {6, 8}, {7, 5}})
    EXPECT_EQ(check(kernel.bind(tw::Array::rand({m, n}, 1)), tw::Config{}), "");
}

// Of the rows past a tile's end, joined with a constant, some lanes exist: no error of the interpreter, as above.
TEST(found, joined_rows_past_an_end_are_sorted) {
  const auto kernel = tw::kernel("orders", {"x"}, [](tw::Tensor x) {
    auto n = x.size(0);
    auto out = tw::empty({n, 2}, tw::int64);
    auto values = tw::empty({n, 3}, tw::int32), largest = tw::empty({n, 1}, tw::int32);
    for (auto tile : tw::tile(n)) {
      tw::Value ones = tw::ones({tile}, tw::int32), row = tw::stack({ones, x[tile], ones}, 1);
      out[tile, tw::_] = tw::argsort(tw::join(ones, x[tile]), 1);
      values[tile, tw::_] = tw::sort(row, 1).first;
      largest[tile, tw::_] = tw::topk(row, 1, 1).first;
    }
    return std::make_tuple(out, values, largest);
  });
  for (int64_t n : {1, 3, 8, 33})
    for (int64_t block : {1, 2, 8})
      EXPECT_EQ(check(kernel.bind(tw::Array::randint(-3, 4, {n}, 1, tw::int32)), tw::Config{{"block_sizes", {block}}}),
                "");
}

// The number of lanes, which a mean divides by, was taken for something that needs them all at once.
TEST(found, means_are_rolled) {
  const auto kernel = tw::kernel("moments", {"x", "out"}, [](tw::Tensor x, tw::Tensor out) {
    for (auto tile : tw::tile(x.size(0))) {
      auto row = x[tile, tw::_];
      auto [variance, mean] = tw::var_mean(row, 1, 0, true);
      out[0, tile] = tw::mean(row, 1);
      out[1, tile] = tw::std(row, 1);
      out[2, tile] = tw::sum((row - mean) * tw::rsqrt(variance + 1), 1);
      out[3, tile] = tw::norm(row, 2, 1);
    }
  });
  for (tw::DType dtype : {tw::float32, tw::float64, tw::bfloat16, tw::float16})
    for (int64_t n : {17, 40, 100})
      for (int64_t block : {1, 3}) {
        auto call = kernel.bind(tw::Array::rand({5, n}, 1, tw::float32).to(dtype), tw::Array::zeros({4, 5}, dtype));
        EXPECT_TRUE(CallChecker(call.core().definition(), call.call()).specialisation().spec.find("reduction_loops"));
        EXPECT_EQ(check(call, tw::Config{{"block_sizes", {block}}, {"reduction_loops", {16}}}), "");
      }
}

// Groups of programs are one entry, however many loops have several dimensions; the second loop's was looked for.
TEST(found, several_loops_may_be_flattened) {
  const auto kernel = tw::kernel("twice", {"x", "out"}, [](tw::Tensor x, tw::Tensor out) {
    auto [m, n] = x.sizes<2>();
    for (auto [a, b] : tw::tile({m, n})) out[a, b] = x[a, b] + 1;
    tw::barrier();
    for (auto [a, b] : tw::tile({m, n})) x[a, b] = out[a, b] * 2;
  });
  auto call = kernel.bind(tw::Array::ones({5, 6}), tw::Array::zeros({5, 6}));
  for (bool first : {false, true})
    for (bool second : {false, true})
      EXPECT_EQ(check(call, tw::Config{{"block_sizes", {2, 3, 4, 1}}, {"flatten_loops", {first, second}}}), "");
}

// A select makes existing lanes of some rows past a tile's end: what is reduced of them is missing, and no error.
TEST(found, lanes_past_an_end_may_be_chosen_in_part) {
  const auto kernel = tw::kernel("last_rows", {"x"}, [](tw::Tensor x) {
    auto [t, d] = x.sizes<2>();
    auto out = tw::empty_like(x);
    for (auto tile_d : tw::tile(d)) {
      auto state = tw::zeros({tile_d});
      for (auto tile_t : tw::tile(t)) {
        auto h = x[tile_t, tile_d] + state[tw::none, tw::_];
        out[tile_t, tile_d] = tw::cumsum(h, 0);
        auto is_last = tile_t.index() == tile_t.end() - 1;
        auto chosen = tw::where(is_last[tw::_, tw::none], h, 0.0);
        state = tw::sum(chosen, 0) + tw::amax(tw::cumsum(chosen, 0), 0) +
                tw::sum(tw::matmul(tw::ones({1, tile_t}), chosen), 0);
      }
    }
    return out;
  });
  for (auto [t, d] : {std::pair<int64_t, int64_t>{9, 3}, {4, 5}, {1, 1}})
    for (int64_t block : {2, 4})
      EXPECT_EQ(check(kernel.bind(tw::Array::ones({t, d})), tw::Config{{"block_sizes", {block, 4}}}), "");
}

// Lanes of a gather from scratch, side by side along another dimension, were read past its end.
TEST(found, gathers_from_scratch_stay_within_it) {
  const auto kernel = tw::kernel("picked", {"x"}, [](tw::Tensor x) {
    auto [m, n, k] = x.sizes<3>();
    for (auto tile : tw::tile(m)) {
      tw::Value rows = x[tile, tw::_, tw::_];
      x[tile, tw::_, tw::_] = tw::gather(rows + 1, 2, tw::remainder(rows.to(tw::int64), k));
    }
  });
  for (tw::DType dtype : {tw::int8, tw::int32, tw::float64})
    for (auto [m, n, k] : {std::array<int64_t, 3>{3, 1, 1}, {5, 2, 3}, {9, 1, 17}})
      for (int64_t block : {1, 4, 8})
        EXPECT_EQ(
            check(kernel.bind(tw::Array::randint(0, 9, {m, n, k}, 1).to(dtype)), tw::Config{{"block_sizes", {block}}}),
            "");
}

// The interpreter took lanes for missing that a where() chooses from its else value, beside a chosen value that ends.
TEST(found, where_completes_a_value_that_ends) {
  const auto kernel = tw::kernel("collected", {"x"}, [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto block = tw::register_block_size(n);
    auto out = tw::empty({m}, x.dtype());
    for (auto tile_m : tw::tile(m)) {
      auto kept = tw::full({tile_m, block}, 1, x.dtype());
      for (auto tile_n : tw::tile(n, tw::block_size(block))) {
        auto part = x[tile_m, tile_n];
        kept = tw::where(part > 0, part * 2, kept);
      }
      out[tile_m] = tw::sum(kept, 1);
    }
    return out;
  });
  for (int64_t n : {1, 5, 9})
    for (int64_t block : {1, 2, 8, 16})
      EXPECT_EQ(check(kernel.bind(tw::Array::randint(-4, 5, {3, n}, 1).to(tw::float32)),
                      tw::Config{{"block_sizes", {block, 2}}}),
                "");
}

// A value that a loop carries ended with a slice that stood after what used it, in the loop.
TEST(found, carried_values_end_with_slices_of_run_time_length) {
  const auto kernel = tw::kernel("sums", {"x"}, [](tw::Tensor x) {
    auto n = x.size(1);
    auto out = tw::empty({1, n}, tw::float32);
    for (auto one : tw::tile(1)) {
      tw::Value sum = tw::ones({one, n}, tw::float32);
      for (auto tile : tw::tile(n)) {
        tw::store(out, {one, tw::_}, sum, {.extra_mask = sum <= 100});
        sum = tw::addmm(sum, tw::ones({one, tile}, tw::float32), x[0, tile, tw::slice(2, -1)]);
      }
    }
    return out;
  });
  for (int64_t n : {2, 5})
    EXPECT_EQ(check(kernel.bind(tw::Array::randint(-3, 4, {2, n, n + 3}, 1).to(tw::float32)).with(run_time_sizes()),
                    tw::Config{{"block_sizes", {1, 1}}}),
              "");
}

// Where a value's lanes end was asked of each of its operands, and for those again: twice as often with each product.
TEST(found, values_that_are_used_twice_each_time_are_compiled) {
  const auto kernel = tw::kernel("powers", {"x"}, [](tw::Tensor x) {
    auto out = tw::empty_like(x);
    for (auto tile : tw::tile(x.size(0))) {
      tw::Value power = x[tile, tw::_];
      for (int i = 0; i < 40; ++i) power = power * power;
      out[tile, tw::_] = power / (tw::sum(power, 1, true) + 1);
    }
    return out;
  });
  auto call = kernel.bind(tw::Array::randint(-1, 2, {3, 5}, 1).to(tw::float32));
  EXPECT_EQ(check(call, tw::Config{{"block_sizes", {2}}}), "");
}
