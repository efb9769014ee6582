// Attention that sees not all keys alike (attention.cpp is the plain one).
//
//   causal_attention    query i sees keys 0 to i
//   alibi_attention     score + slope(head) (key - query): nearer keys count more (Press et al., 2022)
//   soft_cap_attention  cap tanh(score / cap)
//
// The latter two are one kernel, which is given how to modify a score: modify(score, head, query, key), as tensors that
// broadcast.
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <algorithm>
#include <cmath>

namespace tw = tilewright;

// Softmax over the keys seen so far, for a tile of queries.
struct OnlineSoftmax {
  tw::Value largest, total, acc;

  OnlineSoftmax(const tw::Tile& tile_q, const tw::Size& dim)
      : largest(tw::full({tile_q}, -INFINITY)), total(tw::zeros({tile_q})), acc(tw::zeros({tile_q, dim})) {}

  void add(const tw::Value& scores, const tw::Value& values) {
    auto next = tw::maximum(largest, tw::amax(scores, 1));
    auto weights = tw::exp(scores - next[tw::_, tw::none]);
    auto fade = tw::exp(largest - next);
    total = total * fade + tw::sum(weights, 1);
    acc = tw::addmm(acc * fade[tw::_, tw::none], weights.to(values.dtype()), values);
    largest = next;
  }
  tw::Value result() const { return acc / total[tw::_, tw::none]; }
};

static const auto causal_attention =
    tw::kernel("causal_attention", {"q", "k", "v"}, [](tw::Tensor q, tw::Tensor k, tw::Tensor v) {
      auto [heads, length, dim] = q.sizes<3>();
      tw::check(k.size(1) == length, "there are {} queries and {} keys", length, k.size(1));
      auto out = tw::empty_like(q);
      for (auto [tile_h, tile_q] : tw::tile({heads, length}, tw::block_size({1, tw::none}))) {
        auto head = tile_h.begin();
        auto query = q[head, tile_q, tw::_];
        OnlineSoftmax softmax(tile_q, dim);
        for (auto tile_k : tw::tile(0, tile_q.end())) { // no later key is seen by any of these queries
          auto scores = tw::dot(query, k[head, tile_k, tw::_].t()) / std::sqrt(double(dim));
          auto seen = tile_q.index()[tw::_, tw::none] >= tile_k.index();
          softmax.add(tw::where(seen, scores, -INFINITY), v[head, tile_k, tw::_]);
        }
        out[head, tile_q, tw::_] = softmax.result();
      }
      return out;
    });

static const auto modified_attention = tw::kernel(
    "modified_attention", {"q", "k", "v", "modify"}, [](tw::Tensor q, tw::Tensor k, tw::Tensor v, auto modify) {
      auto [heads, queries, dim] = q.template sizes<3>();
      auto out = tw::empty_like(q);
      for (auto [tile_h, tile_q] : tw::tile({heads, queries}, tw::block_size({1, tw::none}))) {
        auto head = tile_h.begin();
        auto query = q[head, tile_q, tw::_];
        OnlineSoftmax softmax(tile_q, dim);
        for (auto tile_k : tw::tile(k.size(1))) {
          auto scores = tw::dot(query, k[head, tile_k, tw::_].t()) / std::sqrt(double(dim));
          auto modified = modify(scores, head, tile_q.index()[tw::_, tw::none], tile_k.index()[tw::none]);
          softmax.add(modified, v[head, tile_k, tw::_]);
        }
        out[head, tile_q, tw::_] = softmax.result();
      }
      return out;
    });
static const auto alibi_attention = modified_attention;
static const auto soft_cap_attention = modified_attention;

static tw::Value alibi(tw::Value score, tw::Value head, tw::Value query, tw::Value key) {
  return score + tw::exp2(-(head + 1).to(tw::float32)) * (key - query);
}
struct SoftCap {
  float cap;
  tw::Value operator()(tw::Value score, tw::Value, tw::Value, tw::Value) const { return tw::tanh(score / cap) * cap; }
};

// modify(score, head, query, key) in numbers.
template <class Modify>
static std::vector<tw::Array> attention_reference(std::span<const tw::AnyArgument> in, Modify modify) {
  tw::Array q = in[0].array(), k = in[1].array(), v = in[2].array(), out = tw::Array::zeros(q.sizes(), tw::float64);
  int64_t dim = q.size(2), keys = k.size(1);
  std::vector<double> weights(keys);
  for (int64_t row = 0, queries = q.size(1); row < q.size(0) * queries; ++row) {
    int64_t h = row / queries;
    const double* query = q.data<double>() + row * dim;
    const double *key = k.data<double>() + h * keys * dim, *value = v.data<double>() + h * keys * dim;
    double *result = out.data<double>() + row * dim, largest = -INFINITY, total = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double dot = 0;
      for (int64_t d = 0; d < dim; ++d) dot += query[d] * key[j * dim + d];
      weights[j] = modify(dot / std::sqrt(double(dim)), h, row % queries, j);
      largest = std::max(largest, weights[j]);
    }
    for (int64_t j = 0; j < keys; ++j) total += weights[j] = std::exp(weights[j] - largest);
    for (int64_t j = 0; j < keys; ++j)
      for (int64_t d = 0; d < dim; ++d) result[d] += weights[j] / total * value[j * dim + d];
  }
  return {out};
}

static double flops(const tw::Instance& i) { return 4.0 * i["h"] * i["q"] * i["k"] * i["d"]; }

TILEWRIGHT_REGISTER(causal_attention) = {
    .summary = "attention of each query to the keys up to its own",
    .arguments = {"q: T[h, n, d]", "k: T[h, n, d]", "v: T[h, n, d]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8x1024x64", {{"h", 8}, {"n", 1024}, {"d", 64}}}},
    .flops = [](const tw::Instance& i) { return 2.0 * i["h"] * i["n"] * i["n"] * i["d"]; },
    .reference =
        [](std::span<const tw::AnyArgument> in) {
          return attention_reference(
              in, [](double score, int64_t, int64_t query, int64_t key) { return key <= query ? score : -INFINITY; });
        },
};

TILEWRIGHT_REGISTER(alibi_attention) = {
    .name = "alibi_attention",
    .summary = "attention with a bias for nearer keys, given as a callable",
    .arguments = {"q: T[h, q, d]", "k: T[h, k, d]", "v: T[h, k, d]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8x1024x64", {{"h", 8}, {"q", 1024}, {"k", 1024}, {"d", 64}}}},
    .flops = flops,
    .reference =
        [](std::span<const tw::AnyArgument> in) {
          return attention_reference(in, [](double score, int64_t head, int64_t query, int64_t key) {
            return score + std::exp2(-double(head + 1)) * double(key - query);
          });
        },
    .bind =
        [](std::span<const tw::AnyArgument> in) {
          return modified_attention.bind(in[0].array(), in[1].array(), in[2].array(), alibi);
        },
};

TILEWRIGHT_REGISTER(soft_cap_attention) = {
    .name = "soft_cap_attention",
    .summary = "attention with bounded scores, given as a callable",
    .arguments = {"q: T[h, q, d]", "k: T[h, k, d]", "v: T[h, k, d]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8x1024x64", {{"h", 8}, {"q", 1024}, {"k", 1024}, {"d", 64}}}},
    .flops = flops,
    .reference =
        [](std::span<const tw::AnyArgument> in) {
          return attention_reference(in,
                                     [](double score, int64_t, int64_t, int64_t) { return 2 * std::tanh(score / 2); });
        },
    .bind =
        [](std::span<const tw::AnyArgument> in) {
          return modified_attention.bind(in[0].array(), in[1].array(), in[2].array(), SoftCap{2});
        },
};
