// Layer normalisation over the rows of a matrix, forward in one pass over memory, and backward.
//
//   r = 1 / sqrt(variance(x) + eps),  z = (x - mean(x)) r,  y = z weight + bias
//
// and for the gradient g of y, with s = g weight: dx = r (s - mean(s) - z mean(s z)); dweight and dbias are the sums
// over rows of g z and of g.
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

// Rows give dx; then, with each row's mean and scale at hand, columns give the rest.
static const auto layer_norm_backward =
    tw::kernel("layer_norm_backward", {"x", "weight", "grad", "eps"},
               [](tw::Tensor x, tw::Tensor weight, tw::Tensor grad, tw::Scalar<float> eps) {
                 auto [m, n] = x.sizes<2>();
                 auto grad_x = tw::empty_like(x);
                 auto grad_weight = tw::empty_like(weight);
                 auto grad_bias = tw::empty_like(weight);
                 auto means = tw::empty({m});
                 auto scales = tw::empty({m});
                 for (auto tile : tw::tile(m)) {
                   auto [variance, mean] = tw::var_mean(x[tile, tw::_].to(tw::float32), 1, /*correction=*/0);
                   auto scale = tw::rsqrt(variance + eps);
                   auto normal = (x[tile, tw::_] - mean[tw::_, tw::none]) * scale[tw::_, tw::none];
                   auto slope = grad[tile, tw::_].to(tw::float32) * weight[tw::_];
                   auto along = tw::mean(slope * normal, 1, /*keepdim=*/true);
                   grad_x[tile, tw::_] = scale[tw::_, tw::none] * (slope - tw::mean(slope, 1, true) - normal * along);
                   means[tile] = mean;
                   scales[tile] = scale;
                 }
                 tw::barrier();
                 for (auto tile_n : tw::tile(n)) {
                   auto weight_total = tw::zeros({tile_n});
                   auto bias_total = tw::zeros({tile_n});
                   for (auto tile_m : tw::tile(m)) {
                     auto slope = grad[tile_m, tile_n].to(tw::float32);
                     auto normal = (x[tile_m, tile_n] - means[tile_m, tw::none]) * scales[tile_m, tw::none];
                     weight_total += tw::sum(slope * normal, 0);
                     bias_total += tw::sum(slope, 0);
                   }
                   grad_weight[tile_n] = weight_total;
                   grad_bias[tile_n] = bias_total;
                 }
                 return std::tuple(grad_x, grad_weight, grad_bias);
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

static std::vector<tw::Array> layer_norm_backward_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), grad_x = tw::Array::empty(x.sizes(), tw::float64);
  tw::Array grad_weight = tw::Array::zeros({x.size(1)}, tw::float64), grad_bias = grad_weight.clone();
  const double* weight = in[1].array().data<double>();
  double eps = in[3].number().real();
  for (int64_t row = 0, n = x.size(1); row < x.size(0); ++row) {
    const double *values = x.data<double>() + row * n, *grad = in[2].array().data<double>() + row * n;
    double mean = 0, variance = 0, slope_mean = 0, along = 0;
    for (int64_t j = 0; j < n; ++j) mean += values[j] / n;
    for (int64_t j = 0; j < n; ++j) variance += (values[j] - mean) * (values[j] - mean) / n;
    double scale = 1 / std::sqrt(variance + eps);
    for (int64_t j = 0; j < n; ++j) {
      double normal = (values[j] - mean) * scale;
      slope_mean += grad[j] * weight[j] / n;
      along += grad[j] * weight[j] * normal / n;
      grad_weight.data<double>()[j] += grad[j] * normal;
      grad_bias.data<double>()[j] += grad[j];
    }
    for (int64_t j = 0; j < n; ++j)
      grad_x.data<double>()[row * n + j] =
          scale * (grad[j] * weight[j] - slope_mean - (values[j] - mean) * scale * along);
  }
  return {grad_x, grad_weight, grad_bias};
}

TILEWRIGHT_REGISTER(layer_norm) = {
    .summary = "layer normalisation over rows, with weight and bias",
    .arguments = {"x: T[m, n]", "weight: T[n]", "bias: T[n]", "eps: float32 = 1e-5"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8192x4096", {{"m", 8192}, {"n", 4096}}}, {"4096x1000", {{"m", 4096}, {"n", 1000}}}},
    .flops = [](const tw::Instance& i) { return 8.0 * i["m"] * i["n"]; },
    .reference = layer_norm_reference,
};

TILEWRIGHT_REGISTER(layer_norm_backward) = {
    .summary = "gradients of layer normalisation",
    .arguments = {"x: T[m, n]", "weight: T[n]", "grad: T[m, n]", "eps: float32 = 1e-5"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8192x4096", {{"m", 8192}, {"n", 4096}}}},
    .flops = [](const tw::Instance& i) { return 18.0 * i["m"] * i["n"]; },
    .reference = layer_norm_backward_reference,
};
