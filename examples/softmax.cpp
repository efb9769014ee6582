// Softmax over the rows of a matrix, written in three ways.
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tw = tilewright;

// As in PyTorch. A tile is some whole rows.
static const auto softmax = tw::kernel("softmax", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = tw::softmax(x[tile, tw::_], 1);
  return out;
});

// Step by step: the same kernel, spelt out in float32.
static const auto softmax_steps = tw::kernel("softmax_steps", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto values = x[tile, tw::_].to(tw::float32);
    auto powers = tw::exp(values - tw::amax(values, 1, /*keepdim=*/true));
    out[tile, tw::_] = powers / tw::sum(powers, 1, /*keepdim=*/true);
  }
  return out;
});

// Online: rows of any length in two passes, keeping the largest value so far and the sum of powers relative to it
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
static const auto softmax_online = tw::kernel("softmax_online", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty_like(x);
  for (auto tile_m : tw::tile(m)) {
    auto largest = tw::full({tile_m}, -INFINITY);
    auto total = tw::zeros({tile_m});
    for (auto tile_n : tw::tile(n)) {
      auto values = x[tile_m, tile_n].to(tw::float32);
      auto next = tw::maximum(largest, tw::amax(values, 1));
      total = total * tw::exp(largest - next) + tw::sum(tw::exp(values - next[tw::_, tw::none]), 1);
      largest = next;
    }
    for (auto tile_n : tw::tile(n)) {
      auto values = x[tile_m, tile_n].to(tw::float32);
      out[tile_m, tile_n] = tw::exp(values - largest[tw::_, tw::none]) / total[tw::_, tw::none];
    }
  }
  return out;
});

static std::vector<tw::Array> softmax_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), out = tw::Array::empty(x.sizes(), tw::float64);
  for (int64_t row = 0, n = x.size(1); row < x.size(0); ++row) {
    const double* values = x.data<double>() + row * n;
    double* result = out.data<double>() + row * n;
    double largest = -INFINITY, total = 0;
    for (int64_t j = 0; j < n; ++j) largest = std::max(largest, values[j]);
    for (int64_t j = 0; j < n; ++j) total += result[j] = std::exp(values[j] - largest);
    for (int64_t j = 0; j < n; ++j) result[j] /= total;
  }
  return {out};
}

static tw::RegisteredKernel registered(const char* summary,
                                       std::vector<tw::DType> dtypes = {tw::float32, tw::bfloat16, tw::float16}) {
  return {
      .summary = summary,
      .arguments = {"x: T[m, n]"},
      .dtypes = std::move(dtypes),
      .cases = {{"4096x4096", {{"m", 4096}, {"n", 4096}}}, {"65536x256", {{"m", 65536}, {"n", 256}}}},
      .flops = [](const tw::Instance& i) { return 5.0 * i["m"] * i["n"]; },
      .reference = softmax_reference,
  };
}

TILEWRIGHT_REGISTER(softmax) = registered("softmax over rows, by tw::softmax",
                                          {tw::float32, tw::bfloat16, tw::float16, tw::float64});
TILEWRIGHT_REGISTER(softmax_steps) = registered("softmax over rows, by amax, exp and sum");
TILEWRIGHT_REGISTER(softmax_online) = registered("softmax over rows of any length, in two passes over tiles");
