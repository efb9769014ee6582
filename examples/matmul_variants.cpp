// Matrix products x @ w that are not plain.
//
//   int4_matmul       weights of 4 bits, two of one column in a byte: row 2i in the low half, row 2i + 1 in the high
//   one;
//                     w = signed nibble * scale[column]. x comes as [m, k / 2, 2], its pairs of columns side by side
//   int4_word_matmul  the same with eight rows in an int32, as unsigned nibbles less 8
//   split_k_atomic    the inner dimension in parts, which programs of their own add up in the result at once
//   split_k           the parts' products in memory, and after a barrier their sum
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

namespace tw = tilewright;

static const auto int4_matmul =
    tw::kernel("int4_matmul", {"x", "packed", "scale"}, [](tw::Tensor x, tw::Tensor packed, tw::Tensor scale) {
      auto [m, pairs, two] = x.sizes<3>();
      auto [packed_pairs, n] = packed.sizes<2>();
      tw::check(two == 2 && pairs == packed_pairs, "x has {} groups of {}, and the weights {} pairs of rows", pairs,
                two, packed_pairs);
      auto out = tw::empty({m, n}, x.dtype());
      for (auto [tile_m, tile_n] : tw::tile({m, n})) {
        auto acc = tw::zeros({tile_m, tile_n});
        for (auto tile_k : tw::tile(pairs)) {
          auto bytes = packed[tile_k, tile_n];
          auto low = (bytes << 4) >> 4; // the sign comes along from the left
          auto high = bytes >> 4;
          acc = tw::addmm(acc, x[tile_m, tile_k, 0], low.to(x.dtype()));
          acc = tw::addmm(acc, x[tile_m, tile_k, 1], high.to(x.dtype()));
        }
        out[tile_m, tile_n] = acc * scale[tile_n];
      }
      return out;
    });

static const auto int4_word_matmul =
    tw::kernel("int4_word_matmul", {"x", "packed", "scale"}, [](tw::Tensor x, tw::Tensor packed, tw::Tensor scale) {
      auto [m, words, eight] = x.sizes<3>();
      auto [packed_words, n] = packed.sizes<2>();
      tw::check(eight == 8 && words == packed_words, "x has {} groups of {}, and the weights {} words", words, eight,
                packed_words);
      auto out = tw::empty({m, n}, x.dtype());
      for (auto [tile_m, tile_n] : tw::tile({m, n})) {
        auto acc = tw::zeros({tile_m, tile_n});
        for (auto tile_k : tw::tile(words)) {
          auto word = packed[tile_k, tile_n];
          for (int i : tw::static_range(8)) {
            auto weights = ((word >> (4 * i)) & 15) - 8;
            acc = tw::addmm(acc, x[tile_m, tile_k, i], weights.to(x.dtype()));
          }
        }
        out[tile_m, tile_n] = acc * scale[tile_n];
      }
      return out;
    });

// How many parts, a power of two at most: what is best depends on the sizes and the machine.
static tw::Size parts_of_sum() { return tw::register_tunable("parts", {1, 2, 4, 8, 16}); }

// The product of one part of the inner dimension, [part * each, (part + 1) * each).
static tw::Value product_of_part(const tw::Tensor& x, const tw::Tensor& w, const tw::Size& parts, const tw::Tile& part,
                                 const tw::Tile& tile_m, const tw::Tile& tile_n) {
  tw::Size k = x.size(1), each = tw::cdiv(k, parts);
  auto acc = tw::zeros({tile_m, tile_n});
  auto begin = part.begin() * each;
  for (auto tile_k : tw::tile(begin, tw::minimum(begin + each, k)))
    acc = tw::addmm(acc, x[tile_m, tile_k], w[tile_k, tile_n]);
  return acc;
}

static const auto split_k_atomic = tw::kernel("split_k_atomic", {"x", "w"}, [](tw::Tensor x, tw::Tensor w) {
  auto [m, k] = x.sizes<2>();
  auto [w_k, n] = w.sizes<2>();
  tw::check(k == w_k, "inner sizes differ: {} and {}", k, w_k);
  auto parts = parts_of_sum();
  auto out = tw::empty({m, n});
  for (auto tiles : tw::tile({m, n})) out[tiles] = 0;
  tw::barrier();
  for (auto [part, tile_m, tile_n] : tw::tile({parts, m, n}, tw::block_size({1, tw::none, tw::none})))
    tw::atomic_add(out, {tile_m, tile_n}, product_of_part(x, w, parts, part, tile_m, tile_n));
  return out;
});

static const auto split_k = tw::kernel("split_k", {"x", "w"}, [](tw::Tensor x, tw::Tensor w) {
  auto [m, k] = x.sizes<2>();
  auto [w_k, n] = w.sizes<2>();
  tw::check(k == w_k, "inner sizes differ: {} and {}", k, w_k);
  auto parts = parts_of_sum();
  auto products = tw::empty({parts, m, n});
  auto out = tw::empty({m, n}, x.dtype());
  for (auto [part, tile_m, tile_n] : tw::tile({parts, m, n}, tw::block_size({1, tw::none, tw::none})))
    products[part.begin(), tile_m, tile_n] = product_of_part(x, w, parts, part, tile_m, tile_n);
  tw::barrier();
  for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_m, tile_n] = tw::sum(products[tw::_, tile_m, tile_n], 0);
  return out;
});

// x @ w, of x with k columns in row-major order, where weight(p, j) is w's element.
template <class Weight> static tw::Array product(const tw::Array& x, int64_t k, int64_t n, Weight weight) {
  tw::Array out = tw::Array::zeros({x.size(0), n}, tw::float64);
  std::vector<double> row(n);
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t j = 0; j < n; ++j) row[j] = weight(p, j);
    for (int64_t i = 0; i < x.size(0); ++i) {
      double value = x.data<double>()[i * k + p], *result = out.data<double>() + i * n;
      for (int64_t j = 0; j < n; ++j) result[j] += value * row[j];
    }
  }
  return out;
}

static std::vector<tw::Array> int4_matmul_reference(std::span<const tw::AnyArgument> in) {
  tw::Array packed = in[1].array(), scale = in[2].array();
  return {product(in[0].array(), packed.size(0) * 2, packed.size(1), [&](int64_t p, int64_t j) {
    int nibble = (packed.at<int8_t>({p / 2, j}) >> (p % 2 * 4)) & 15;
    return (nibble < 8 ? nibble : nibble - 16) * scale.at<double>({j});
  })};
}

static std::vector<tw::Array> int4_word_matmul_reference(std::span<const tw::AnyArgument> in) {
  tw::Array packed = in[1].array(), scale = in[2].array();
  return {product(in[0].array(), packed.size(0) * 8, packed.size(1), [&](int64_t p, int64_t j) {
    return (((packed.at<int32_t>({p / 8, j}) >> (p % 8 * 4)) & 15) - 8) * scale.at<double>({j});
  })};
}

static std::vector<tw::Array> matmul_reference(std::span<const tw::AnyArgument> in) {
  tw::Array w = in[1].array();
  return {product(in[0].array(), w.size(0), w.size(1), [&](int64_t p, int64_t j) { return w.at<double>({p, j}); })};
}

TILEWRIGHT_REGISTER(int4_matmul) = {
    .summary = "matrix product with weights of 4 bits, two in a byte",
    .arguments = {"x: T[m, pairs, 2]", "packed: int8[pairs, n]", "scale: float32[n]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"64x2048x2048", {{"m", 64}, {"pairs", 1024}, {"n", 2048}}}},
    .flops = [](const tw::Instance& i) { return 4.0 * i["m"] * i["pairs"] * i["n"]; },
    .prepare =
        [](std::span<const tw::AnyArgument> in, const tw::Instance& i) {
          in[1].array().copy_from(tw::Array::randint(-128, 128, {i["pairs"], i["n"]}, /*seed=*/1, tw::int8));
        },
    .reference = int4_matmul_reference,
};

TILEWRIGHT_REGISTER(int4_word_matmul) = {
    .summary = "matrix product with weights of 4 bits, eight in an int32",
    .arguments = {"x: T[m, words, 8]", "packed: int32[words, n]", "scale: float32[n]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"64x2048x2048", {{"m", 64}, {"words", 256}, {"n", 2048}}}},
    .flops = [](const tw::Instance& i) { return 16.0 * i["m"] * i["words"] * i["n"]; },
    .prepare =
        [](std::span<const tw::AnyArgument> in, const tw::Instance& i) {
          auto all = tw::Array::randint(-(int64_t(1) << 31), int64_t(1) << 31, {i["words"], i["n"]}, /*seed=*/1);
          in[1].array().copy_from(all);
        },
    .reference = int4_word_matmul_reference,
};

TILEWRIGHT_REGISTER(split_k_atomic) = {
    .summary = "matrix product whose parts are added up by atomic access",
    .arguments = {"x: T[m, k]", "w: T[k, n]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"64x64x16384", {{"m", 64}, {"n", 64}, {"k", 16384}}}},
    .flops = [](const tw::Instance& i) { return 2.0 * i["m"] * i["n"] * i["k"]; },
    .reference = matmul_reference,
};

TILEWRIGHT_REGISTER(split_k) = {
    .summary = "matrix product whose parts are added up after a barrier",
    .arguments = {"x: T[m, k]", "w: T[k, n]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"64x64x16384", {{"m", 64}, {"n", 64}, {"k", 16384}}}},
    .flops = [](const tw::Instance& i) { return 2.0 * i["m"] * i["n"] * i["k"]; },
    .reference = matmul_reference,
};
