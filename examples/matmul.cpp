// A matrix product with an epilogue: a function of the caller's that every tile of the result goes through before it is
// stored, in the same kernel.
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <cmath>

namespace tw = tilewright;

// The product, for the kernels below. C++ functions of tensors and values are how kernels share what they do.
template <class Epilogue> static tw::Tensor multiply(tw::Tensor x, tw::Tensor y, Epilogue epilogue) {
  auto [m, k] = x.sizes<2>();
  auto [k2, n] = y.sizes<2>();
  tw::check(k == k2, "inner sizes differ: {} and {}", k, k2);
  auto out = tw::empty({m, n}, x.dtype());
  for (auto [tile_m, tile_n] : tw::tile({m, n})) {
    auto acc = tw::zeros({tile_m, tile_n}, tw::float32);
    for (auto tile_k : tw::tile(k)) acc = tw::addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n]);
    out[tile_m, tile_n] = epilogue(acc, tile_n);
  }
  return out;
}

static const auto matmul = tw::kernel("matmul", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  return multiply(x, y, [](tw::Value acc, tw::Tile) { return acc; });
});

// The activation is an argument of the call: each gives a specialisation of its own.
static const auto linear =
    tw::kernel("linear", {"x", "y", "bias"}, [](tw::Tensor x, tw::Tensor y, tw::Tensor bias, auto activation) {
      return multiply(x, y, [&](tw::Value acc, tw::Tile tile_n) { return activation(acc + bias[tile_n]); });
    });

static tw::Array product(const tw::Array& x, const tw::Array& y) {
  int64_t m = x.size(0), k = x.size(1), n = y.size(1);
  tw::Array out = tw::Array::zeros({m, n}, tw::float64);
  const double *left = x.data<double>(), *right = y.data<double>();
  double* sums = out.data<double>();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) sums[i * n + j] += left[i * k + p] * right[p * n + j];
  return out;
}

TILEWRIGHT_REGISTER(matmul) = {
    .summary = "matrix product",
    .arguments = {"x: T[m, k]", "y: T[k, n]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"1024", {{"m", 1024}, {"k", 1024}, {"n", 1024}}},
              {"512", {{"m", 512}, {"k", 512}, {"n", 512}}},
              {"2048", {{"m", 2048}, {"k", 2048}, {"n", 2048}}},
              {"tall", {{"m", 8192}, {"k", 256}, {"n", 256}}},
              {"wide", {{"m", 64}, {"k", 1024}, {"n", 8192}}}},
    .flops = [](const tw::Instance& i) { return 2.0 * i["m"] * i["n"] * i["k"]; },
    .reference = [](std::span<const tw::AnyArgument> in) { return std::vector{product(in[0].array(), in[1].array())}; },
    .peer = "gemm",
};

TILEWRIGHT_REGISTER(linear) = {
    .summary = "matrix product with bias and gelu in the same kernel",
    .arguments = {"x: T[m, k]", "y: T[k, n]", "bias: T[n]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"1024", {{"m", 1024}, {"k", 1024}, {"n", 1024}}}},
    .flops = [](const tw::Instance& i) { return 2.0 * i["m"] * i["n"] * i["k"]; },
    .reference =
        [](std::span<const tw::AnyArgument> in) {
          tw::Array out = product(in[0].array(), in[1].array());
          const double* bias = in[2].array().data<double>();
          double* sums = out.data<double>();
          for (int64_t i = 0; i < out.numel(); ++i) {
            double sum = sums[i] + bias[i % out.size(1)];
            sums[i] = sum / 2 * (1 + std::erf(sum / std::sqrt(2.0)));
          }
          return std::vector{out};
        },
    .bind =
        [](std::span<const tw::AnyArgument> in) {
          auto gelu = [](tw::Value v) { return tw::gelu(v); };
          return linear.bind(in[0].array(), in[1].array(), in[2].array(), gelu);
        },
};
