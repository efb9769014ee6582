// Layer normalisation over the rows of a matrix, in one pass over memory.
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <cmath>

namespace tw = tilewright;

static const auto layer_norm =
    tw::kernel("layer_norm", {"x", "weight", "bias", "eps"},
               [](tw::Tensor x, tw::Tensor weight, tw::Tensor bias, tw::Scalar<float> eps) {
                 auto [m, n] = x.sizes<2>();
                 tw::check(weight.size(0) == n, "weight has {} elements for rows of {}", weight.size(0), n);
                 tw::check(bias.size(0) == n, "bias has {} elements for rows of {}", bias.size(0), n);
                 auto out = tw::empty_like(x);
                 for (auto tile : tw::tile(m)) {
                   auto values = x[tile, tw::_].to(tw::float32);
                   auto centered = values - tw::mean(values, 1, /*keepdim=*/true);
                   auto variance = tw::mean(centered * centered, 1, /*keepdim=*/true);
                   out[tile, tw::_] = centered * tw::rsqrt(variance + eps) * weight[tw::_] + bias[tw::_];
                 }
                 return out;
               });

static std::vector<tw::Array> layer_norm_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), out = tw::Array::empty(x.sizes(), tw::float64);
  const double *weight = in[1].array().data<double>(), *bias = in[2].array().data<double>();
  double eps = in[3].number().real();
  for (int64_t row = 0, n = x.size(1); row < x.size(0); ++row) {
    const double* values = x.data<double>() + row * n;
    double* result = out.data<double>() + row * n;
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < n; ++j) mean += values[j] / n;
    for (int64_t j = 0; j < n; ++j) variance += (values[j] - mean) * (values[j] - mean) / n;
    for (int64_t j = 0; j < n; ++j) result[j] = (values[j] - mean) / std::sqrt(variance + eps) * weight[j] + bias[j];
  }
  return {out};
}

TILEWRIGHT_REGISTER(layer_norm) = {
    .summary = "layer normalisation over rows, with weight and bias",
    .arguments = {"x: T[m, n]", "weight: T[n]", "bias: T[n]", "eps: float32 = 1e-5"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8192x4096", {{"m", 8192}, {"n", 4096}}}, {"4096x1000", {{"m", 4096}, {"n", 1000}}}},
    .flops = [](const tw::Instance& i) { return 8.0 * i["m"] * i["n"]; },
    .reference = layer_norm_reference,
};
