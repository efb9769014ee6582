// Kernels of run-time sizes (static_shapes = false): one specialisation serves many shapes, with the results that
// static shapes give.
#include "oracle.h"

#include <string>

namespace tw = tilewright;
using tw::test::expect_agrees_with_oracle;

namespace {

tw::Settings run_time_sizes() {
  tw::Settings settings;
  settings.autotune_effort = tw::AutotuneEffort::none;
  settings.static_shapes = false;
  return settings;
}

tw::Settings static_sizes() {
  tw::Settings settings = run_time_sizes();
  settings.static_shapes = true;
  return settings;
}

// Integers, so that sums in any order are equal.
tw::Array integers(tw::IndexList sizes, uint64_t seed, tw::DType dtype = tw::float32) {
  return tw::Array::randint(-8, 9, sizes, seed, tw::int32).to(dtype);
}

// f of each element of a dense array.
tw::Array mapped(const tw::Array& x, auto f) {
  tw::Array result = x.clone();
  auto* elements = static_cast<float*>(result.data());
  for (int64_t i = 0; i < result.numel(); ++i) elements[i] = f(elements[i]);
  return result;
}

template <class... A> void expect_same_as_static(const auto& kernel, const A&... arguments) {
  tw::Array found = kernel.with(run_time_sizes())(arguments...), expected = kernel.with(static_sizes())(arguments...);
  ASSERT_EQ(found.sizes(), expected.sizes());
  EXPECT_TRUE(equal(found, expected)) << kernel.definition().name;
}

template <class... A> void expect_oracle(const auto& kernel, size_t configs, const A&... arguments) {
  expect_agrees_with_oracle(kernel.bind(arguments...).with(run_time_sizes()), configs, 64);
}

const auto add = tw::kernel("add", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m, n}, x.dtype());
  for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_m, tile_n] = x[tile_m, tile_n] + y[tile_m, tile_n];
  return out;
});

// Another kernel, with specialisations of its own.
auto fresh_add() {
  return tw::kernel("fresh_add", [](tw::Tensor x, tw::Tensor y) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty({m, n}, x.dtype());
    for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_m, tile_n] = x[tile_m, tile_n] + y[tile_m, tile_n];
    return out;
  });
}

const auto matmul = tw::kernel("matmul", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, k] = x.sizes<2>();
  auto [k2, n] = y.sizes<2>();
  tw::check(k == k2, "inner sizes differ: {} and {}", k, k2);
  auto out = tw::empty({m, n}, x.dtype());
  for (auto [tile_m, tile_n] : tw::tile({m, n})) {
    auto acc = tw::zeros({tile_m, tile_n});
    for (auto tile_k : tw::tile(k)) acc = tw::addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n]);
    out[tile_m, tile_n] = acc;
  }
  return out;
});

// Rolled: reductions over a whole dimension, and stores of it.
const auto centred = tw::kernel("centred", {"x", "weight"}, [](tw::Tensor x, tw::Tensor weight) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto row = x[tile, tw::_];
    out[tile, tw::_] = (row - tw::amax(row, 1, true)) * weight[tw::_] + tw::sum(row, 1, true);
  }
  return out;
});

const auto doubled = tw::kernel("doubled", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = x[tile, tw::_] * 2;
  return out;
});

const auto means = tw::kernel("means", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty({x.size(0)}, tw::float32);
  for (auto tile : tw::tile(x.size(0))) out[tile] = tw::mean(x[tile, tw::_], 1);
  return out;
});

const auto totals = tw::kernel("totals", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty({x.size(0)}, tw::float32);
  for (auto tile : tw::tile(x.size(0))) out[tile] = tw::sum(x[tile, tw::_], 1);
  return out;
});

// In a bucket: a scan needs the dimension whole.
const auto row_sums = tw::kernel("row_sums", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto row = x[tile, tw::_];
    out[tile, tw::_] = tw::cumsum(row, 1) + tw::sum(tw::ones_like(row), 1, true);
  }
  return out;
});

// A product with whole dimensions.
const auto batched = tw::kernel("batched", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [b, m, k] = x.sizes<3>();
  auto out = tw::empty({b, m, y.size(2)}, x.dtype());
  for (auto [tile_b, tile_m] : tw::tile({b, m}))
    out[tile_b, tile_m, tw::_] = tw::bmm(x[tile_b, tile_m, tw::_], y[tile_b, tw::_, tw::_]);
  return out;
});

const auto largest = tw::kernel("largest", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty({x.size(0)}, tw::int64);
  for (auto tile : tw::tile(x.size(0))) out[tile] = tw::argmax(x[tile, tw::_], 1);
  return out;
});

const auto embedding = tw::kernel("embedding", {"table", "ids"}, [](tw::Tensor table, tw::Tensor ids) {
  auto [n, d] = table.sizes<2>();
  auto out = tw::empty({ids.size(0), d}, table.dtype());
  for (auto [tile, tile_d] : tw::tile({ids.size(0), d})) out[tile, tile_d] = table[ids[tile], tile_d];
  return out;
});

const auto tail = tw::kernel("tail", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m, n - 2}, x.dtype());
  for (auto tile : tw::tile(m)) out[tile, tw::_] = x[tile, tw::slice(2, tw::none)] + tw::sum(x[tile, -1]);
  return out;
});

const auto two_loops = tw::kernel("two_loops", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto more = tw::empty_like(x), less = tw::empty_like(y);
  for (auto tile : tw::tile(x.size(0))) more[tile] = x[tile] + 1;
  for (auto tile : tw::tile(y.size(0))) less[tile] = y[tile] - 1;
  return std::tuple(more, less);
});

const auto twice = tw::kernel("twice", {"x"}, [](tw::Tensor x) {
  auto between = tw::empty_like(x), out = tw::empty_like(x);
  auto n = x.size(0);
  for (auto tile : tw::tile(n)) between[tile] = x[tile] * 3;
  tw::barrier();
  for (auto i : tw::grid(n)) out[i] = between[n - 1 - i];
  return out;
});

const auto indices = tw::kernel("indices", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m, n}, tw::int64);
  for (auto [tile_m, tile_n] : tw::tile({m, n}))
    out[tile_m, tile_n] = tile_m.index()[tw::_, tw::none] * n + tile_n.index()[tw::none, tw::_];
  return out;
});

const auto noise = tw::kernel("noise", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m, n}, tw::float32);
  for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_m, tile_n] = tw::rand({tile_m, tile_n}, 7);
  return out;
});

} // namespace

TEST(dynamic_shapes, pointwise_kernels_give_what_static_shapes_give) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{0, 5}, {5, 0}, {1, 1}, {1, 7}, {7, 1}, {7, 127}, {1000, 333}}) {
    tw::Array x = integers({m, n}, 1), y = integers({m, n}, 2);
    expect_same_as_static(add, x, y);
    expect_same_as_static(add, x.t(), y.t());
    expect_same_as_static(add, integers({n, m}, 1).t(), y);
    expect_same_as_static(doubled, x);
    expect_same_as_static(indices, x);
    expect_same_as_static(noise, x);
  }
  expect_same_as_static(add, integers({7, 1}, 1).expand({7, 127}), integers({1, 127}, 1).expand({7, 127}));
  expect_same_as_static(add, integers({14, 254}, 1).slice(0, 0, 14, 2).slice(1, 0, 254, 2), integers({7, 127}, 1));
}

TEST(dynamic_shapes, pointwise_kernels_agree_with_the_oracle) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{0, 5}, {1, 7}, {7, 1}, {13, 127}}) {
    expect_oracle(add, 6, integers({m, n}, 1), integers({n, m}, 2).t());
    expect_oracle(doubled, 4, integers({m, n}, 1, tw::int64));
    expect_oracle(indices, 3, integers({m, n}, 1));
  }
  expect_oracle(add, 4, integers({7, 1}, 1).expand({7, 60}), integers({7, 60}, 1));
}

TEST(dynamic_shapes, reductions_over_rolled_dimensions) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{0, 5}, {3, 1}, {1, 7}, {7, 127}, {1000, 333}}) {
    tw::Array x = integers({m, n}, 1), weight = integers({n}, 2);
    expect_same_as_static(centred, x, weight);
    expect_same_as_static(centred, integers({n, m}, 1).t(), weight);
    expect_same_as_static(means, x);
    if (m * n > 4000) continue;
    expect_oracle(centred, 5, x, weight);
    expect_oracle(means, 4, x);
  }
  expect_same_as_static(totals, tw::Array::zeros({4, 0})); // 0 in each row
  expect_oracle(totals, 3, tw::Array::zeros({4, 0}));
}

TEST(dynamic_shapes, products) {
  for (auto [m, k, n] :
       {std::tuple<int64_t, int64_t, int64_t>{7, 13, 5}, {1, 7, 33}, {33, 1, 7}, {5, 0, 4}, {0, 3, 4}}) {
    expect_oracle(matmul, 4, integers({m, k}, 1), integers({k, n}, 2));
    expect_same_as_static(matmul, integers({m, k}, 1), integers({n, k}, 2).t());
  }
  expect_same_as_static(matmul, integers({127, 300}, 1), integers({300, 205}, 2));
  expect_oracle(batched, 4, integers({3, 17, 20}, 1), integers({3, 20, 33}, 2));
  expect_same_as_static(batched, integers({2, 5, 7}, 1), integers({2, 9, 7}, 2).transpose(1, 2));
}

TEST(dynamic_shapes, dimensions_that_are_needed_whole_are_in_a_bucket) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{0, 5}, {5, 1}, {1, 7}, {7, 127}, {9, 128}}) {
    expect_oracle(row_sums, 3, integers({m, n}, 1));
    expect_oracle(largest, 3, integers({m, n}, 1));
    expect_same_as_static(row_sums, integers({n, m}, 1).t());
    expect_same_as_static(largest, integers({m, n}, 1));
  }
  expect_same_as_static(row_sums, tw::Array::zeros({3, 0}));
  expect_same_as_static(row_sums, integers({100, 333}, 3));
}

TEST(dynamic_shapes, gathers_slices_several_loops_and_barriers) {
  tw::Array ids = tw::Array::randint(0, 9, {31}, 1, tw::int64);
  expect_oracle(embedding, 4, integers({9, 20}, 1), ids);
  expect_same_as_static(embedding, integers({20, 9}, 1).t(), ids);
  expect_oracle(tail, 3, integers({5, 12}, 1));
  expect_same_as_static(tail, integers({5, 3}, 1));
  expect_oracle(two_loops, 4, integers({100}, 1), integers({33}, 2));
  auto [more, less] = two_loops.with(run_time_sizes())(integers({0}, 1), integers({33}, 2));
  EXPECT_EQ(more.numel(), 0);
  EXPECT_TRUE(equal(less, mapped(integers({33}, 2), [](float x) { return x - 1; })));
  expect_oracle(twice, 4, integers({100}, 1));
  expect_same_as_static(twice, integers({0}, 1));
}

TEST(dynamic_shapes, one_specialisation_serves_many_shapes) {
  auto kernel = fresh_add().with(run_time_sizes());
  for (auto [m, n] : {std::pair<int64_t, int64_t>{5, 7}, {6, 9}, {100, 31}, {0, 4}, {64, 64}}) {
    tw::Array x = integers({m, n}, 1);
    EXPECT_TRUE(equal(kernel(x, x), add.with(static_sizes())(x, x)));
  }
  EXPECT_EQ(kernel.specialisation_count(), 1u);
  kernel(integers({1, 4}, 1), integers({1, 4}, 1)); // which sizes are 1
  EXPECT_EQ(kernel.specialisation_count(), 2u);
  kernel(integers({4, 5}, 1).t(), integers({5, 4}, 1)); // which strides are 1
  kernel(integers({9, 5}, 1).t(), integers({5, 9}, 1));
  EXPECT_EQ(kernel.specialisation_count(), 3u);
}

TEST(dynamic_shapes, each_bucket_is_a_specialisation) {
  auto kernel = tw::kernel("scan", [](tw::Tensor x) {
                  auto out = tw::empty_like(x);
                  for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = tw::cumsum(x[tile, tw::_], 1);
                  return out;
                }).with(run_time_sizes());
  for (int64_t n : {5, 6, 7, 8}) kernel(integers({3, n}, 1));
  EXPECT_EQ(kernel.specialisation_count(), 1u);
  kernel(integers({3, 9}, 1));
  EXPECT_EQ(kernel.specialisation_count(), 2u);
}

TEST(dynamic_shapes, what_the_host_part_does_with_a_size_is_a_guard) {
  auto kernel = tw::kernel("branches", [](tw::Tensor x) {
                  auto n = x.size(0);
                  auto out = tw::empty_like(x);
                  int by = n > 10 ? 2 : 3;
                  for (auto tile : tw::tile(n)) out[tile] = x[tile] * by;
                  return out;
                }).with(run_time_sizes());
  for (int64_t n : {4, 7, 10})
    EXPECT_TRUE(equal(kernel(integers({n}, 1)), mapped(integers({n}, 1), [](float x) { return x * 3; })));
  EXPECT_EQ(kernel.specialisation_count(), 1u);
  for (int64_t n : {11, 300})
    EXPECT_TRUE(equal(kernel(integers({n}, 1)), mapped(integers({n}, 1), [](float x) { return x * 2; })));
  EXPECT_EQ(kernel.specialisation_count(), 2u);
}

TEST(dynamic_shapes, specialize_and_division_make_a_number_of_a_size) {
  auto kernel = tw::kernel("by_heads", [](tw::Tensor x, int heads) {
                  auto [m, n] = x.sizes<2>();
                  auto width = tw::specialize(n) / heads;
                  auto out = tw::empty({m, width}, x.dtype());
                  for (auto [tile, tile_w] : tw::tile({m, width}))
                    out[tile, tile_w] = x[tile, tile_w] + x[tile, tile_w + width];
                  return out;
                }).with(run_time_sizes());
  for (int64_t m : {3, 40}) {
    tw::Array x = integers({m, 12}, 1);
    EXPECT_TRUE(equal(kernel(x, 2), add.with(static_sizes())(x.slice(1, 0, 6), x.slice(1, 6, 12))));
  }
  EXPECT_EQ(kernel.specialisation_count(), 1u);
  kernel(integers({3, 14}, 1), 2);
  EXPECT_EQ(kernel.specialisation_count(), 2u);
}

TEST(dynamic_shapes, lengths_that_happen_to_be_equal_are_a_guard) {
  auto kernel = tw::kernel("weighted", [](tw::Tensor x, tw::Tensor w) {
                  auto out = tw::empty({x.size(0)}, tw::float32);
                  for (auto tile : tw::tile(x.size(0))) out[tile] = tw::sum(x[tile, tw::_] * w[tw::_], 1);
                  return out;
                }).with(run_time_sizes());
  kernel(integers({4, 6}, 1), integers({6}, 2));
  kernel(integers({4, 9}, 1), integers({9}, 2));
  EXPECT_EQ(kernel.specialisation_count(), 1u);
  EXPECT_THROW(kernel(integers({4, 9}, 1), integers({6}, 2)), tw::Error);
}

TEST(dynamic_shapes, checks_are_made_at_each_launch) {
  auto kernel = matmul.with(run_time_sizes());
  kernel(integers({4, 6}, 1), integers({6, 5}, 2));
  size_t before = kernel.specialisation_count();
  try {
    kernel(integers({4, 7}, 1), integers({6, 5}, 2));
    FAIL() << "nothing was thrown";
  } catch (const tw::Error& error) {
    EXPECT_NE(std::string(error.what()).find("inner sizes differ: 7 and 6"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("dynamic_shapes_test.cpp"), std::string::npos) << error.what();
  }
  EXPECT_EQ(kernel.specialisation_count(), before);
}

TEST(dynamic_shapes, in_place_arguments_are_checked_and_written) {
  auto kernel = tw::kernel("increment", [](tw::Tensor x) {
                  for (auto tile : tw::tile(x.size(0))) x[tile] += 1;
                }).with(run_time_sizes());
  for (int64_t n : {3, 100}) {
    tw::Array x = tw::Array::zeros({n});
    kernel(x);
    EXPECT_TRUE(equal(x, tw::Array::ones({n})));
  }
  EXPECT_THROW(kernel(tw::Array::zeros({1}).expand({5})), tw::Error);
  EXPECT_EQ(kernel.specialisation_count(), 1u);
}

TEST(dynamic_shapes, programs_say_what_is_known_at_run_time) {
  tw::test::CallUnderTest test(centred.bind(integers({9, 50}, 1), integers({50}, 2)).with(run_time_sizes()));
  EXPECT_NE(test.specialisation().description.find("float32[*, *]"), std::string::npos);
  std::string program = test.stage(test.default_config(), tw::Stage::Program);
  EXPECT_NE(program.find("!tile.array<f32, [s0, s1], strides [?, 1], align 16>"), std::string::npos) << program;
  EXPECT_NE(program.find("tile.extent <s"), std::string::npos) << program;
}
