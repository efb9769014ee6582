// Subscripts beyond tiles and scalars, loads and stores with options, atomics.
#include "interpreted.h"
#include "tracing.h"

namespace tw = tilewright;
using namespace tw::testing;

namespace {

using tw::Value;

tw::Array int32s(std::vector<int32_t> values) { return tw::Array::from_vector(values); }
tw::Array numbered(const tw::IndexList& sizes) {
  tw::Array array = tw::Array::empty(sizes);
  for (int64_t i = 0; i < array.numel(); ++i) static_cast<float*>(array.data())[i] = float(i);
  return array;
}
std::vector<double> run(const tw::BoundCall& call) { return interpret(call)[0].to_vector<double>(); }

//
// Index tensors
//

TEST(IndexTensors, gather_rows) {
  auto embedding = tw::kernel("k", [](tw::Tensor weight, tw::Tensor ids) {
    auto out = tw::empty({ids.size(0), weight.size(1)});
    for (auto [tile, tile_n] : tw::tile({ids.size(0), weight.size(1)})) out[tile, tile_n] = weight[ids[tile], tile_n];
    return out;
  });
  tw::Array weight = numbered({4, 3}), ids = int32s({3, 0, 0, 2, 1, 3});
  EXPECT_TRUE(holds(trace_of(embedding, weight, ids),
                    {"tile.load %arg0[gather %", ", %arg3]", "-> tensor<?x?xf32, #tile.dims<[b0, b1]>>"}));
  EXPECT_EQ(run(embedding.bind(weight, ids)),
            (std::vector<double>{9, 10, 11, 0, 1, 2, 0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}));
}

TEST(IndexTensors, of_rank_1_address_each_combination) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor rows, tw::Tensor columns) {
    auto out = tw::empty({rows.size(0), columns.size(0)});
    for (auto [m, n] : tw::tile({rows.size(0), columns.size(0)})) out[m, n] = x[rows[m], columns[n]];
    return out;
  });
  tw::Array x = numbered({4, 5});
  EXPECT_TRUE(holds(trace_of(kernel, x, int32s({1, 2}), int32s({0})), {"[gather %", ", gather %"}));
  EXPECT_EQ(run(kernel.bind(x, int32s({3, 1}), int32s({4, 0, 2}))), (std::vector<double>{19, 15, 17, 9, 5, 7}));
}

TEST(IndexTensors, of_rank_2_side_by_side_go_element_by_element) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor rows, tw::Tensor columns) {
    auto out = tw::empty({rows.size(0), columns.size(0)});
    for (auto [m, n] : tw::tile({rows.size(0), columns.size(0)}))
      out[m, n] = x[rows[m][tw::_, tw::none] + 0, columns[n][tw::none, tw::_]];
    return out;
  });
  tw::Array x = numbered({4, 5});
  EXPECT_TRUE(holds(trace_of(kernel, x, int32s({1, 2}), int32s({0, 1})),
                    {"[gather %", ", with %", "-> tensor<?x?xf32, #tile.dims<[b0, b1]>>"}));
  EXPECT_EQ(run(kernel.bind(x, int32s({3, 1}), int32s({4, 0, 2}))), (std::vector<double>{19, 15, 17, 9, 5, 7}));
}

TEST(IndexTensors, scatter) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor where) {
    auto out = tw::empty_like(x);
    for (auto tile : tw::tile(x.size(0))) out[where[tile]] = x[tile] * 2;
    return out;
  });
  EXPECT_EQ(run(kernel.bind(numbered({6}), int32s({5, 3, 1, 0, 2, 4}))), (std::vector<double>{6, 4, 8, 2, 10, 0}));
}

TEST(IndexTensors, are_of_integers_and_stand_side_by_side) {
  auto trace = [](auto f) {
    auto kernel = tw::kernel("k", [f](tw::Tensor x, tw::Tensor ids) {
      for (auto tile : tw::tile(ids.size(0))) f(x, ids[tile]);
    });
    return error_of([&] { trace_of(kernel, tw::Array::empty({4, 4, 4}), int32s({1, 2, 3})); }).message;
  };
  EXPECT_TRUE(trace([](tw::Tensor x, Value i) {
                x[i > 0, 0, 0] = 1;
              }).starts_with("a tensor of indices must be of integers, found bool[tile of line"));
  EXPECT_EQ(trace([](tw::Tensor x, Value i) {
              Value j = i[tw::_, tw::none];
              x[0, 0, 0] = x[j, tw::_, j].sum();
            }),
            "index tensors of rank 2 or more must stand side by side, so that they go element by element");
}

//
// Slices and shifted tiles
//

TEST(Slices, are_pythons) {
  auto slice = [](tw::Slice s) {
    auto kernel = tw::kernel("k", [s](tw::Tensor x, tw::Tensor out) {
      for (auto tile : tw::tile(1)) out[tile.index()] = x[s].sum() * 100 + x[s].count_nonzero();
      return out;
    });
    static_assert(std::is_trivially_copyable_v<tw::Slice>);
    return run(kernel.bind(numbered({10}), tw::Array::empty({1})))[0];
  };
  EXPECT_EQ(slice(tw::slice(2, 5)), 903);
  EXPECT_EQ(slice(tw::slice(2, tw::none)), 4408);
  EXPECT_EQ(slice(tw::slice(tw::none, 3)), 302);
  EXPECT_EQ(slice(tw::slice(-3, tw::none)), 2403);
  EXPECT_EQ(slice(tw::slice(1, -1)), 3608);
  EXPECT_EQ(slice(tw::slice(8, 20)), 1702);
  EXPECT_EQ(slice(tw::slice(1, 9, 3)), 1203);
  EXPECT_EQ(slice(tw::slice(tw::none, tw::none, 4)), 1202);
  EXPECT_EQ(slice(tw::slice(5, 5)), 0);
  EXPECT_EQ(slice(tw::slice(7, 3)), 0);
  EXPECT_EQ(slice(tw::slice(4, 5)), 401);
}

TEST(Slices, may_begin_at_a_scalar_of_the_device) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor begins) {
    auto out = tw::empty({begins.size(0), 3});
    for (auto i : tw::grid(begins.size(0))) {
      x[tw::slice_from(begins[i], 1)] = 100;
      out[i, tw::_] = x[tw::slice_from(begins[i] + 0, 3)] + tw::arange(3);
    }
    return out;
  });
  EXPECT_TRUE(holds(trace_of(kernel, numbered({10}), int32s({4})), {"tile.slice %", ": !tile.tile<r0>"}));
  EXPECT_EQ(run(kernel.bind(numbered({10}), int32s({4, 7}))), (std::vector<double>{100, 6, 8, 100, 9, 11}));
}

TEST(Slices, of_the_device_have_a_known_length) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor begins) {
    for (auto i : tw::grid(begins.size(0))) x[tw::slice(0, begins[i])] = 1;
  });
  EXPECT_EQ(error_of([&] { trace_of(kernel, numbered({10}), int32s({4})); }).message,
            "the end of a slice must be a number or a size; a begin on the device is tw::slice_from(begin, length)");
}

TEST(ShiftedTiles, are_blocks_of_memory) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto out = tw::empty({x.size(0) - 2});
    for (auto tile : tw::tile(out.size(0))) out[tile] = x[tile] + x[tile + 1] * 10 + x[(tile + 3) - 1] * 100;
    return out;
  });
  EXPECT_TRUE(
      holds(trace_of(kernel, numbered({9})), {"tile.shift %arg1 by %c1", "tile.shift %arg1 by %c3", "tile.shift"}));
  EXPECT_EQ(run(kernel.bind(numbered({7}))), (std::vector<double>{210, 321, 432, 543, 654}));
}

TEST(Ellipsis, is_the_dimensions_that_are_missing) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto out = tw::empty({x.size(0)});
    for (auto tile : tw::tile(x.size(0))) {
      Value v = x[tw::ellipsis, 1].sum() + x[tile, tw::ellipsis, 1, tw::_].sum(1);
      out[tile] = v[tw::ellipsis, tw::none].sum(1);
    }
    return out;
  });
  EXPECT_TRUE(holds(trace_of(kernel, numbered({2, 3, 4})), {"%arg0[:, :, at %c1]", "%arg0[%arg1, at %c1, :]"}));
}

//
// Options
//

TEST(LoadAndStore, take_masks_and_hints) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto out = tw::empty_like(x);
    for (auto tile : tw::tile(x.size(0))) {
      Value v = tw::load(x, {tile}, {.extra_mask = tile.index() != 2, .eviction_policy = "first"});
      tw::store(out, {tile}, -1);
      tw::store(out, {tile}, v, {.extra_mask = v != 3});
    }
    return out;
  });
  EXPECT_TRUE(
      holds(trace_of(kernel, numbered({5})), {"tile.load %arg0[%arg1] mask %", "eviction = #tile<eviction first>",
                                              "tile.store", "tile.store %", "mask %"}));
  EXPECT_EQ(run(kernel.bind(numbered({5}))), (std::vector<double>{0, 1, 0, -1, 4}));
}

TEST(LoadAndStore, refuse_other_options) {
  auto trace = [](tw::DType dtype, const char* policy) {
    auto kernel = tw::kernel("k", [=](tw::Tensor x) {
      for (auto tile : tw::tile(x.size(0)))
        tw::store(x, {tile}, tw::load(x, {tile}, {.extra_mask = x[tile].to(dtype), .eviction_policy = policy}));
    });
    return error_of([&] { trace_of(kernel, tw::Array::empty({5})); }).message;
  };
  EXPECT_EQ(trace(tw::boolean, "soon"), "an eviction policy is \"\", \"first\" or \"last\", found \"soon\"");
  EXPECT_TRUE(trace(tw::int32, "").starts_with("an extra_mask must be bool, found int32[tile of line"));
}

//
// Atomics
//

TEST(Atomics, count) {
  auto histogram = tw::kernel("k", [](tw::Tensor x, tw::Tensor counts, tw::Tensor most) {
    for (auto tile : tw::tile(x.size(0))) {
      tw::atomic_add(counts, {x[tile]}, 1);
      tw::atomic_max(most, {0}, x[tile].amax());
    }
  });
  tw::Array counts = tw::Array::zeros({4}), most = tw::Array::zeros({1}, tw::int32);
  EXPECT_TRUE(holds(trace_of(histogram, int32s({1}), counts, most),
                    {"tile.atomic add %", "%arg1[gather %", "relaxed", "tile.atomic max %", "%arg2[at %c0] relaxed"}));
  interpret(histogram.bind(int32s({3, 1, 1, 0, 3, 3}), counts, most));
  EXPECT_EQ(counts.to_vector<double>(), (std::vector<double>{1, 2, 0, 3}));
  EXPECT_EQ(most.to_vector<double>(), std::vector<double>{3});
}

TEST(Atomics, give_what_was_there) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto out = tw::empty({3}, tw::int32);
    for (auto i : tw::grid(1)) {
      out[0] = tw::atomic_xchg(x, {1}, 7, "acq_rel");
      out[1] = tw::atomic_cas(x, {1}, 7, 8, "release");
      out[2] = tw::atomic_xor(x, {1}, 12);
    }
    return out;
  });
  tw::Array x = int32s({1, 2, 3});
  EXPECT_EQ(run(kernel.bind(x)), (std::vector<double>{2, 7, 8}));
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{1, 4, 3}));
}

TEST(Atomics, know_their_dtypes_and_orders) {
  auto trace = [](auto f) {
    auto kernel = tw::kernel("k", [f](tw::Tensor x) {
      for (auto tile : tw::tile(x.size(0))) f(x, tile);
    });
    return error_of([&] { trace_of(kernel, tw::Array::empty({5})); }).message;
  };
  EXPECT_EQ(trace([](tw::Tensor x, tw::Tile t) { tw::atomic_and(x, {t}, 1); }),
            "tw::atomic_and works on integers and bools, found a tensor of float32; there are tw::atomic_add, "
            "tw::atomic_max, tw::atomic_min and tw::atomic_xchg");
  EXPECT_EQ(trace([](tw::Tensor x, tw::Tile t) { tw::atomic_add(x, {t}, 1, "seq_cst"); }),
            "a memory order is \"relaxed\", \"acquire\", \"release\" or \"acq_rel\", found \"seq_cst\"");
}

} // namespace
