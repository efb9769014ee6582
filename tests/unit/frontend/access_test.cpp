// Subscripts, loads, stores and rebinding.
#include "tracing.h"

namespace tw = tilewright;
using namespace tw::testing;

namespace {

const tw::Array kMatrix = tw::Array::empty({64, 32});

TEST(Loads, subscripts_are_tiles_whole_dimensions_and_scalars) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor out) {
    auto [b, m, n] = x.sizes<3>();
    for (auto tile : tw::tile(m))
      for (auto i : tw::grid(b)) {
        out[0] = x[i, tile, tw::_].sum();
        out[1] = x[-1, tile, n - 1].sum();
        out[2] = x[0, tile].sum(); // what is missing is whole
        out[3] = x[tile.id(), 0, 0];
      }
  });
  std::string text = trace_of(kernel, tw::Array::empty({4, 64, 32}), tw::Array::empty({4}));
  EXPECT_TRUE(holds(text, {"attributes {whole = #tile.dims<[s2]>}",
                           "tile.load %arg0[at %arg3, %arg2, :] : !tile.array<f32, [s0, s1, s2]> -> "
                           "tensor<?x?xf32, #tile.dims<[b0, r0]>> tiles(!tile.tile<b0>)",
                           "tile.extent <s0 + -1>", "tile.extent <s2 + -1>", "tile.load %arg0[at %", ", %arg2, at %",
                           "tile.load %arg0[at %c0, %arg2, :]", "tile.id %arg2", "tile.load %arg0[at %", "-> f32"}));
}

TEST(Loads, none_inserts_a_dimension) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor y) {
    for (auto [tile_m, tile_n] : tw::tile({x.size(0), x.size(1)}))
      x[tile_m, tile_n] = y[tile_m, tw::none] + y[tw::none, tile_n] + y[tile_n];
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix, tw::Array::empty({64})),
                    {"tile.expand_dims %2 dim 1", "tile.broadcast", "tile.expand_dims %5 dim 0", "tile.broadcast",
                     "tile.expand_dims %9 dim 0"}));
}

TEST(Loads, all_tiles_of_a_loop_are_one_subscript) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tiles : tw::tile({x.size(0), x.size(1)})) x[tiles] = tw::zeros(tiles) + x[tiles];
  });
  EXPECT_TRUE(
      holds(trace_of(kernel, kMatrix), {"tile.load %arg0[%arg1, %arg2]", "tile.store %4, %arg0[%arg1, %arg2]"}));
}

TEST(Loads, a_scalar_index_may_be_loaded) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor which) {
    for (auto tile : tw::tile(x.size(1)))
      for (auto i : tw::grid(3)) x[i, tile] = x[which[i], tile];
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix, tw::Array::empty({3}, tw::int32)),
                    {"%1 = tile.load %arg1[at %arg3]", "-> i32", "%2 = arith.index_cast %1 : i32 to index",
                     "tile.load %arg0[at %2, %arg2]"}));
}

TEST(Loads, equal_lengths_are_one_whole_dimension) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor weight) {
    auto [m, n] = x.sizes<2>();
    for (auto tile : tw::tile(m)) {
      auto rows = tw::zeros({tile, n}) + tw::ones({tile, 32}) + x[tile, tw::_] * weight[tw::_];
      x[tile, tw::_] = rows;
    }
  });
  std::string text = trace_of(kernel, kMatrix, tw::Array::empty({32}));
  EXPECT_TRUE(holds(text, {"attributes {whole = #tile.dims<["}));
  EXPECT_EQ(count(text, "r1"), 0);
}

TEST(Loads, a_dimension_of_size_1_is_constant_and_repeats_under_a_tile) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor out) {
    auto [m, n] = out.sizes<2>();
    for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_m, tile_n] = x[tile_m, tile_n] * x[tile_m, tw::_];
  });
  EXPECT_TRUE(
      holds(trace_of(kernel, tw::Array::empty({64, 1}), kMatrix),
            {"!tile.array<f32, [s0, 1]>", "!tile.array<f32, [s2, s3]>",
             "tile.load %arg0[%arg2, %arg3] : !tile.array<f32, [s0, 1]> -> tensor<?x1xf32, #tile.dims<[b0, 1]>>",
             "tile.load %arg0[%arg2, :] : !tile.array<f32, [s0, 1]> -> tensor<?x1xf32, #tile.dims<[b0, 1]>>",
             "tile.broadcast"}));
}

// A kernel that is right for all sizes is recorded for size 1 too: its shapes do not change under its hands.
TEST(Loads, a_tile_over_the_one_index_of_its_loop_keeps_its_extent) {
  auto kernel = tw::kernel("causal", [](tw::Tensor q, tw::Tensor k) {
    auto out = tw::empty_like(q);
    for (auto tile_q : tw::tile(q.size(0))) {
      auto acc = tw::zeros({tile_q, q.size(1)});
      for (auto tile_k : tw::tile(0, tile_q.end())) {
        auto scores = tw::dot(q[tile_q, tw::_], k[tile_k, tw::_].t());
        scores = tw::where(tile_q.index()[tw::_, tw::none] >= tile_k.index(), scores, 0);
        acc = tw::addmm(acc, scores, k[tile_k, tw::_]);
      }
      out[tile_q, tw::_] = acc;
    }
    return out;
  });
  std::string text = trace_of(kernel, tw::Array::empty({1, 8}), tw::Array::empty({1, 8}));
  EXPECT_TRUE(
      holds(text, {"tile.load %arg0[%arg2, :] : !tile.array<f32, [1, s1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>",
                   "tile.load %arg1[%arg3, :] : !tile.array<f32, [1, s3]> -> tensor<?x?xf32, #tile.dims<[b1, r0]>>"}));
}

//
// Stores
//

TEST(Stores, take_back_the_load_of_their_subscripts) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto out = tw::empty_like(x);
    for (auto tile : tw::tile(x.size(0))) out[tile, 0] = x[tile, 1];
    return out;
  });
  std::string text = trace_of(kernel, kMatrix);
  EXPECT_EQ(count(text, "tile.load"), 1);
  EXPECT_TRUE(holds(text, {"tile.load %arg0[%arg1, at %c1]", "tile.store %2, %0[%arg1, at %c0]"}));
}

TEST(Stores, convert_and_broadcast) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor flags) {
    for (auto [tile_m, tile_n] : tw::tile({x.size(0), x.size(1)})) {
      x[tile_m, tile_n] = 1.5;
      x[tile_m, tile_n] = tile_n.index();
      flags[tile_m] = x[tile_m, 0];
      x[0, 0] = tile_m.begin();
    }
  });
  std::string text = trace_of(kernel, kMatrix.to(tw::bfloat16), tw::Array::empty({64}, tw::boolean));
  EXPECT_TRUE(holds(text, {"arith.constant 1.500000e+00 : bf16", "tile.splat", "tile.store", "tile.index %arg3",
                           "arith.sitofp", "tile.expand_dims", "tile.broadcast", "tile.store", "arith.cmpf une",
                           "tile.store", "!tile.array<i1, [s2]>", "tile.begin", "arith.index_cast", ": index to i64",
                           "arith.sitofp", "i64 to bf16", "tile.store"}));
}

TEST(Stores, a_compound_assignment_loads_and_stores) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor y) {
    for (auto tile : tw::tile(x.size(0))) x[tile, 0] += y[tile, 1] * 2;
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix, kMatrix), {"%1 = tile.load %arg0[%arg2, at %c0]", "tile.load %arg1",
                                                         "arith.mulf", "arith.addf %1, ", "tile.store"}));
}

TEST(Stores, keep_their_place_among_loads_of_the_same_tensor) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      auto before = x[tile, 0];
      x[tile, 0] = 1;
      auto after = x[tile, 0];
      x[tile, 1] = after + before;
    }
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix),
                    {"%2 = tile.load", "tile.store %1", "%3 = tile.load", "arith.addf %3, %2", "tile.store"}));
}

TEST(Rebinding, a_loaded_variable_stores_nothing) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      auto v = x[tile, 0];
      v = x[tile, 1];
      v += 1;
      auto w = v;
      w = w * 2;
      x[tile, 2] = v;
    }
  });
  std::string text = trace_of(kernel, kMatrix);
  EXPECT_EQ(count(text, "tile.store"), 1);
  EXPECT_TRUE(holds(text, {"tile.load %arg0[%arg1, at %c1]", "arith.addf", "tile.store"}));
  EXPECT_EQ(count(text, "arith.mulf"), 0);
}

//
// Errors
//

TEST(AccessErrors, name_rank_and_range) {
  int line = 0;
  auto too_many = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      line = __LINE__ + 1;
      x[tile, 0, 0] = 1;
    }
  });
  EXPECT_ERROR_AT(line, "3 subscripts for a tensor of rank 2: it takes one for each dimension",
                  trace_of(too_many, kMatrix));
  auto out_of_range = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      line = __LINE__ + 1;
      x[tile, 0] = x[tile, -33];
    }
  });
  EXPECT_ERROR_AT(line, "index -33 is out of range for dimension 1 of size 32; it may be from -32 to 31",
                  trace_of(out_of_range, kMatrix));
  auto rank = tw::kernel("k", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    auto [m, n, k] = x.sizes<3>();
    for (auto tile : tw::tile(m)) x[tile] = 1;
  });
  EXPECT_ERROR_AT(line, "sizes<3>() of a tensor of rank 2; pass an array of 3 dimensions, or write sizes<2>()",
                  trace_of(rank, kMatrix));
  auto dim = tw::kernel("k", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    for (auto tile : tw::tile(x.size(2))) x[tile] = 1;
  });
  EXPECT_ERROR_AT(line, "there is no dimension 2 in a tensor of rank 2; they go from -2 to 1", trace_of(dim, kMatrix));
}

TEST(AccessErrors, fractions_are_no_indices) {
  int line = 0;
  auto fraction = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      line = __LINE__ + 1;
      x[tile, 0] = x[tile, x[0, 0]];
    }
  });
  EXPECT_ERROR_AT(line, "a subscript must be an integer, found float32 scalar", trace_of(fraction, kMatrix));
}

TEST(AccessErrors, stored_values_fit_their_block) {
  int line = 0;
  auto scalar = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      line = __LINE__ + 1;
      x[0, 0] = x[tile, 1];
    }
  });
  EXPECT_ERROR_AT(line,
                  "float32[tile of line " + std::to_string(line - 2) +
                      "] does not fit into one element of a tensor; reduce it, or store to a tile",
                  trace_of(scalar, kMatrix));
  auto other_tile = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0)))
      for (auto inner : tw::tile(x.size(1))) {
        line = __LINE__ + 1;
        x[tile, inner] = x[tile, tw::_];
      }
  });
  EXPECT_ERROR_AT(line,
                  "float32[tile of line " + std::to_string(line - 3) +
                      ", 32] does not fit into a block of shape [tile "
                      "of line " +
                      std::to_string(line - 3) + ", tile of line " + std::to_string(line - 2) +
                      "]; index both with the same tiles",
                  trace_of(other_tile, kMatrix));
  auto repeated = tw::kernel("k", [&](tw::Tensor x, tw::Tensor out) {
    for (auto tile : tw::tile(x.size(0))) {
      line = __LINE__ + 1;
      out[tile] = x[tile, 0];
    }
  });
  EXPECT_ERROR_AT(line, "a tile of several elements would be stored into a dimension of size 1; index it with 0",
                  trace_of(repeated, kMatrix, tw::Array::empty({1})));
}

TEST(AccessErrors, memory_is_reached_in_tile_loops_only) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    auto value = x[0, 0];
    for (auto tile : tw::tile(x.size(0))) x[tile, 0] = value;
  });
  EXPECT_ERROR_AT(
      line,
      "reading or writing a tensor is work on the device: it belongs into a tile loop, as in for (auto tile "
      ": tw::tile(n))",
      trace_of(kernel, kMatrix));
  EXPECT_ERROR_AT(
      line,
      "reading or writing a tensor is work on the device: it belongs into a tile loop, as in for (auto tile "
      ": tw::tile(n)); before the outermost loop an element is read only to be its bound",
      trace_of(kernel, tw::Array::zeros({4, 6}, tw::int64)));
}

} // namespace
