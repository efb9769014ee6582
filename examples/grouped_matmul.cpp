// Several matrix products in one launch, of which data says the sizes.
//
//   grouped_matmul   out[t] = x[t] @ w[g] for the rows t of group g, offsets[g] to offsets[g + 1]
//   moe_matmul       out[order[t]] = x[order[t]] @ w[e]: a mixture of experts, order[offsets[e]] to order[offsets[e +
//   1]]
//                    being the tokens of expert e
#include "offsets.h"

#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <random>

namespace tw = tilewright;

static const auto grouped_matmul =
    tw::kernel("grouped_matmul", {"x", "w", "offsets"}, [](tw::Tensor x, tw::Tensor w, tw::Tensor offsets) {
      auto [rows, k] = x.sizes<2>();
      auto [groups, w_k, n] = w.sizes<3>();
      tw::check(k == w_k, "inner sizes differ: {} and {}", k, w_k);
      auto out = tw::empty({rows, n}, x.dtype());
      for (auto [group, tile_n] : tw::tile({groups, n}, tw::block_size({1, tw::none}))) {
        auto g = group.begin();
        for (auto tile_m : tw::tile(offsets[g], offsets[g + 1])) {
          auto acc = tw::zeros({tile_m, tile_n});
          for (auto tile_k : tw::tile(k)) acc = tw::addmm(acc, x[tile_m, tile_k], w[g, tile_k, tile_n]);
          out[tile_m, tile_n] = acc;
        }
      }
      return out;
    });

static const auto moe_matmul = tw::kernel(
    "moe_matmul", {"x", "w", "order", "offsets"}, [](tw::Tensor x, tw::Tensor w, tw::Tensor order, tw::Tensor offsets) {
      auto [tokens, k] = x.sizes<2>();
      auto [experts, w_k, n] = w.sizes<3>();
      tw::check(k == w_k, "inner sizes differ: {} and {}", k, w_k);
      auto out = tw::empty({tokens, n}, x.dtype());
      for (auto [expert, tile_n] : tw::tile({experts, n}, tw::block_size({1, tw::none}))) {
        auto e = expert.begin();
        for (auto tile_t : tw::tile(offsets[e], offsets[e + 1])) {
          auto token = order[tile_t];
          auto acc = tw::zeros({tile_t, tile_n});
          for (auto tile_k : tw::tile(k)) acc = tw::addmm(acc, x[token, tile_k], w[e, tile_k, tile_n]);
          out[token, tile_n] = acc;
        }
      }
      return out;
    });

// A row of the result: that of x times w[group].
static void multiply_row(const tw::Array& x, const tw::Array& w, int64_t row, int64_t group, const tw::Array& out) {
  int64_t k = w.size(1), n = w.size(2);
  const double *values = x.data<double>() + row * k, *weights = w.data<double>() + group * k * n;
  double* result = out.data<double>() + row * n;
  for (int64_t p = 0; p < k; ++p)
    for (int64_t j = 0; j < n; ++j) result[j] += values[p] * weights[p * n + j];
}

static std::vector<tw::Array> grouped_matmul_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), w = in[1].array(), out = tw::Array::zeros({x.size(0), w.size(2)}, tw::float64);
  const int64_t* offsets = in[2].array().data<int64_t>();
  for (int64_t group = 0; group < w.size(0); ++group)
    for (int64_t t = offsets[group]; t < offsets[group + 1]; ++t) multiply_row(x, w, t, group, out);
  return {out};
}

static std::vector<tw::Array> moe_matmul_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), w = in[1].array(), out = tw::Array::zeros({x.size(0), w.size(2)}, tw::float64);
  const int64_t *order = in[2].array().data<int64_t>(), *offsets = in[3].array().data<int64_t>();
  for (int64_t expert = 0; expert < w.size(0); ++expert)
    for (int64_t t = offsets[expert]; t < offsets[expert + 1]; ++t) multiply_row(x, w, order[t], expert, out);
  return {out};
}

TILEWRIGHT_REGISTER(grouped_matmul) = {
    .summary = "a matrix product for each group of rows",
    .arguments = {"x: T[rows, k]", "w: T[groups, k, n]", "offsets: int64[ends]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8 of 512x512", {{"rows", 4096}, {"k", 512}, {"groups", 8}, {"n", 512}, {"ends", 9}}}},
    .flops = [](const tw::Instance& i) { return 2.0 * i["rows"] * i["k"] * i["n"]; },
    .prepare = [](std::span<const tw::AnyArgument> in,
                  const tw::Instance& i) { fill_offsets(in[2].array(), i["rows"]); },
    .reference = grouped_matmul_reference,
};

TILEWRIGHT_REGISTER(moe_matmul) = {
    .summary = "each token times its expert's matrix",
    .arguments = {"x: T[tokens, k]", "w: T[experts, k, n]", "order: int64[tokens]", "offsets: int64[ends]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"8 of 512x512", {{"tokens", 4096}, {"k", 512}, {"experts", 8}, {"n", 512}, {"ends", 9}}}},
    .flops = [](const tw::Instance& i) { return 2.0 * i["tokens"] * i["k"] * i["n"]; },
    .prepare =
        [](std::span<const tw::AnyArgument> in, const tw::Instance& i) {
          tw::Array order = in[2].array().copy_from(tw::Array::arange(i["tokens"]));
          std::shuffle(order.data<int64_t>(), order.data<int64_t>() + order.numel(), std::mt19937_64(1));
          fill_offsets(in[3].array(), i["tokens"]);
        },
    .reference = moe_matmul_reference,
};
