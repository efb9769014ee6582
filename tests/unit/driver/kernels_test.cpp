// Kernels as a user writes them, on sizes that divide nothing, with random configs, against the interpreter.
#include "matmul_kernel.h"
#include "oracle.h"

#include <cmath>
#include <thread>

namespace tw = tilewright;
using tw::test::expect_agrees_with_oracle;
using tw::test::matmul;

namespace {

const auto add = tw::kernel("add", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty_like(x);
  for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_m, tile_n] = x[tile_m, tile_n] + y[tile_m, tile_n];
  return out;
});

const auto row_sum = tw::kernel("row_sum", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty({x.size(0)}, x.dtype());
  for (auto tile : tw::tile(x.size(0))) out[tile] = tw::sum(x[tile, tw::_], 1);
  return out;
});

const auto column_sum = tw::kernel("column_sum", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty({x.size(1)}, x.dtype());
  for (auto tile : tw::tile(x.size(1))) out[tile] = tw::sum(x[tw::_, tile], 0);
  return out;
});

const auto softmax = tw::kernel("softmax", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = tw::softmax(x[tile, tw::_], 1);
  return out;
});

const auto normalise = tw::kernel("normalise", {"x", "weight"}, [](tw::Tensor x, tw::Tensor weight) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto values = x[tile, tw::_].to(tw::float32);
    auto centred = values - tw::mean(values, 1, true);
    auto variance = tw::mean(centred * centred, 1, true);
    out[tile, tw::_] = centred * tw::rsqrt(variance + 1e-5) * weight[tw::_];
  }
  return out;
});

const auto transpose = tw::kernel("transpose", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({n, m}, x.dtype());
  for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_n, tile_m] = x[tile_m, tile_n].t();
  return out;
});

const auto causal_scores = tw::kernel("causal_scores", {"q", "k"}, [](tw::Tensor q, tw::Tensor k) {
  auto [n, d] = q.sizes<2>();
  auto out = tw::empty({n, n}, q.dtype());
  for (auto [tile_q, tile_k] : tw::tile({n, n})) {
    auto scores = tw::dot(q[tile_q, tw::_], k[tile_k, tw::_].t());
    auto visible = tile_q.index()[tw::_, tw::none] >= tile_k.index()[tw::none, tw::_];
    out[tile_q, tile_k] = tw::where(visible, scores, 0.0);
  }
  return out;
});

const auto scale_in_place = tw::kernel("scale_in_place", {"x", "factor"}, [](tw::Tensor x, tw::Scalar<float> factor) {
  auto [m, n] = x.sizes<2>();
  for (auto [tile_m, tile_n] : tw::tile({m, n})) x[tile_m, tile_n] = x[tile_m, tile_n] * factor;
});

const auto online_softmax = tw::kernel("online_softmax", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty_like(x);
  for (auto tile_m : tw::tile(m)) {
    auto largest = tw::full({tile_m}, -INFINITY);
    auto total = tw::zeros({tile_m});
    for (auto tile_n : tw::tile(n)) {
      auto values = x[tile_m, tile_n];
      auto next = tw::maximum(largest, tw::amax(values, 1));
      total = total * tw::exp(largest - next) + tw::sum(tw::exp(values - next.unsqueeze(-1)), 1);
      largest = next;
    }
    for (auto tile_n : tw::tile(n))
      out[tile_m, tile_n] = tw::exp(x[tile_m, tile_n] - largest.unsqueeze(-1)) / total.unsqueeze(-1);
  }
  return out;
});

const auto attention = tw::kernel("attention", {"q", "k", "v"}, [](tw::Tensor q, tw::Tensor k, tw::Tensor v) {
  auto [heads, queries, dim] = q.sizes<3>();
  auto keys = k.size(1);
  auto out = tw::empty_like(q);
  for (auto [tile_h, tile_q] : tw::tile({heads, queries})) {
    auto query = q[tile_h, tile_q, tw::_];
    auto largest = tw::full({tile_h, tile_q}, -INFINITY);
    auto total = tw::zeros({tile_h, tile_q});
    auto acc = tw::zeros({tile_h, tile_q, dim});
    for (auto tile_k : tw::tile(keys)) {
      auto scores = tw::dot(query, k[tile_h, tile_k, tw::_].transpose(1, 2)) * 0.25;
      auto next = tw::maximum(largest, tw::amax(scores, -1));
      auto weights = tw::exp(scores - next.unsqueeze(-1));
      auto fade = tw::exp(largest - next);
      total = total * fade + tw::sum(weights, -1);
      acc = tw::baddbmm(acc * fade.unsqueeze(-1), weights, v[tile_h, tile_k, tw::_]);
      largest = next;
    }
    out[tile_h, tile_q, tw::_] = acc / total.unsqueeze(-1);
  }
  return out;
});

const std::pair<int64_t, int64_t> kSizes[] = {{1, 1}, {7, 5}, {1, 127}, {127, 1}, {100, 33}, {64, 64}};

} // namespace

TEST(kernels, pointwise_on_sizes_that_divide_nothing) {
  for (auto [m, n] : kSizes)
    expect_agrees_with_oracle(add.bind(tw::Array::randn({m, n}, 1), tw::Array::randn({m, n}, 2)), 6, 1);
}

TEST(kernels, pointwise_on_every_dtype) {
  for (tw::DType dtype : {tw::float32, tw::float64, tw::bfloat16, tw::float16, tw::int32, tw::int64}) {
    auto make = [&](uint64_t seed) { return tw::Array::randint(-9, 9, {19, 37}, seed, dtype); };
    expect_agrees_with_oracle(add.bind(make(1), make(2)), 3, 1);
  }
}

TEST(kernels, pointwise_on_strided_inputs) {
  tw::Array x = tw::Array::randn({40, 30}, 1);
  expect_agrees_with_oracle(add.bind(x.t(), tw::Array::randn({30, 40}, 2)), 4, 1);
  expect_agrees_with_oracle(add.bind(x.slice(1, 0, 30, 2), tw::Array::randn({40, 1}, 3).expand({40, 15})), 4, 1);
}

TEST(kernels, reductions_over_rows_and_columns) {
  for (auto [m, n] : kSizes) {
    expect_agrees_with_oracle(row_sum.bind(tw::Array::randn({m, n}, 1)), 6, n);
    expect_agrees_with_oracle(column_sum.bind(tw::Array::randn({m, n}, 1)), 6, m);
  }
}

TEST(kernels, reductions_on_every_dtype) {
  for (tw::DType dtype : {tw::float64, tw::bfloat16, tw::float16, tw::int64})
    expect_agrees_with_oracle(row_sum.bind(tw::Array::randint(-3, 3, {13, 70}, 1, dtype)), 3, 70);
}

TEST(kernels, softmax_in_two_forms) {
  for (auto [m, n] : kSizes) {
    expect_agrees_with_oracle(softmax.bind(tw::Array::randn({m, n}, 1)), 8, n);
    expect_agrees_with_oracle(online_softmax.bind(tw::Array::randn({m, n}, 1)), 8, n);
  }
  expect_agrees_with_oracle(softmax.bind(tw::Array::randn({9, 1000}, 1)), 8, 1000);
}

TEST(kernels, layer_norm) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{7, 33}, {40, 300}})
    expect_agrees_with_oracle(normalise.bind(tw::Array::randn({m, n}, 1), tw::Array::randn({n}, 2)), 8, n);
}

TEST(kernels, matmul_on_sizes_that_divide_nothing) {
  for (auto [m, n] : kSizes)
    for (int64_t k : {1, 13, 70})
      expect_agrees_with_oracle(matmul.bind(tw::Array::randn({m, k}, 1), tw::Array::randn({k, n}, 2)), 4, k);
}

TEST(kernels, matmul_of_transposed_and_half_precision_operands) {
  tw::Array x = tw::Array::randn({50, 30}, 1), y = tw::Array::randn({50, 40}, 2);
  expect_agrees_with_oracle(matmul.bind(x.t(), y), 6, 50);
  expect_agrees_with_oracle(matmul.bind(x, tw::Array::randn({40, 30}, 3).t()), 6, 30);
  for (tw::DType dtype : {tw::bfloat16, tw::float16})
    expect_agrees_with_oracle(matmul.bind(x.to(dtype), tw::Array::randn({30, 20}, 3, dtype)), 6, 30);
}

TEST(kernels, transpose_and_causal_mask) {
  expect_agrees_with_oracle(transpose.bind(tw::Array::randn({33, 70}, 1)), 8, 1);
  expect_agrees_with_oracle(causal_scores.bind(tw::Array::randn({45, 16}, 1), tw::Array::randn({45, 16}, 2)), 8, 16);
}

TEST(kernels, attention_over_key_tiles) {
  auto make = [](int64_t rows, uint64_t seed) { return tw::Array::randn({3, rows, 16}, seed); };
  expect_agrees_with_oracle(attention.bind(make(29, 1), make(50, 2), make(50, 3)), 10, 50);
}

TEST(kernels, stores_into_an_argument) {
  expect_agrees_with_oracle(scale_in_place.bind(tw::Array::randn({17, 40}, 1), tw::Scalar<float>(3)), 6, 1);
}

TEST(kernels, give_the_same_bits_from_eight_threads_at_once) {
  tw::Config config{{"block_sizes", {16, 32, 8}}};
  auto fixed = matmul.with(config);
  tw::Array x = tw::Array::randn({100, 33}, 1), y = tw::Array::randn({33, 70}, 2);
  tw::Array expected = fixed(x, y);
  std::vector<tw::Array> results(8);
  {
    std::vector<std::jthread> threads;
    for (tw::Array& result : results) threads.emplace_back([&] { result = fixed(x, y); });
  }
  for (const tw::Array& result : results) EXPECT_TRUE(equal(result, expected));
}
