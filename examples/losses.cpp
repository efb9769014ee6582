// Losses over rows of logits x, without their softmax in memory. With p = softmax(x) and q = softmax(y):
//
//   cross entropy          log(sum(exp(x))) - x[target], and its gradient (p - one_hot(target)) g
//   KL divergence          KL(p, q) = sum(p (log p - log q))
//   Jensen-Shannon         (KL(p, m) + KL(q, m)) / 2 with m = (p + q) / 2
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <algorithm>
#include <cmath>

namespace tw = tilewright;

static const auto cross_entropy =
    tw::kernel("cross_entropy", {"logits", "target"}, [](tw::Tensor logits, tw::Tensor target) {
      auto [m, n] = logits.sizes<2>();
      tw::check(target.size(0) == m, "there are {} rows and {} targets", m, target.size(0));
      auto loss = tw::empty({m});
      for (auto tile : tw::tile(m)) {
        auto values = logits[tile, tw::_].to(tw::float32);
        auto chosen = tw::gather(values, 1, target[tile, tw::none]);
        loss[tile] = tw::logsumexp(values, 1) - chosen.squeeze(1);
      }
      return loss;
    });

static const auto cross_entropy_backward = tw::kernel(
    "cross_entropy_backward", {"logits", "target", "grad"}, [](tw::Tensor logits, tw::Tensor target, tw::Tensor grad) {
      auto [m, n] = logits.sizes<2>();
      tw::check(target.size(0) == m, "there are {} rows and {} targets", m, target.size(0));
      auto out = tw::empty_like(logits);
      for (auto tile : tw::tile(m)) {
        auto chances = tw::softmax(logits[tile, tw::_].to(tw::float32), 1);
        auto hit = tw::arange(n) == target[tile, tw::none];
        out[tile, tw::_] = (chances - hit.to(tw::float32)) * grad[tile, tw::none];
      }
      return out;
    });

static const auto kl_divergence = tw::kernel("kl_divergence", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m});
  for (auto tile : tw::tile(m)) {
    auto log_p = tw::log_softmax(x[tile, tw::_].to(tw::float32), 1);
    auto log_q = tw::log_softmax(y[tile, tw::_].to(tw::float32), 1);
    out[tile] = tw::sum(tw::exp(log_p) * (log_p - log_q), 1);
  }
  return out;
});

static const auto js_divergence = tw::kernel("js_divergence", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m});
  for (auto tile : tw::tile(m)) {
    auto log_p = tw::log_softmax(x[tile, tw::_].to(tw::float32), 1);
    auto log_q = tw::log_softmax(y[tile, tw::_].to(tw::float32), 1);
    auto log_mean = tw::logaddexp(log_p, log_q) - std::log(2.0);
    out[tile] = tw::sum(tw::exp(log_p) * (log_p - log_mean) + tw::exp(log_q) * (log_q - log_mean), 1) / 2;
  }
  return out;
});

static std::vector<double> log_softmax_of_row(const tw::Array& x, int64_t row) {
  int64_t n = x.size(1);
  std::vector<double> result(x.data<double>() + row * n, x.data<double>() + (row + 1) * n);
  double largest = *std::max_element(result.begin(), result.end()), total = 0;
  for (double each : result) total += std::exp(each - largest);
  for (double& each : result) each -= largest + std::log(total);
  return result;
}

static std::vector<tw::Array> cross_entropy_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), loss = tw::Array::empty({x.size(0)}, tw::float64);
  for (int64_t row = 0; row < x.size(0); ++row)
    loss.at<double>({row}) = -log_softmax_of_row(x, row)[in[1].array().at<int64_t>({row})];
  return {loss};
}

static std::vector<tw::Array> cross_entropy_backward_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), out = tw::Array::empty(x.sizes(), tw::float64);
  for (int64_t row = 0; row < x.size(0); ++row) {
    std::vector<double> log_p = log_softmax_of_row(x, row);
    int64_t target = in[1].array().at<int64_t>({row}), n = x.size(1);
    double grad = in[2].array().at<double>({row});
    for (int64_t j = 0; j < n; ++j) out.data<double>()[row * n + j] = (std::exp(log_p[j]) - (j == target)) * grad;
  }
  return {out};
}

static std::vector<tw::Array> kl_divergence_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), out = tw::Array::zeros({x.size(0)}, tw::float64);
  for (int64_t row = 0; row < x.size(0); ++row) {
    std::vector<double> log_p = log_softmax_of_row(x, row), log_q = log_softmax_of_row(in[1].array(), row);
    for (int64_t j = 0; j < x.size(1); ++j) out.at<double>({row}) += std::exp(log_p[j]) * (log_p[j] - log_q[j]);
  }
  return {out};
}

static std::vector<tw::Array> js_divergence_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), out = tw::Array::zeros({x.size(0)}, tw::float64);
  for (int64_t row = 0; row < x.size(0); ++row) {
    std::vector<double> log_p = log_softmax_of_row(x, row), log_q = log_softmax_of_row(in[1].array(), row);
    for (int64_t j = 0; j < x.size(1); ++j) {
      double p = std::exp(log_p[j]), q = std::exp(log_q[j]), log_mean = std::log((p + q) / 2);
      out.at<double>({row}) += (p * (log_p[j] - log_mean) + q * (log_q[j] - log_mean)) / 2;
    }
  }
  return {out};
}

// Targets are classes.
static void prepare_targets(std::span<const tw::AnyArgument> in, const tw::Instance& i) {
  in[1].array().copy_from(tw::Array::randint(0, i["n"], {i["m"]}, /*seed=*/1));
}

TILEWRIGHT_REGISTER(cross_entropy) = {
    .summary = "cross entropy of rows of logits and a target class each",
    .arguments = {"logits: T[m, n]", "target: int64[m]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"1024x32000", {{"m", 1024}, {"n", 32000}}}},
    .flops = [](const tw::Instance& i) { return 4.0 * i["m"] * i["n"]; },
    .prepare = prepare_targets,
    .reference = cross_entropy_reference,
};

TILEWRIGHT_REGISTER(cross_entropy_backward) = {
    .summary = "gradient of cross entropy by its logits",
    .arguments = {"logits: T[m, n]", "target: int64[m]", "grad: float32[m]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"1024x32000", {{"m", 1024}, {"n", 32000}}}},
    .flops = [](const tw::Instance& i) { return 7.0 * i["m"] * i["n"]; },
    .prepare = prepare_targets,
    .reference = cross_entropy_backward_reference,
};

TILEWRIGHT_REGISTER(kl_divergence) = {
    .summary = "Kullback-Leibler divergence of the softmax of rows",
    .arguments = {"x: T[m, n]", "y: T[m, n]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"4096x4096", {{"m", 4096}, {"n", 4096}}}},
    .flops = [](const tw::Instance& i) { return 12.0 * i["m"] * i["n"]; },
    .reference = kl_divergence_reference,
};

TILEWRIGHT_REGISTER(js_divergence) = {
    .summary = "Jensen-Shannon divergence of the softmax of rows",
    .arguments = {"x: T[m, n]", "y: T[m, n]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"4096x4096", {{"m", 4096}, {"n", 4096}}}},
    .flops = [](const tw::Instance& i) { return 20.0 * i["m"] * i["n"]; },
    .reference = js_divergence_reference,
};
