// Root-mean-square normalisation over the rows of a matrix, forward and backward.
//
//   r = 1 / sqrt(mean(x^2) + eps),  y = x r weight
//
// and for the gradient g of y, with s = g weight: dx = r (s - x r mean(s x r)), dweight = the sum over rows of g x r.
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <cmath>

namespace tw = tilewright;

static const auto rms_norm =
    tw::kernel("rms_norm", {"x", "weight", "eps"}, [](tw::Tensor x, tw::Tensor weight, tw::Scalar<float> eps) {
      auto [m, n] = x.sizes<2>();
      tw::check(weight.size(0) == n, "weight has {} elements for rows of {}", weight.size(0), n);
      auto out = tw::empty_like(x);
      for (auto tile : tw::tile(m)) {
        auto values = x[tile, tw::_].to(tw::float32);
        auto scale = tw::rsqrt(tw::mean(values * values, 1, /*keepdim=*/true) + eps);
        out[tile, tw::_] = values * scale * weight[tw::_];
      }
      return out;
    });

// Rows give dx; then, with each row's scale at hand, columns give dweight.
static const auto rms_norm_backward =
    tw::kernel("rms_norm_backward", {"x", "weight", "grad", "eps"},
               [](tw::Tensor x, tw::Tensor weight, tw::Tensor grad, tw::Scalar<float> eps) {
                 auto [m, n] = x.sizes<2>();
                 auto grad_x = tw::empty_like(x);
                 auto grad_weight = tw::empty_like(weight);
                 auto scales = tw::empty({m});
                 for (auto tile : tw::tile(m)) {
                   auto values = x[tile, tw::_].to(tw::float32);
                   auto scale = tw::rsqrt(tw::mean(values * values, 1, /*keepdim=*/true) + eps);
                   auto normal = values * scale;
                   auto slope = grad[tile, tw::_].to(tw::float32) * weight[tw::_];
                   grad_x[tile, tw::_] = scale * (slope - normal * tw::mean(slope * normal, 1, /*keepdim=*/true));
                   scales[tile] = scale.squeeze(1);
                 }
                 tw::barrier();
                 for (auto tile_n : tw::tile(n)) {
                   auto total = tw::zeros({tile_n});
                   for (auto tile_m : tw::tile(m))
                     total += tw::sum(grad[tile_m, tile_n] * (x[tile_m, tile_n] * scales[tile_m, tw::none]), 0);
                   grad_weight[tile_n] = total;
                 }
                 return std::tuple(grad_x, grad_weight);
               });

static double scale_of_row(const double* values, int64_t n, double eps) {
  double squares = 0;
  for (int64_t j = 0; j < n; ++j) squares += values[j] * values[j];
  return 1 / std::sqrt(squares / n + eps);
}

static std::vector<tw::Array> rms_norm_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), out = tw::Array::empty(x.sizes(), tw::float64);
  const double* weight = in[1].array().data<double>();
  for (int64_t row = 0, n = x.size(1); row < x.size(0); ++row) {
    const double* values = x.data<double>() + row * n;
    double scale = scale_of_row(values, n, in[2].number().real());
    for (int64_t j = 0; j < n; ++j) out.data<double>()[row * n + j] = values[j] * scale * weight[j];
  }
  return {out};
}

static std::vector<tw::Array> rms_norm_backward_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), grad_x = tw::Array::empty(x.sizes(), tw::float64);
  tw::Array grad_weight = tw::Array::zeros({x.size(1)}, tw::float64);
  const double* weight = in[1].array().data<double>();
  for (int64_t row = 0, n = x.size(1); row < x.size(0); ++row) {
    const double *values = x.data<double>() + row * n, *grad = in[2].array().data<double>() + row * n;
    double scale = scale_of_row(values, n, in[3].number().real()), mean = 0;
    for (int64_t j = 0; j < n; ++j) mean += grad[j] * weight[j] * values[j] * scale / n;
    for (int64_t j = 0; j < n; ++j) {
      grad_x.data<double>()[row * n + j] = scale * (grad[j] * weight[j] - values[j] * scale * mean);
      grad_weight.data<double>()[j] += grad[j] * values[j] * scale;
    }
  }
  return {grad_x, grad_weight};
}

TILEWRIGHT_REGISTER(rms_norm) = {
    .summary = "root-mean-square normalisation over rows, with weight",
    .arguments = {"x: T[m, n]", "weight: T[n]", "eps: float32 = 1e-5"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8192x4096", {{"m", 8192}, {"n", 4096}}}},
    .flops = [](const tw::Instance& i) { return 4.0 * i["m"] * i["n"]; },
    .reference = rms_norm_reference,
};

TILEWRIGHT_REGISTER(rms_norm_backward) = {
    .summary = "gradients of root-mean-square normalisation",
    .arguments = {"x: T[m, n]", "weight: T[n]", "grad: T[m, n]", "eps: float32 = 1e-5"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8192x4096", {{"m", 8192}, {"n", 4096}}}},
    .flops = [](const tw::Instance& i) { return 12.0 * i["m"] * i["n"]; },
    .reference = rms_norm_backward_reference,
};
