// Tile loops: nesting, block ids, carried values, and how a loop must be left.
#include "tracing.h"

namespace tw = tilewright;
using namespace tw::testing;

namespace {

const tw::Array kMatrix = tw::Array::empty({64, 32});
const tw::Array kVector = tw::Array::empty({64});

TEST(Loops, every_dimension_of_every_tile_call_is_a_new_block) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    for (auto [tile_m, tile_n] : tw::tile({m, n})) {
      for (auto tile : tw::tile(n)) x[tile_m, tile] = x[tile_m, tile] + 1;
      for (auto tile : tw::tile(n)) x[tile_m, tile] = x[tile_m, tile] * 2;
      x[tile_m, tile_n] = 0;
    }
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix),
                    {"tile.for (%arg1: b0, %arg2: b1) = (%c0, %c0) to (%0, %1) parallel {", "tile.for (%arg3: b2)",
                     "tile.for (%arg3: b3)", "tile.store %2, %arg0[%arg1, %arg2]"}));
}

TEST(Loops, bounds_may_be_sizes_numbers_and_scalars_of_the_device) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor lengths) {
    for (auto tile : tw::tile(2, x.size(0) - 1)) {
      for (auto inner : tw::tile(tile.begin(), tile.end())) x[inner, 0] = 1;
      for (auto inner : tw::tile(lengths[0])) x[tile, inner] = 2;
    }
  });
  std::string text = trace_of(kernel, kMatrix, tw::Array::empty({1}, tw::int64));
  EXPECT_TRUE(holds(text, {"%c2 = arith.constant 2 : index", "tile.extent <s0 + -1>", "tile.for (%arg2: b0) = (%c2)",
                           "tile.begin %arg2", "tile.end %arg2", "tile.for (%arg3: b1) = (%1) to (%2)",
                           "arith.index_cast", ": i64 to index", "tile.for (%arg3: b2) = (%c0)"}));
}

TEST(Loops, a_block_size_may_be_fixed) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    for (auto [tile_m, tile_n] : tw::tile({m, n}, tw::block_size({16, tw::none})))
      for (auto tile : tw::tile(n, tw::block_size(8))) x[tile_m, tile] = x[tile_m, tile] + 1;
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix), {"tile.for (%arg1: 16, %arg2: b0)", "tile.for (%arg3: 8)"}));
}

TEST(Loops, may_share_a_registered_block_size) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto block = tw::register_block_size(n);
    auto out = tw::empty_like(x);
    for (auto tile_m : tw::tile(m)) {
      auto total = tw::zeros({tile_m, block});
      for (auto tile : tw::tile(n, tw::block_size(block))) total += x[tile_m, tile];
      auto sum = total.sum(1, true) + block;
      for (auto tile : tw::tile(n, tw::block_size(block))) out[tile_m, tile] = x[tile_m, tile] - sum;
    }
    return out;
  });
  EXPECT_TRUE(
      holds(trace_of(kernel, kMatrix), {"tile.for (%arg1: b1)", "tile.full", "tensor<?x?xf32, #tile.dims<[b1, b0]>>",
                                        "tile.for (%arg2: b0)", "tile.for (%arg2: b0)"}));
  int line = 0;
  auto nested = tw::kernel("k", [&](tw::Tensor x) {
    auto block = tw::register_block_size(x.size(0));
    for (auto tile : tw::tile(x.size(0), tw::block_size(block))) {
      line = __LINE__ + 1;
      for (auto inner : tw::tile(4, tw::block_size(block))) x[tile] = inner.begin();
    }
  });
  EXPECT_ERROR_AT(line,
                  "a tile loop of a registered block size stands in another one of the same, at line " +
                      std::to_string(line - 2) + "; give it a block size of its own",
                  trace_of(nested, kVector));
}

TEST(Loops, a_grid_has_scalar_indices) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    for (auto [i, j] : tw::grid({m, n}))
      for (auto k : tw::grid(4)) x[i, j] = x[i, k + 1];
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix),
                    {"tile.for (%arg1: grid, %arg2: grid)", "tile.for (%arg3: grid)", "arith.addi %arg3, %c1 : index",
                     "tile.load %arg0[at %arg1, at %2]", "tile.store %3, %arg0[at %arg1, at %arg2]"}));
}

TEST(Loops, numbers_of_a_tile) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0)))
      x[tile] = x[tile] + tile.index() + tile.begin() + tile.end() + tile.id() + tile.count() + tile.block_size();
  });
  EXPECT_TRUE(holds(trace_of(kernel, kVector),
                    {"tile.index %arg1 : !tile.tile<b0> -> tensor<?xi32, #tile.dims<[b0]>>", "tile.begin %arg1",
                     "tile.end %arg1", "tile.id %arg1", "tile.count %arg1", "tile.extent <b0>"}));
}

//
// Carried values
//

TEST(CarriedValues, assignment_in_a_loop_carries) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty({m});
    for (auto tile_m : tw::tile(m)) {
      auto total = tw::zeros({tile_m});
      for (auto tile_n : tw::tile(n)) total += tw::sum(x[tile_m, tile_n], 1);
      out[tile_m] = total;
    }
    return out;
  });
  EXPECT_TRUE(
      holds(trace_of(kernel, kMatrix), {"%3 = tile.full", "%4 = tile.for (%arg2: b1) = (%c0) to (%2) carry(%arg3 = %3)",
                                        "arith.addf %arg3, %6", "tile.yield %7", "tile.store %4, %0[%arg1]"}));
}

TEST(CarriedValues, what_is_only_read_is_not_carried) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    for (auto tile_m : tw::tile(m)) {
      auto scale = x[tile_m, 0];
      for (auto tile_n : tw::tile(n)) x[tile_m, tile_n] = x[tile_m, tile_n] * scale[tw::_, tw::none];
    }
  });
  std::string text = trace_of(kernel, kMatrix);
  EXPECT_EQ(count(text, "carry("), 0);
  EXPECT_TRUE(holds(text, {"%2 = tile.load %arg0[%arg1, at %c0]", "tile.expand_dims %2 dim 1"}));
}

TEST(CarriedValues, are_carried_through_every_loop_between) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty({m});
    for (auto tile : tw::tile(m)) {
      auto total = tw::zeros({tile});
      for (auto i : tw::grid(3))
        for (auto j : tw::grid(n)) total = total + x[tile, j] * x[tile, i];
      out[tile] = total;
    }
    return out;
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix),
                    {"%2 = tile.full", "%3 = tile.for (%arg2: grid) = (%c0) to (%c3) carry(%arg3 = %2)",
                     "%5 = tile.for (%arg4: grid) = (%c0) to (%4) carry(%arg5 = %arg3)", "%9 = arith.addf %arg5",
                     "tile.yield %9", "tile.yield %5", "tile.store %3"}));
}

TEST(CarriedValues, may_be_exchanged) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      tw::Value a = x[tile, 0], b = x[tile, 1];
      for (auto i : tw::grid(10)) {
        tw::Value old = a;
        a = b;
        b = old + b;
      }
      x[tile, 2] = a;
      x[tile, 3] = b;
    }
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix), {"carry(%arg3 = %1, %arg4 = %2)", "%4 = arith.addf %arg3, %arg4",
                                                "tile.yield %arg4, %4", "tile.store %3#0", "tile.store %3#1"}));
}

TEST(CarriedValues, members_of_structs_are_variables_too) {
  struct State {
    tw::Value largest, total;
  };
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      State state{tw::full({tile}, -1), tw::zeros({tile})};
      for (auto j : tw::grid(x.size(1))) {
        State next = state;
        next.largest = tw::maximum(next.largest, x[tile, j]);
        next.total += x[tile, j];
        state = next;
      }
      x[tile, 0] = state.largest / state.total;
    }
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix), {"carry(", "arith.maximumf", "arith.addf", "tile.yield"}));
}

TEST(CarriedValues, that_nobody_needs_are_dropped) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      tw::Value row = x[tile, 0];
      tw::Value unused = x[tile, 0];
      for (auto j : tw::grid(x.size(1))) {
        row = x[tile, j]; // is not read before it is assigned, nor after the loop
        x[tile, j] = row + 1;
        unused = unused + row;
      }
    }
  });
  std::string text = trace_of(kernel, kMatrix);
  EXPECT_EQ(count(text, "carry("), 0);
  EXPECT_EQ(count(text, "tile.load"), 1);
  EXPECT_EQ(count(text, "arith.addf"), 1);
}

TEST(CarriedValues, keep_their_dtype) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      auto total = tw::zeros({tile}, tw::int32);
      for (auto j : tw::grid(4)) {
        line = __LINE__ + 1;
        total += x[tile, j];
      }
      x[tile, 0] = total;
    }
  });
  EXPECT_ERROR_AT(line,
                  "a value that the tile loop of line " + std::to_string(line - 2) +
                      " carries on changes from int32[tile of line " + std::to_string(line - 4) + "] (line " +
                      std::to_string(line - 3) + ") to float32[tile of line " + std::to_string(line - 4) +
                      "]; it must keep its dtype and shape: convert it with .to(tw::int32)",
                  trace_of(kernel, kMatrix));
}

TEST(CarriedValues, keep_their_shape) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      auto total = tw::full({}, 0.0);
      for (auto j : tw::grid(4)) {
        line = __LINE__ + 1;
        total = total + x[tile, j];
      }
      x[tile, 0] = total;
    }
  });
  EXPECT_ERROR_AT(line,
                  "a value that the tile loop of line " + std::to_string(line - 2) +
                      " carries on changes from float32 scalar (line " + std::to_string(line - 3) +
                      ") to float32[tile of line " + std::to_string(line - 4) +
                      "]; it must keep its dtype and shape: begin with a value of the final shape, as from tw::zeros, "
                      "or use another variable",
                  trace_of(kernel, kMatrix));
}

//
// Leaving loops
//

TEST(LeavingLoops, continue_is_legal) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      x[tile] = 1;
      if (x.rank() == 1) continue;
      x[tile] = 2;
    }
  });
  EXPECT_EQ(count(trace_of(kernel, kVector), "tile.store"), 1);
}

TEST(LeavingLoops, break_is_an_error) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      line = __LINE__ + 1;
      for (auto i : tw::grid(3)) {
        x[tile] = i;
        break;
      }
      x[tile] = 2;
    }
  });
  EXPECT_ERROR_AT(line + 4,
                  "the tile loop of line " + std::to_string(line) +
                      " was left by break, return or an exception; its body is recorded once, for every time that it "
                      "runs, so it must run to its end (tw::where chooses by element, tw::if_ by a scalar)",
                  trace_of(kernel, kVector));
}

TEST(LeavingLoops, return_is_an_error) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      x[tile] = 1;
      return x;
    }
    return x;
  });
  EXPECT_TRUE(
      holds(error_of([&] { trace_of(kernel, kVector); }).message, {"was left by break, return or an exception"}));
}

TEST(LeavingLoops, a_caught_exception_is_an_error_and_an_uncaught_one_passes) {
  auto caught = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      try {
        for (auto i : tw::grid(3)) {
          x[tile] = i;
          throw 1;
        }
      } catch (int) {
      }
      x[tile] = 1;
    }
  });
  EXPECT_TRUE(
      holds(error_of([&] { trace_of(caught, kVector); }).message, {"was left by break, return or an exception"}));
  auto uncaught = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) throw 7;
  });
  EXPECT_THROW(trace_of(uncaught, kVector), int);
  EXPECT_TRUE(holds(trace_pointwise([](tw::Value x) { return x; }, tw::float32), {"tile.kernel"}))
      << "as if nothing had been";
}

TEST(LeavingLoops, what_belongs_to_a_loop_ends_with_it) {
  int line = 0;
  auto value = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      tw::Value last;
      for (auto i : tw::grid(3)) last = x[tile] * i;
      line = __LINE__ + 1;
      x[tile] = last;
    }
  });
  EXPECT_ERROR_AT(line,
                  "a tw::Value is used after the tile loop in which it got its value; give it a value before "
                  "and assign to it inside",
                  trace_of(value, kVector));
  auto tile = tw::kernel("k", [&](tw::Tensor x) {
    for (auto outer : tw::tile(x.size(0))) {
      tw::Tile last;
      for (auto inner : tw::tile(3)) last = inner;
      line = __LINE__ + 1;
      x[last] = 1;
    }
  });
  EXPECT_ERROR_AT(line, "a tw::Tile is used after its loop", trace_of(tile, kVector));
}

TEST(LeavingLoops, a_value_without_a_value_cannot_be_used) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      tw::Value nothing;
      line = __LINE__ + 1;
      x[tile] = nothing + 1;
    }
  });
  EXPECT_ERROR_AT(line, "a tw::Value is used before it is given a value", trace_of(kernel, kVector));
}

//
// Where loops may stand
//

TEST(OutermostLoops, there_is_at_least_one) {
  int line = __LINE__ + 1;
  auto none = tw::kernel("idle", [](tw::Tensor x) { return x; });
  EXPECT_ERROR_AT(line,
                  "kernel idle has no tile loop; a kernel has an outermost loop, as in for (auto tile : tw::tile(n))",
                  trace_of(none, kVector));
}

TEST(OutermostLoops, have_bounds_that_the_host_knows) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x, tw::Scalar<int64_t> n) {
    line = __LINE__ + 1;
    for (auto tile : tw::tile(n)) x[tile] = 1;
  });
  EXPECT_ERROR_AT(line,
                  "the bounds of the outermost tile loop must be sizes, plain numbers or elements of arguments, as in "
                  "offsets[0], not run-time numbers",
                  trace_of(kernel, kVector, 5));
}

TEST(OutermostLoops, a_bound_is_an_integer) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    for (auto tile : tw::tile(2.5)) x[tile] = 1;
  });
  EXPECT_ERROR_AT(line, "a bound of a tile loop must be an integer, found the number 2.5", trace_of(kernel, kVector));
  auto sizes = tw::kernel("k", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    for (auto tile : tw::tile(4, tw::block_size({4, 4}))) x[tile] = 1;
  });
  EXPECT_ERROR_AT(line, "2 block sizes for a tile loop over 1 dimensions", trace_of(sizes, kVector));
  auto zero = tw::kernel("k", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    for (auto tile : tw::tile(4, tw::block_size(0))) x[tile] = 1;
  });
  EXPECT_ERROR_AT(line, "a block size must be at least 1, found 0", trace_of(zero, kVector));
}

TEST(OutermostLoops, a_range_is_walked_once) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      line = __LINE__ + 1;
      auto range = tw::tile(3);
      for (auto inner : range) x[inner] = 1;
      for (auto inner : range) x[inner] = 2;
    }
  });
  EXPECT_ERROR_AT(line, "a range of tw::tile is walked once; call it again", trace_of(kernel, kVector));
}

} // namespace
