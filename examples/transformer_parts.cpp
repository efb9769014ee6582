// What happens to tokens before attention and between it: table look-up, rotary positions, gates, dropout.
//
//   embedding           table[id]
//   rope                pairs (x_j, x_{j + d/2}) turned by an angle of their position, of which cos and sin are given
//   silu_and_multiply   silu(a) b for x = [a, b]
//   geglu               gelu(a) b
//   dropout             x / (1 - p) with probability 1 - p, else 0; the same elements for the same seed
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <cmath>

namespace tw = tilewright;

static const auto embedding = tw::kernel("embedding", {"ids", "table"}, [](tw::Tensor ids, tw::Tensor table) {
  auto [n] = ids.sizes<1>();
  auto [rows, d] = table.sizes<2>();
  auto out = tw::empty({n, d}, table.dtype());
  for (auto [tile_n, tile_d] : tw::tile({n, d})) out[tile_n, tile_d] = table[ids[tile_n], tile_d];
  return out;
});

static const auto rope = tw::kernel("rope", {"x", "cos", "sin"}, [](tw::Tensor x, tw::Tensor cos, tw::Tensor sin) {
  auto [heads, length, d] = x.sizes<3>();
  tw::check(d % 2 == 0, "pairs of features need an even number of them, found {}", d);
  tw::Size half = d / 2;
  auto out = tw::empty_like(x);
  for (auto [tile_h, tile_t] : tw::tile({heads, length})) {
    auto a = x[tile_h, tile_t, tw::slice(0, half)].to(tw::float32);
    auto b = x[tile_h, tile_t, tw::slice(half, tw::none)].to(tw::float32);
    auto c = cos[tw::none, tile_t, tw::_];
    auto s = sin[tw::none, tile_t, tw::_];
    out[tile_h, tile_t, tw::slice(0, half)] = a * c - b * s;
    out[tile_h, tile_t, tw::slice(half, tw::none)] = b * c + a * s;
  }
  return out;
});

static const auto silu_and_multiply = tw::kernel("silu_and_multiply", {"x"}, [](tw::Tensor x) {
  auto [m, both] = x.sizes<2>();
  tw::check(both % 2 == 0, "x has two halves, found {} columns", both);
  tw::Size n = both / 2;
  auto out = tw::empty({m, n}, x.dtype());
  for (auto [tile_m, tile_n] : tw::tile({m, n}))
    out[tile_m, tile_n] = tw::silu(x[tile_m, tile_n].to(tw::float32)) * x[tile_m, tile_n + n];
  return out;
});

static const auto geglu = tw::kernel("geglu", {"a", "b"}, [](tw::Tensor a, tw::Tensor b) {
  auto [m, n] = a.sizes<2>();
  auto out = tw::empty_like(a);
  for (auto tiles : tw::tile({m, n})) out[tiles] = tw::gelu(a[tiles].to(tw::float32)) * b[tiles];
  return out;
});

static const auto dropout =
    tw::kernel("dropout", {"x", "p", "seed"}, [](tw::Tensor x, tw::Scalar<float> p, tw::Scalar<int64_t> seed) {
      auto [m, n] = x.sizes<2>();
      auto out = tw::empty_like(x);
      for (auto tiles : tw::tile({m, n}))
        out[tiles] = tw::where(tw::rand(tiles, seed) < p, 0, x[tiles].to(tw::float32) / (1 - p));
      return out;
    });

static std::vector<tw::Array> embedding_reference(std::span<const tw::AnyArgument> in) {
  tw::Array ids = in[0].array(), table = in[1].array(), out;
  int64_t n = ids.size(0), d = table.size(1);
  out = tw::Array::empty({n, d}, tw::float64);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j) out.at<double>({i, j}) = table.at<double>({ids.at<int64_t>({i}), j});
  return {out};
}

static std::vector<tw::Array> rope_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), cos = in[1].array(), sin = in[2].array(), out = tw::Array::empty(x.sizes(), tw::float64);
  int64_t half = x.size(2) / 2;
  for (int64_t h = 0; h < x.size(0); ++h)
    for (int64_t t = 0; t < x.size(1); ++t)
      for (int64_t j = 0; j < half; ++j) {
        double a = x.at<double>({h, t, j}), b = x.at<double>({h, t, j + half});
        double c = cos.at<double>({t, j}), s = sin.at<double>({t, j});
        out.at<double>({h, t, j}) = a * c - b * s;
        out.at<double>({h, t, j + half}) = b * c + a * s;
      }
  return {out};
}

static std::vector<tw::Array> silu_and_multiply_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), out = tw::Array::empty({x.size(0), x.size(1) / 2}, tw::float64);
  for (int64_t i = 0; i < out.size(0); ++i)
    for (int64_t j = 0; j < out.size(1); ++j) {
      double a = x.at<double>({i, j});
      out.at<double>({i, j}) = a / (1 + std::exp(-a)) * x.at<double>({i, j + out.size(1)});
    }
  return {out};
}

static std::vector<tw::Array> geglu_reference(std::span<const tw::AnyArgument> in) {
  tw::Array out = tw::Array::empty(in[0].array().sizes(), tw::float64);
  const double *a = in[0].array().data<double>(), *b = in[1].array().data<double>();
  for (int64_t i = 0; i < out.numel(); ++i)
    out.data<double>()[i] = a[i] * (1 + std::erf(a[i] * std::sqrt(0.5))) / 2 * b[i];
  return {out};
}

static std::vector<tw::Array> dropout_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), out = tw::Array::empty(x.sizes(), tw::float64);
  float p = in[1].number().real();
  tw::Array chance = tw::Array::rand(x.sizes(), in[2].number().integer());
  for (int64_t i = 0; i < x.numel(); ++i)
    out.data<double>()[i] = chance.data<float>()[i] < p ? 0 : x.data<double>()[i] / (1 - double(p));
  return {out};
}

TILEWRIGHT_REGISTER(embedding) = {
    .summary = "rows of a table by their number",
    .arguments = {"ids: int64[n]", "table: T[rows, d]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"16384 of 32000x1024", {{"n", 16384}, {"rows", 32000}, {"d", 1024}}}},
    .bytes = [](const tw::Instance& i) { return 2.0 * i["n"] * i["d"] * tw::size_in_bytes(i.dtype()); },
    .prepare =
        [](std::span<const tw::AnyArgument> in, const tw::Instance& i) {
          in[0].array().copy_from(tw::Array::randint(0, i["rows"], {i["n"]}, /*seed=*/1));
        },
    .reference = embedding_reference,
};

TILEWRIGHT_REGISTER(rope) = {
    .summary = "rotary position embedding, halves of the features as pairs",
    .arguments = {"x: T[h, t, d]", "cos: float32[t, half]", "sin: float32[t, half]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"32x4096x128", {{"h", 32}, {"t", 4096}, {"d", 128}, {"half", 64}}}},
    .flops = [](const tw::Instance& i) { return 3.0 * i["h"] * i["t"] * i["d"]; },
    .reference = rope_reference,
};

TILEWRIGHT_REGISTER(silu_and_multiply) = {
    .summary = "silu of the left half of rows, times the right half",
    .arguments = {"x: T[m, n2]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"4096x11008", {{"m", 4096}, {"n2", 2 * 11008}}}},
    .flops = [](const tw::Instance& i) { return 2.5 * i["m"] * i["n2"]; },
    .reference = silu_and_multiply_reference,
};

TILEWRIGHT_REGISTER(geglu) = {
    .summary = "gelu of one matrix, times another",
    .arguments = {"a: T[m, n]", "b: T[m, n]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"4096x11008", {{"m", 4096}, {"n", 11008}}}},
    .flops = [](const tw::Instance& i) { return 5.0 * i["m"] * i["n"]; },
    .reference = geglu_reference,
};

TILEWRIGHT_REGISTER(dropout) = {
    .summary = "elements set to 0 at random, the others scaled up",
    .arguments = {"x: T[m, n]", "p: float32 = 0.25", "seed: int64 = 42"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"4096x4096", {{"m", 4096}, {"n", 4096}}}},
    .flops = [](const tw::Instance& i) { return 2.0 * i["m"] * i["n"]; },
    .reference = dropout_reference,
};
