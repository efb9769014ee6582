// Mean and variance of rows in one pass, by parts: for a and b with counts n, means u and sums of squared distances s,
//
//   n = n_a + n_b,  d = u_b - u_a,  u = u_a + d n_b / n,  s = s_a + s_b + d^2 n_a n_b / n
//
// (Welford 1962; Chan, Golub and LeVeque 1983), as a reduction of tuples and as values that a loop carries.
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

namespace tw = tilewright;

// count, mean, sum of squared distances
using Moments = std::tuple<tw::Value, tw::Value, tw::Value>;

static Moments combine(const Moments& a, const Moments& b) {
  auto [n_a, mean_a, squares_a] = a;
  auto [n_b, mean_b, squares_b] = b;
  auto n = n_a + n_b;
  auto distance = mean_b - mean_a;
  auto share = n_b / n;
  return {n, mean_a + distance * share, squares_a + squares_b + distance * distance * n_a * share};
}

static const auto welford_reduction = tw::kernel("welford_reduction", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto means = tw::empty({m});
  auto variances = tw::empty({m});
  for (auto tile : tw::tile(m)) {
    auto values = x[tile, tw::_].to(tw::float32);
    auto single = Moments(tw::ones_like(values), values, tw::zeros_like(values));
    auto [count, mean, squares] = tw::reduce(combine, single, 1);
    means[tile] = mean;
    variances[tile] = squares / count;
  }
  return std::tuple(means, variances);
});

static const auto welford_loop = tw::kernel("welford_loop", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto means = tw::empty({m});
  auto variances = tw::empty({m});
  for (auto tile_m : tw::tile(m)) {
    auto count = tw::zeros({tile_m});
    auto mean = tw::zeros({tile_m});
    auto squares = tw::zeros({tile_m});
    for (auto tile_n : tw::tile(n)) {
      auto [variance, own_mean] = tw::var_mean(x[tile_m, tile_n].to(tw::float32), 1, /*correction=*/0);
      auto own_count = (tile_n.end() - tile_n.begin()).to(tw::float32);
      std::tie(count, mean, squares) = combine({count, mean, squares}, {own_count, own_mean, variance * own_count});
    }
    means[tile_m] = mean;
    variances[tile_m] = squares / count;
  }
  return std::tuple(means, variances);
});

static std::vector<tw::Array> moments_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), means = tw::Array::zeros({x.size(0)}, tw::float64), variances = means.clone();
  for (int64_t i = 0, n = x.size(1); i < x.size(0); ++i) {
    double &mean = means.at<double>({i}), &variance = variances.at<double>({i});
    for (int64_t j = 0; j < n; ++j) mean += x.at<double>({i, j}) / n;
    for (int64_t j = 0; j < n; ++j) variance += (x.at<double>({i, j}) - mean) * (x.at<double>({i, j}) - mean) / n;
  }
  return {means, variances};
}

static tw::RegisteredKernel registered(const char* summary) {
  return {
      .summary = summary,
      .arguments = {"x: T[m, n]"},
      .dtypes = {tw::float32, tw::bfloat16, tw::float16},
      .cases = {{"4096x4096", {{"m", 4096}, {"n", 4096}}}},
      .flops = [](const tw::Instance& i) { return 4.0 * i["m"] * i["n"]; },
      .reference = moments_reference,
  };
}

TILEWRIGHT_REGISTER(welford_reduction) = registered("mean and variance of rows, by a reduction of tuples");
TILEWRIGHT_REGISTER(welford_loop) = registered("mean and variance of rows, carried through a loop over tiles");
