// Attention, without ever holding the whole matrix of scores: for a tile of queries, keys and values are walked in
// tiles, and the softmax is kept up to date on the way (Dao et al., "FlashAttention", 2022).
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <algorithm>
#include <cmath>

namespace tw = tilewright;

static const auto attention = tw::kernel("attention", {"q", "k", "v"}, [](tw::Tensor q, tw::Tensor k, tw::Tensor v) {
  auto [heads, queries, dim] = q.sizes<3>();
  auto [k_heads, keys, k_dim] = k.sizes<3>();
  tw::check(heads == k_heads, "q has {} heads and k has {}", heads, k_heads);
  tw::check(dim == k_dim, "q has {} features and k has {}", dim, k_dim);
  tw::check(v.size(1) == keys, "there are {} keys and {} values", keys, v.size(1));
  double scale = 1 / std::sqrt(double(dim));
  auto out = tw::empty_like(q);
  for (auto [tile_h, tile_q] : tw::tile({heads, queries}, tw::block_size({1, tw::none}))) {
    auto query = q[tile_h, tile_q, tw::_];
    auto largest = tw::full({tile_h, tile_q}, -INFINITY);
    auto total = tw::zeros({tile_h, tile_q});
    auto acc = tw::zeros({tile_h, tile_q, dim});
    for (auto tile_k : tw::tile(keys)) {
      auto scores = tw::dot(query, k[tile_h, tile_k, tw::_].transpose(1, 2)) * scale;
      auto next = tw::maximum(largest, tw::amax(scores, -1));
      auto weights = tw::exp(scores - next.unsqueeze(-1));
      auto fade = tw::exp(largest - next);
      total = total * fade + tw::sum(weights, -1);
      acc = tw::baddbmm(acc * fade.unsqueeze(-1), weights.to(v.dtype()), v[tile_h, tile_k, tw::_]);
      largest = next;
    }
    out[tile_h, tile_q, tw::_] = acc / total.unsqueeze(-1);
  }
  return out;
});

static std::vector<tw::Array> attention_reference(std::span<const tw::AnyArgument> in) {
  tw::Array q = in[0].array(), out = tw::Array::zeros(q.sizes(), tw::float64);
  int64_t heads = q.size(0), queries = q.size(1), dim = q.size(2), keys = in[1].array().size(1);
  std::vector<double> weights(keys);
  for (int64_t row = 0; row < heads * queries; ++row) {
    const double* query = q.data<double>() + row * dim;
    const double* key = in[1].array().data<double>() + row / queries * keys * dim;
    const double* value = in[2].array().data<double>() + row / queries * keys * dim;
    double* result = out.data<double>() + row * dim;
    double largest = -INFINITY, total = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double dot = 0;
      for (int64_t d = 0; d < dim; ++d) dot += query[d] * key[j * dim + d];
      weights[j] = dot / std::sqrt(double(dim));
      largest = std::max(largest, weights[j]);
    }
    for (int64_t j = 0; j < keys; ++j) total += weights[j] = std::exp(weights[j] - largest);
    for (int64_t j = 0; j < keys; ++j)
      for (int64_t d = 0; d < dim; ++d) result[d] += weights[j] / total * value[j * dim + d];
  }
  return {out};
}

TILEWRIGHT_REGISTER(attention) = {
    .summary = "attention by online softmax over tiles of keys",
    .arguments = {"q: T[h, q, d]", "k: T[h, k, d]", "v: T[h, k, d]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8x1024x64", {{"h", 8}, {"q", 1024}, {"k", 1024}, {"d", 64}}}},
    .flops = [](const tw::Instance& i) { return 4.0 * i["h"] * i["q"] * i["k"] * i["d"]; },
    .reference = attention_reference,
};
