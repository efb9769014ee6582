// Kernels of the kind that public collections are made of, written as a new user would, on awkward sizes and layouts:
// each agrees with plain loops, and with the oracle for random configs.
#include "oracle.h"

#include <cmath>
#include <functional>

namespace tw = tilewright;

namespace {

/// An element of an array in double, by its indices.
double at(const tw::Array& array, std::initializer_list<int64_t> index) {
  tw::Array rest = array;
  for (int64_t i : index) rest = rest.select(0, i);
  return rest.to(tw::float64).to_vector<double>().at(0);
}

/// All elements of the result are what `expected` says, within a tolerance relative to 1 and to the number.
void expect_elements(const tw::Array& found, double tolerance,
                     const std::function<double(const std::vector<int64_t>&)>& expected) {
  std::vector<double> numbers = found.to(tw::float64).to_vector<double>();
  std::vector<int64_t> index(found.rank());
  for (size_t i = 0; i < numbers.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i);
    for (int dim = found.rank() - 1; dim >= 0; --dim) {
      index[dim] = rest % found.size(dim);
      rest /= found.size(dim);
    }
    double wanted = expected(index);
    ASSERT_LE(std::fabs(numbers[i] - wanted), tolerance * (1 + std::fabs(wanted)))
        << "element " << i << " is " << numbers[i] << ", expected " << wanted;
  }
}

/// What a call gives, with the config that stands before any tuning.
tw::Array result(const tw::BoundCall& call) {
  tw::Settings settings;
  settings.autotune_effort = tw::AutotuneEffort::none;
  return call.with(settings).run().at(0);
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

} // namespace

//===----------------------------------------------------------------------===//
// Matrix products with something around them
//===----------------------------------------------------------------------===//

const auto gemm_epilogue = tw::kernel(
    "gemm_epilogue", {"x", "w", "bias", "residual", "alpha"},
    [](tw::Tensor x, tw::Tensor w, std::optional<tw::Tensor> bias, tw::Tensor residual, tw::Scalar<float> alpha) {
      auto [m, k] = x.sizes<2>();
      auto n = w.size(1);
      auto out = tw::empty({m, n}, x.dtype());
      for (auto [tile_m, tile_n] : tw::tile({m, n})) {
        auto acc = tw::zeros({tile_m, tile_n});
        for (auto tile_k : tw::tile(k)) acc = tw::addmm(acc, x[tile_m, tile_k], w[tile_k, tile_n]);
        tw::Value y = acc * alpha;
        if (bias) y = y + (*bias)[tile_n];
        out[tile_m, tile_n] = tw::gelu(y) + residual[tile_m, tile_n];
      }
      return out;
    });

TEST(collections, gemm_with_an_epilogue) {
  for (tw::DType dtype : {tw::float16, tw::bfloat16, tw::float32})
    for (auto [m, k, n] : {std::array<int64_t, 3>{1, 1, 1}, {7, 19, 5}, {33, 1, 40}, {17, 65, 1}}) {
      tw::Array x = tw::Array::randn({k, m}, 1).to(dtype).t(), w = tw::Array::randn({k, n}, 2).to(dtype);
      tw::Array bias = tw::Array::randn({n}, 3).to(dtype),
                residual = tw::Array::randn({1, n}, 4).to(dtype).expand({m, n});
      auto call = gemm_epilogue.bind(x, w, bias, residual, 0.5f);
      tw::test::expect_agrees_with_oracle(call, 4, k);
      tw::Array y = result(gemm_epilogue.bind(x, w, std::nullopt, residual, 0.5f));
      expect_elements(y, dtype == tw::float32 ? 1e-5 : 2e-2, [&](const std::vector<int64_t>& i) {
        double sum = 0;
        for (int64_t j = 0; j < k; ++j) sum += at(x, {i[0], j}) * at(w, {j, i[1]});
        return gelu(0.5 * sum) + at(residual, {i[0], i[1]});
      });
    }
}

const auto linear_cross_entropy =
    tw::kernel("linear_cross_entropy", {"x", "w", "target"}, [](tw::Tensor x, tw::Tensor w, tw::Tensor target) {
      auto [n, d] = x.sizes<2>();
      auto v = w.size(0);
      auto loss = tw::empty({n});
      for (auto tile_n : tw::tile(n)) {
        auto highest = tw::full({tile_n}, -HUGE_VAL);
        auto total = tw::zeros({tile_n});
        auto picked = tw::zeros({tile_n});
        auto wanted = target[tile_n];
        for (auto tile_v : tw::tile(v)) {
          auto logits = tw::zeros({tile_n, tile_v});
          for (auto tile_d : tw::tile(d)) logits = tw::addmm(logits, x[tile_n, tile_d], w[tile_v, tile_d].t());
          auto now = tw::maximum(highest, tw::amax(logits, 1));
          total = total * tw::exp(highest - now) + tw::sum(tw::exp(logits - now[tw::_, tw::none]), 1);
          highest = now;
          auto is_wanted = tile_v.index()[tw::none, tw::_] == wanted[tw::_, tw::none];
          picked = picked + tw::sum(tw::where(is_wanted, logits, 0.0), 1);
        }
        loss[tile_n] = tw::where(wanted >= 0, tw::log(total) + highest - picked, 0.0);
      }
      return loss;
    });

TEST(collections, linear_with_cross_entropy) {
  for (auto [n, d, v] : {std::array<int64_t, 3>{5, 7, 11}, {1, 1, 1}, {9, 3, 40}}) {
    tw::Array x = tw::Array::randn({n, d}, 1), w = tw::Array::randn({v, d}, 2);
    tw::Array target = tw::Array::randint(0, v, {n}, 3);
    target.data<int64_t>()[0] = -100; // ignored
    tw::test::expect_agrees_with_oracle(linear_cross_entropy.bind(x, w, target), 5, v * d);
    expect_elements(result(linear_cross_entropy.bind(x, w, target)), 1e-5, [&](const std::vector<int64_t>& i) {
      if (i[0] == 0) return 0.0;
      double total = 0, picked = 0;
      for (int64_t c = 0; c < v; ++c) {
        double logit = 0;
        for (int64_t j = 0; j < d; ++j) logit += at(x, {i[0], j}) * at(w, {c, j});
        total += std::exp(logit);
        if (c == static_cast<int64_t>(at(target, {i[0]}))) picked = logit;
      }
      return std::log(total) - picked;
    });
  }
}

const auto low_rank = tw::kernel("low_rank", {"x", "a", "b"}, [](tw::Tensor x, tw::Tensor a, tw::Tensor b) {
  auto [m, k] = x.sizes<2>();
  auto out = tw::empty({m, b.size(1)}, x.dtype());
  for (auto tile_m : tw::tile(m)) {
    auto inner = tw::matmul(x[tile_m, tw::_], a[tw::_, tw::_]);
    for (auto tile_n : tw::tile(b.size(1))) out[tile_m, tile_n] = tw::matmul(inner, b[tw::_, tile_n]);
  }
  return out;
});

const auto matvec = tw::kernel("matvec", {"x", "v"}, [](tw::Tensor x, tw::Tensor v) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m});
  auto block = tw::register_block_size(n);
  for (auto tile_m : tw::tile(m)) {
    auto acc = tw::zeros({tile_m, block});
    for (auto tile_n : tw::tile(n, tw::block_size(block))) acc = acc + x[tile_m, tile_n] * v[tile_n];
    out[tile_m] = tw::sum(acc, 1);
  }
  return out;
});

TEST(collections, products_of_three_and_of_a_vector) {
  for (auto [m, k, r, n] : {std::array<int64_t, 4>{5, 6, 3, 19}, {1, 17, 1, 2}, {8, 8, 8, 8}}) {
    tw::Array x = tw::Array::randn({m, k}, 1), a = tw::Array::randn({k, r}, 2), b = tw::Array::randn({r, n}, 3);
    tw::test::expect_agrees_with_oracle(low_rank.bind(x, a, b), 5, k * r);
    tw::Array v = tw::Array::randn({k}, 4);
    tw::test::expect_agrees_with_oracle(matvec.bind(x, v), 5, k);
    expect_elements(result(matvec.bind(x, v)), 1e-5, [&](const std::vector<int64_t>& i) {
      double sum = 0;
      for (int64_t j = 0; j < k; ++j) sum += at(x, {i[0], j}) * at(v, {j});
      return sum;
    });
  }
}

//===----------------------------------------------------------------------===//
// Losses and activations
//===----------------------------------------------------------------------===//

const auto jsd = tw::kernel("jsd", {"p", "q", "beta"}, [](tw::Tensor p, tw::Tensor q, double beta) {
  auto [n, v] = p.sizes<2>();
  auto loss = tw::empty({n});
  for (auto tile_n : tw::tile(n)) {
    auto sum = tw::zeros({tile_n});
    for (auto tile_v : tw::tile(v)) {
      auto log_p = p[tile_n, tile_v], log_q = q[tile_n, tile_v];
      auto mixed = tw::log(beta * tw::exp(log_p) + (1 - beta) * tw::exp(log_q));
      sum += tw::sum(beta * tw::exp(log_p) * (log_p - mixed) + (1 - beta) * tw::exp(log_q) * (log_q - mixed), 1);
    }
    loss[tile_n] = sum;
  }
  return loss;
});

const auto geglu = tw::kernel("geglu", {"a", "b"}, [](tw::Tensor a, tw::Tensor b) {
  auto out = tw::empty_like(a);
  for (auto [i, j] : tw::tile({a.size(0), a.size(1)})) {
    auto x = a[i, j].to(tw::float32);
    out[i, j] = (tw::gelu(x, "tanh") * b[i, j]).to(a.dtype());
  }
  return out;
});

const auto geglu_backward =
    tw::kernel("geglu_backward", {"grad", "a", "b"}, [](tw::Tensor grad, tw::Tensor a, tw::Tensor b) {
      auto grad_a = tw::empty_like(a), grad_b = tw::empty_like(b);
      for (auto [i, j] : tw::tile({a.size(0), a.size(1)})) {
        auto x = a[i, j].to(tw::float32), g = grad[i, j].to(tw::float32);
        const double c = 0.7978845608028654;
        auto t = tw::tanh(c * (x + 0.044715 * x * x * x));
        auto slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
        grad_a[i, j] = g * b[i, j] * slope;
        grad_b[i, j] = g * 0.5 * x * (1 + t);
      }
      return std::make_tuple(grad_a, grad_b);
    });

TEST(collections, losses_and_gates) {
  for (auto [n, v] : {std::pair<int64_t, int64_t>{4, 9}, {1, 1}, {7, 130}, {0, 5}, {3, 0}}) {
    tw::Array p = tw::Array::randn({n, v}, 1), q = tw::Array::randn({v, n}, 2).t();
    tw::test::expect_agrees_with_oracle(jsd.bind(p, q, 0.3), 4, v + 1);
    tw::Array g = tw::Array::randn({1, 1}, 3).expand({n, v});
    tw::test::expect_agrees_with_oracle(geglu.bind(p, q), 4, 1);
    tw::test::expect_agrees_with_oracle(geglu.bind(p.to(tw::bfloat16), q.to(tw::bfloat16)), 4, 1);
    tw::test::expect_agrees_with_oracle(geglu_backward.bind(g, p, q), 4, 1);
    expect_elements(result(jsd.bind(p, q, 0.3)), 1e-5, [&](const std::vector<int64_t>& i) {
      double sum = 0;
      for (int64_t c = 0; c < v; ++c) {
        double a = at(p, {i[0], c}), b = at(q, {i[0], c}), m = std::log(0.3 * std::exp(a) + 0.7 * std::exp(b));
        sum += 0.3 * std::exp(a) * (a - m) + 0.7 * std::exp(b) * (b - m);
      }
      return sum;
    });
  }
}

//===----------------------------------------------------------------------===//
// Norms over several dimensions
//===----------------------------------------------------------------------===//

const auto batch_norm =
    tw::kernel("batch_norm", {"x", "weight", "bias", "running"},
               [](tw::Tensor x, tw::Tensor weight, tw::Tensor bias, tw::Tensor running) {
                 auto [n, c, l] = x.sizes<3>();
                 auto out = tw::empty_like(x);
                 for (auto tile_c : tw::tile(c)) {
                   auto all = x[tw::_, tile_c, tw::_].to(tw::float32);
                   auto [variance, mean] = tw::var_mean(all, {0, 2}, 0, true);
                   auto scale = tw::rsqrt(variance + 1e-5) * weight[tile_c][tw::none, tw::_, tw::none];
                   out[tw::_, tile_c, tw::_] = (all - mean) * scale + bias[tile_c][tw::none, tw::_, tw::none];
                   running[tile_c] = 0.9 * running[tile_c] + 0.1 * mean.reshape({tile_c});
                 }
                 return out;
               });

const auto group_norm = tw::kernel("group_norm", {"x", "groups"}, [](tw::Tensor x, int groups) {
  auto [n, c, l] = x.sizes<3>();
  tw::check(c % groups == 0, "{} channels in {} groups", c, groups);
  auto out = tw::empty_like(x);
  auto each = c / groups;
  for (auto [i, g] : tw::grid({n, tw::Size(groups)})) {
    auto part = x[i, tw::slice_from(g * each, each), tw::_];
    auto mean = tw::mean(part, {0, 1}, true);
    auto centred = part - mean;
    auto variance = tw::mean(centred * centred, {0, 1}, true);
    out[i, tw::slice_from(g * each, each), tw::_] = centred * tw::rsqrt(variance + 1e-5);
  }
  return out;
});

const auto squeeze_excite =
    tw::kernel("squeeze_excite", {"x", "w1", "w2"}, [](tw::Tensor x, tw::Tensor w1, tw::Tensor w2) {
      auto [n, c, l] = x.sizes<3>();
      auto out = tw::empty_like(x);
      for (auto tile_n : tw::tile(n)) {
        auto pooled = tw::mean(x[tile_n, tw::_, tw::_], 2);
        auto hidden = tw::relu(tw::matmul(pooled, w1[tw::_, tw::_]));
        auto gate = tw::sigmoid(tw::matmul(hidden, w2[tw::_, tw::_]));
        out[tile_n, tw::_, tw::_] = x[tile_n, tw::_, tw::_] * gate[tw::_, tw::_, tw::none];
      }
      return out;
    });

const auto sum_dims = tw::kernel("sum_dims", {"x"}, [](tw::Tensor x) {
  auto [a, b, c, d] = x.sizes<4>();
  auto out = tw::empty({b});
  for (auto tile_b : tw::tile(b)) {
    auto acc = tw::zeros({tile_b});
    for (auto [tile_a, tile_d] : tw::tile({a, d})) acc += tw::sum(x[tile_a, tile_b, tw::_, tile_d], {0, 2, -1});
    out[tile_b] = acc;
  }
  return out;
});

TEST(collections, norms_over_several_dimensions) {
  for (auto [n, c, l] : {std::array<int64_t, 3>{3, 4, 5}, {1, 2, 1}, {2, 6, 33}}) {
    tw::Array x = tw::Array::randn({n, l, c}, 1).transpose(1, 2);
    tw::Array weight = tw::Array::randn({c}, 2), bias = tw::Array::randn({1}, 3).expand({c}),
              running = tw::Array::ones({c});
    tw::test::expect_agrees_with_oracle(batch_norm.bind(x, weight, bias, running), 4, n * l * 4);
    tw::test::expect_agrees_with_oracle(group_norm.bind(x, 2), 4, c * l * 4);
    tw::Array w1 = tw::Array::randn({c, 2}, 4), w2 = tw::Array::randn({2, c}, 5);
    tw::test::expect_agrees_with_oracle(squeeze_excite.bind(x, w1, w2), 4, c * l);
    expect_elements(result(squeeze_excite.bind(x, w1, w2)), 1e-4, [&](const std::vector<int64_t>& i) {
      double gate = 0;
      for (int64_t h = 0; h < 2; ++h) {
        double hidden = 0;
        for (int64_t k = 0; k < c; ++k)
          for (int64_t j = 0; j < l; ++j) hidden += at(x, {i[0], k, j}) / static_cast<double>(l) * at(w1, {k, h});
        gate += std::max(hidden, 0.0) * at(w2, {h, i[1]});
      }
      return at(x, {i[0], i[1], i[2]}) * sigmoid(gate);
    });
  }
  for (auto sizes : {tw::IndexList{2, 3, 4, 5}, {1, 1, 1, 1}, {3, 7, 2, 0}, {5, 0, 1, 2}}) {
    tw::Array x = tw::Array::randn(sizes, 1);
    tw::test::expect_agrees_with_oracle(sum_dims.bind(x), 4, x.numel() + 1);
  }
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

const auto segment_sum =
    tw::kernel("segment_sum", {"x", "ids", "segments"}, [](tw::Tensor x, tw::Tensor ids, int segments) {
      auto [n, d] = x.sizes<2>();
      auto out = tw::empty({tw::Size(segments), d}, x.dtype()).fill(0);
      for (auto [tile_n, tile_d] : tw::tile({n, d})) tw::atomic_add(out, {ids[tile_n], tile_d}, x[tile_n, tile_d]);
      return out;
    });

const auto histogram = tw::kernel("histogram", {"x", "low", "high", "bins"},
                                  [](tw::Tensor x, tw::Scalar<float> low, tw::Scalar<float> high, int bins) {
                                    auto counts = tw::empty({tw::Size(bins)}, tw::int32).fill(0);
                                    for (auto tile : tw::tile(x.size(0))) {
                                      auto v = x[tile];
                                      auto bin = tw::floor((v - low) / (high - low) * bins).to(tw::int32);
                                      bin = tw::clamp(bin, 0, bins - 1);
                                      auto inside = (v >= low) & (v < high);
                                      tw::atomic_add(counts, {bin}, inside.to(tw::int32));
                                    }
                                    return counts;
                                  });

const auto paged_gather = tw::kernel(
    "paged_gather", {"cache", "table", "lengths"}, [](tw::Tensor cache, tw::Tensor table, tw::Tensor lengths) {
      auto [pages, page, d] = cache.sizes<3>();
      auto [b, most] = table.sizes<2>();
      auto out = tw::empty({b, most * page, d}, cache.dtype()).fill(0);
      for (auto i : tw::grid(b))
        for (auto tile : tw::tile(0, lengths[i])) {
          auto position = tile.index();
          auto number = table[i, tw::floor_divide(position, page)];
          auto rows = cache[number[tw::_, tw::none], (position % page)[tw::_, tw::none], tw::_];
          out[i, tile, tw::_] = rows.squeeze(1);
        }
      return out;
    });

const auto route = tw::kernel("route", {"logits"}, [](tw::Tensor logits) {
  auto [n, e] = logits.sizes<2>();
  auto experts = tw::empty({n, 2}, tw::int64);
  auto weights = tw::empty({n, 2});
  auto counts = tw::empty({e}, tw::int32).fill(0);
  for (auto tile : tw::tile(n)) {
    auto p = tw::softmax(logits[tile, tw::_], 1);
    auto first = tw::argmax(p, 1);
    auto best = tw::amax(p, 1);
    auto others = tw::where(tw::arange(e) == first[tw::_, tw::none], -1.0, p);
    auto second = tw::argmax(others, 1);
    auto next = tw::amax(others, 1);
    experts[tile, 0] = first;
    experts[tile, 1] = second;
    weights[tile, 0] = best / (best + next);
    weights[tile, 1] = next / (best + next);
    tw::atomic_add(counts, {first}, 1);
    tw::atomic_add(counts, {second}, 1);
  }
  return std::make_tuple(experts, weights, counts);
});

const auto rank_by_counting = tw::kernel("rank_by_counting", {"x"}, [](tw::Tensor x) {
  auto n = x.size(0);
  auto ranks = tw::empty({n}, tw::int64);
  for (auto i : tw::tile(n)) {
    auto smaller = tw::zeros({i}, tw::int64);
    for (auto j : tw::tile(n)) {
      auto mine = x[i][tw::_, tw::none], other = x[j][tw::none, tw::_];
      auto before = (other < mine) | ((other == mine) & (j.index()[tw::none, tw::_] < i.index()[tw::_, tw::none]));
      smaller += tw::sum(before, 1);
    }
    ranks[i] = smaller;
  }
  return ranks;
});

const auto lower_bound = tw::kernel("lower_bound", {"sorted", "wanted"}, [](tw::Tensor sorted, tw::Tensor wanted) {
  auto n = sorted.size(0);
  auto out = tw::empty({wanted.size(0)}, tw::int32);
  for (auto i : tw::grid(wanted.size(0))) {
    auto low = tw::zeros({}, tw::int32), high = tw::full({}, n, tw::int32);
    tw::while_([&] { return low < high; },
               [&] {
                 auto middle = tw::floor_divide(low + high, 2);
                 tw::if_(sorted[middle] < wanted[i], [&] { low = middle + 1; }, [&] { high = middle; });
               });
    out[i] = low;
  }
  return out;
});

TEST(collections, indices) {
  for (auto [n, d] : {std::pair<int64_t, int64_t>{7, 5}, {1, 1}, {40, 33}, {0, 3}}) {
    tw::Array x = tw::Array::randint(-3, 4, {n, d}, 1).to(tw::float32),
              ids = tw::Array::randint(0, 4, {n}, 2).to(tw::int32);
    tw::test::expect_agrees_with_oracle(segment_sum.bind(x, ids, 4), 5, 1);
    expect_elements(result(segment_sum.bind(x, ids, 4)), 0, [&](const std::vector<int64_t>& i) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j)
        if (static_cast<int64_t>(at(ids, {j})) == i[0]) sum += at(x, {j, i[1]});
      return sum;
    });
    tw::Array v = tw::Array::randn({n}, 3);
    tw::test::expect_agrees_with_oracle(histogram.bind(v, -1.0f, 1.0f, 9), 5, 1);
    tw::test::expect_agrees_with_oracle(rank_by_counting.bind(x.numel() ? x.select(1, 0) : v), 5, 1);
    tw::test::expect_agrees_with_oracle(lower_bound.bind(tw::Array::arange(17), tw::Array::randint(-3, 20, {n}, 4)), 3,
                                        1);
    tw::test::expect_agrees_with_oracle(route.bind(tw::Array::randn({n, 6}, 5)), 5, 8);
  }
  tw::Array cache = tw::Array::randn({5, 4, 3}, 1), table = tw::Array::randint(0, 5, {3, 3}, 2).to(tw::int32);
  tw::Array lengths = tw::Array::from_vector<int32_t>({12, 0, 7});
  tw::test::expect_agrees_with_oracle(paged_gather.bind(cache, table, lengths), 6, 1);
  expect_elements(result(paged_gather.bind(cache, table, lengths)), 0, [&](const std::vector<int64_t>& i) {
    if (i[1] >= static_cast<int64_t>(at(lengths, {i[0]}))) return 0.0;
    return at(cache, {static_cast<int64_t>(at(table, {i[0], i[1] / 4})), i[1] % 4, i[2]});
  });
  expect_elements(result(lower_bound.bind(tw::Array::arange(17), tw::Array::from_vector<int64_t>({-1, 0, 5, 16, 17}))),
                  0, [&](const std::vector<int64_t>& i) { return std::vector<double>{0, 0, 5, 16, 17}[i[0]]; });
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

const auto conv1d = tw::kernel("conv1d", {"x", "w"}, [](tw::Tensor x, tw::Tensor w) {
  auto [b, c, t] = x.sizes<3>();
  auto [o, c2, k] = w.sizes<3>();
  auto out = tw::empty({b, o, t - k + 1});
  for (auto [i, tile_o, tile_t] : tw::tile({b, o, t - k + 1}, tw::block_size({1, tw::none, tw::none}))) {
    auto acc = tw::zeros({tile_o, tile_t});
    for (int step : tw::static_range(k))
      acc = acc + tw::matmul(w[tile_o, tw::_, step], x[i.begin(), tw::_, tile_t + step]);
    out[i.begin(), tile_o, tile_t] = acc;
  }
  return out;
});

const auto depthwise = tw::kernel("depthwise", {"x", "w"}, [](tw::Tensor x, tw::Tensor w) { // causal
  auto [b, t, c] = x.sizes<3>();
  auto k = w.size(1);
  auto out = tw::empty_like(x);
  for (auto [i, tile_t, tile_c] : tw::tile({b, t, c})) {
    auto acc = tw::zeros({i, tile_t, tile_c});
    for (int step : tw::static_range(k)) {
      auto from = tile_t.index() - (k - 1) + step;
      auto there = (from >= 0)[tw::none, tw::_, tw::none];
      acc = acc + tw::load(x, {i, tw::maximum(from, 0), tile_c}, {.extra_mask = there}) * w[tile_c, step];
    }
    out[i, tile_t, tile_c] = tw::silu(acc);
  }
  return out;
});

const auto max_pool = tw::kernel("max_pool", {"x", "window", "stride"}, [](tw::Tensor x, int window, int stride) {
  auto [n, t] = x.sizes<2>();
  auto length = (t - window) / stride + 1;
  auto out = tw::empty({n, length}, x.dtype());
  for (auto [i, j] : tw::tile({n, length})) {
    auto best = tw::full({i, j}, -HUGE_VAL, x.dtype());
    for (int step : tw::static_range(window)) best = tw::maximum(best, x[i, j.index() * stride + step]);
    out[i, j] = best;
  }
  return out;
});

const auto distances = tw::kernel("distances", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, d] = x.sizes<2>();
  auto n = y.size(0);
  auto out = tw::empty({m, n});
  for (auto [i, j] : tw::tile({m, n})) {
    auto sum = tw::zeros({i, j});
    for (auto k : tw::tile(d)) {
      auto difference = x[i, k][tw::_, tw::none, tw::_] - y[j, k][tw::none, tw::_, tw::_];
      sum += tw::sum(difference * difference, -1);
    }
    out[i, j] = tw::sqrt(sum);
  }
  return out;
});

const auto roll = tw::kernel("roll", {"x", "by"}, [](tw::Tensor x, tw::Scalar<int> by) {
  auto n = x.size(0);
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(n)) out[(tile.index() + by) % n] = x[tile];
  return out;
});

const auto upsample = tw::kernel("upsample", {"x"}, [](tw::Tensor x) {
  auto [h, w] = x.sizes<2>();
  auto out = tw::empty({2 * h, 3 * w}, x.dtype());
  for (auto [i, j] : tw::tile({2 * h, 3 * w}))
    out[i, j] = x[tw::floor_divide(i.index(), 2), tw::floor_divide(j.index(), 3)];
  return out;
});

TEST(collections, neighbours) {
  for (auto [b, c, t, o, k] : {std::array<int64_t, 5>{2, 3, 9, 4, 3}, {1, 1, 1, 1, 1}, {1, 5, 40, 2, 4}}) {
    tw::Array x = tw::Array::randn({b, c, t}, 1), w = tw::Array::randn({o, c, k}, 2);
    tw::test::expect_agrees_with_oracle(conv1d.bind(x, w), 5, c * k);
    expect_elements(result(conv1d.bind(x, w)), 1e-5, [&](const std::vector<int64_t>& i) {
      double sum = 0;
      for (int64_t ch = 0; ch < c; ++ch)
        for (int64_t s = 0; s < k; ++s) sum += at(x, {i[0], ch, i[2] + s}) * at(w, {i[1], ch, s});
      return sum;
    });
    tw::Array steps = x.transpose(1, 2), weights = tw::Array::randn({c, k}, 3);
    tw::test::expect_agrees_with_oracle(depthwise.bind(steps, weights), 5, k);
    expect_elements(result(depthwise.bind(steps, weights)), 1e-5, [&](const std::vector<int64_t>& i) {
      double sum = 0;
      for (int64_t s = 0; s < k; ++s)
        if (i[1] - (k - 1) + s >= 0) sum += at(steps, {i[0], i[1] - (k - 1) + s, i[2]}) * at(weights, {i[2], s});
      return sum * sigmoid(sum);
    });
    tw::Array flat = x.reshape({b * c, t});
    tw::test::expect_agrees_with_oracle(max_pool.bind(flat, static_cast<int>(k), 2), 4, 1);
    tw::test::expect_agrees_with_oracle(distances.bind(flat, tw::Array::randn({o, t}, 5)), 5, t);
    tw::test::expect_agrees_with_oracle(roll.bind(tw::Array::randn({t}, 6), 3), 4, 1);
    tw::test::expect_agrees_with_oracle(upsample.bind(flat), 4, 1);
    expect_elements(result(upsample.bind(flat)), 0,
                    [&](const std::vector<int64_t>& i) { return at(flat, {i[0] / 2, i[1] / 3}); });
  }
}

//===----------------------------------------------------------------------===//
// Attention and sequences
//===----------------------------------------------------------------------===//

const auto ragged_attention = tw::kernel(
    "ragged_attention", {"q", "k", "v", "offsets"}, [](tw::Tensor q, tw::Tensor k, tw::Tensor v, tw::Tensor offsets) {
      auto [total, heads, d] = q.sizes<3>();
      auto out = tw::empty_like(q);
      for (auto [sequence, head] : tw::grid({offsets.size(0) - 1, heads})) {
        auto begin = offsets[sequence], end = offsets[sequence + 1];
        for (auto tile_q : tw::tile(begin, end)) {
          auto queries = q[tile_q, head, tw::_] * (1 / std::sqrt(static_cast<double>(d.value())));
          auto highest = tw::full({tile_q}, -HUGE_VAL), sum = tw::zeros({tile_q});
          auto acc = tw::zeros({tile_q, d});
          for (auto tile_k : tw::tile(begin, tile_q.end())) {
            auto scores = tw::matmul(queries, k[tile_k, head, tw::_].t());
            auto causal = tile_q.index()[tw::_, tw::none] >= tile_k.index()[tw::none, tw::_];
            scores = tw::where(causal, scores, -HUGE_VAL);
            auto now = tw::maximum(highest, tw::amax(scores, 1));
            auto p = tw::exp(scores - now[tw::_, tw::none]);
            auto shrink = tw::exp(highest - now);
            sum = sum * shrink + tw::sum(p, 1);
            acc = tw::addmm(acc * shrink[tw::_, tw::none], p, v[tile_k, head, tw::_]);
            highest = now;
          }
          out[tile_q, head, tw::_] = acc / sum[tw::_, tw::none];
        }
      }
      return out;
    });

const auto linear_recurrence = tw::kernel("linear_recurrence", {"a", "b"}, [](tw::Tensor a, tw::Tensor b) {
  auto [t, d] = a.sizes<2>(); // h[t] = a[t] * h[t - 1] + b[t]
  auto out = tw::empty_like(b);
  for (auto tile_d : tw::tile(d)) {
    auto state = tw::zeros({tile_d});
    for (auto tile_t : tw::tile(t)) {
      auto step = [](tw::Value a1, tw::Value b1, tw::Value a2, tw::Value b2) {
        return std::make_tuple(tw::Value(a1 * a2), tw::Value(a2 * b1 + b2));
      };
      auto [product, sum] =
          tw::associative_scan(step, std::make_tuple(tw::Value(a[tile_t, tile_d]), tw::Value(b[tile_t, tile_d])), 0);
      auto h = product * state[tw::none, tw::_] + sum;
      out[tile_t, tile_d] = h;
      auto is_last = tile_t.index() == tile_t.end() - 1;
      state = tw::sum(tw::where(is_last[tw::_, tw::none], h, 0.0), 0);
    }
  }
  return out;
});

const auto nucleus = tw::kernel("nucleus", {"probabilities", "p"}, [](tw::Tensor probabilities, tw::Scalar<float> p) {
  auto [n, v] = probabilities.sizes<2>(); // sorted, the largest first
  auto out = tw::empty_like(probabilities);
  for (auto tile : tw::tile(n)) {
    auto x = probabilities[tile, tw::_];
    auto kept = tw::where(tw::cumsum(x, 1) - x < p, x, 0.0);
    out[tile, tw::_] = kept / tw::sum(kept, 1, true);
  }
  return out;
});

TEST(collections, sequences) {
  tw::Array offsets = tw::Array::from_vector<int64_t>({0, 5, 5, 6, 19});
  tw::Array q = tw::Array::randn({19, 2, 8}, 1), k = tw::Array::randn({19, 2, 8}, 2),
            v = tw::Array::randn({19, 2, 8}, 3);
  tw::test::expect_agrees_with_oracle(ragged_attention.bind(q, k, v, offsets), 8, 100);
  expect_elements(result(ragged_attention.bind(q, k, v, offsets)), 1e-4, [&](const std::vector<int64_t>& i) {
    int64_t begin = i[0] < 5 ? 0 : i[0] < 6 ? 5 : 6;
    double sum = 0, total = 0;
    for (int64_t j = begin; j <= i[0]; ++j) {
      double score = 0;
      for (int64_t e = 0; e < 8; ++e) score += at(q, {i[0], i[1], e}) * at(k, {j, i[1], e});
      total += std::exp(score / std::sqrt(8.0));
      sum += std::exp(score / std::sqrt(8.0)) * at(v, {j, i[1], i[2]});
    }
    return sum / total;
  });
  for (auto [t, d] : {std::pair<int64_t, int64_t>{9, 3}, {1, 1}, {33, 17}}) {
    tw::Array a = tw::Array::rand({t, d}, 4), b = tw::Array::randn({d, t}, 5).t();
    tw::test::expect_agrees_with_oracle(linear_recurrence.bind(a, b), 5, t * 4);
    expect_elements(result(linear_recurrence.bind(a, b)), 1e-4, [&](const std::vector<int64_t>& i) {
      double h = 0;
      for (int64_t s = 0; s <= i[0]; ++s) h = at(a, {s, i[1]}) * h + at(b, {s, i[1]});
      return h;
    });
    tw::test::expect_agrees_with_oracle(nucleus.bind(a, 0.9f), 4, d * 4);
  }
}
