// Gated linear attention, in chunks (Yang et al., 2024). Each head has a state S[dk, dv], and at step t
//
//   S = diag(exp(g_t)) S + k_t v_t^T,  o_t = q_t S
//
// with gates g <= 0 for each of k's features; here g = log(sigmoid(gate)) / 16. A chunk of steps is two matrix
// products: with b = cumsum(g) in the chunk, o = (q exp(b)) S + tril((q exp(b)) (k exp(-b))^T) v, where S is the state
// before it; after it, S = diag(exp(b_last)) S + (k exp(b_last - b))^T v.
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <cmath>

namespace tw = tilewright;

// Steps in a chunk at most, so that exp(-b) stays in range.
constexpr int kLongestChunk = 64;

static const auto linear_attention = tw::kernel(
    "linear_attention", {"q", "k", "v", "gate"}, [](tw::Tensor q, tw::Tensor k, tw::Tensor v, tw::Tensor gate) {
      auto [heads, length, dk] = q.sizes<3>();
      tw::Size dv = v.size(2);
      auto out = tw::empty({heads, length, dv}, v.dtype());
      for (auto [tile_h, tile_v] : tw::tile({heads, dv}, tw::block_size({1, tw::none}))) {
        auto head = tile_h.begin();
        auto state = tw::zeros({dk, tile_v});
        for (auto chunk : tw::tile(length, tw::block_size(kLongestChunk))) {
          auto g = tw::logsigmoid(gate[head, chunk, tw::_].to(tw::float32)) / 16;
          auto b = tw::cumsum(g, 0);
          auto last = tw::sum(g, 0);
          auto key = k[head, chunk, tw::_].to(tw::float32);
          auto query = q[head, chunk, tw::_] * tw::exp(b);
          auto value = v[head, chunk, tile_v].to(tw::float32);
          auto scores = tw::dot(query, (key * tw::exp(-b)).t());
          auto seen = chunk.index()[tw::_, tw::none] >= chunk.index();
          out[head, chunk, tile_v] = tw::dot(query, state) + tw::dot(tw::where(seen, scores, 0), value);
          state = tw::exp(last)[tw::_, tw::none] * state + tw::dot((key * tw::exp(last - b)).t(), value);
        }
      }
      return out;
    });

// Step by step.
static std::vector<tw::Array> linear_attention_reference(std::span<const tw::AnyArgument> in) {
  tw::Array q = in[0].array(), k = in[1].array(), v = in[2].array(), gate = in[3].array();
  tw::Array out = tw::Array::zeros(v.sizes(), tw::float64);
  int64_t dk = k.size(2), dv = v.size(2);
  for (int64_t h = 0; h < q.size(0); ++h) {
    std::vector<double> state(dk * dv, 0.0);
    for (int64_t t = 0; t < q.size(1); ++t)
      for (int64_t i = 0; i < dk; ++i) {
        double fade = std::pow(1 + std::exp(-gate.at<double>({h, t, i})), -1.0 / 16);
        for (int64_t j = 0; j < dv; ++j) {
          double& s = state[i * dv + j];
          s = fade * s + k.at<double>({h, t, i}) * v.at<double>({h, t, j});
          out.at<double>({h, t, j}) += q.at<double>({h, t, i}) * s;
        }
      }
  }
  return {out};
}

TILEWRIGHT_REGISTER(linear_attention) = {
    .summary = "gated linear attention, in chunks",
    .arguments = {"q: T[h, t, dk]", "k: T[h, t, dk]", "v: T[h, t, dv]", "gate: T[h, t, dk]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8x2048x64", {{"h", 8}, {"t", 2048}, {"dk", 64}, {"dv", 64}}}},
    .flops =
        [](const tw::Instance& i) {
          return 2.0 * i["h"] * i["t"] * (2 * i["dk"] * i["dv"] + kLongestChunk * (i["dk"] + i["dv"]));
        },
    .reference = linear_attention_reference,
};
