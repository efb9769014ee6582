// Rows in groups of different lengths, one after the other: group i is rows offsets[i] to offsets[i + 1] of x.
//
//   jagged_mean        the mean of each group's rows; 0 of an empty one
//   jagged_tile_mean   the same for several groups at once, by a tile that ends each of them at its own length
//   jagged_softmax     softmax down each column of each group
//   jagged_dense_add   row t of group i plus y[i, t]; rows beyond y's length stay as they are
//   segmented_sum      for sorted keys, sums[k] of the rows with key k
#include "offsets.h"

#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

#include <cmath>

namespace tw = tilewright;

static const auto jagged_mean = tw::kernel("jagged_mean", {"x", "offsets"}, [](tw::Tensor x, tw::Tensor offsets) {
  auto [rows, d] = x.sizes<2>();
  tw::Size groups = offsets.size(0) - 1;
  auto out = tw::empty({groups, d}, x.dtype());
  for (auto [group, tile_d] : tw::tile({groups, d}, tw::block_size({1, tw::none}))) {
    auto begin = offsets[group.begin()];
    auto end = offsets[group.begin() + 1];
    auto total = tw::zeros({tile_d});
    for (auto tile : tw::tile(begin, end)) total += tw::sum(x[tile, tile_d], 0);
    out[group.begin(), tile_d] = total / tw::maximum(end - begin, 1);
  }
  return out;
});

static const auto jagged_tile_mean =
    tw::kernel("jagged_tile_mean", {"x", "offsets"}, [](tw::Tensor x, tw::Tensor offsets) {
      auto [rows, d] = x.sizes<2>();
      tw::Size groups = offsets.size(0) - 1;
      auto out = tw::empty({groups, d}, x.dtype());
      for (auto [group, tile_d] : tw::tile({groups, d})) {
        auto begin = offsets[group];
        auto lengths = offsets[group + 1] - begin;
        auto total = tw::zeros({group, tile_d});
        for (auto tile : tw::jagged_tile(lengths)) {
          auto row = begin[tw::_, tw::none] + tile.index()[tw::none, tw::_];
          total += tw::sum(x[row, tile_d], 1);
        }
        out[group, tile_d] = total / tw::maximum(lengths, 1)[tw::_, tw::none];
      }
      return out;
    });

static const auto jagged_softmax = tw::kernel("jagged_softmax", {"x", "offsets"}, [](tw::Tensor x, tw::Tensor offsets) {
  auto [rows, d] = x.sizes<2>();
  auto out = tw::empty_like(x);
  for (auto group : tw::grid(offsets.size(0) - 1)) {
    auto begin = offsets[group];
    auto end = offsets[group + 1];
    for (auto tile_d : tw::tile(d)) {
      auto largest = tw::full({tile_d}, -INFINITY);
      auto total = tw::zeros({tile_d});
      for (auto tile : tw::tile(begin, end)) {
        auto values = x[tile, tile_d].to(tw::float32);
        auto next = tw::maximum(largest, tw::amax(values, 0));
        total = total * tw::exp(largest - next) + tw::sum(tw::exp(values - next), 0);
        largest = next;
      }
      for (auto tile : tw::tile(begin, end)) out[tile, tile_d] = tw::exp(x[tile, tile_d] - largest) / total;
    }
  }
  return out;
});

static const auto jagged_dense_add =
    tw::kernel("jagged_dense_add", {"x", "offsets", "y"}, [](tw::Tensor x, tw::Tensor offsets, tw::Tensor y) {
      auto [rows, d] = x.sizes<2>();
      auto [groups, length, y_d] = y.sizes<3>();
      tw::check(offsets.size(0) == groups + 1, "{} groups need {} offsets, found {}", groups, groups + 1,
                offsets.size(0));
      auto out = tw::empty_like(x);
      for (auto [group, tile_d] : tw::tile({groups, d}, tw::block_size({1, tw::none}))) {
        auto begin = offsets[group.begin()];
        auto end = offsets[group.begin() + 1];
        auto last = tw::minimum(begin + length, end);
        for (auto tile : tw::tile(begin, last))
          out[tile, tile_d] = x[tile, tile_d] + y[group.begin(), tile - begin, tile_d];
        for (auto tile : tw::tile(last, end)) out[tile, tile_d] = x[tile, tile_d];
      }
      return out;
    });

// A scan of (key, row) pairs adds up runs of one key within a tile, and the last of each run holds its sum. A run may
// go on in the next tile, so sums are added to memory at once.
static const auto segmented_sum =
    tw::kernel("segmented_sum", {"keys", "x", "sums"}, [](tw::Tensor keys, tw::Tensor x, tw::Tensor sums) {
      auto [rows, d] = x.sizes<2>();
      for (auto [tile, tile_d] : tw::tile({rows, d})) {
        auto combine = [](tw::Value key_a, tw::Value a, tw::Value key_b, tw::Value b) {
          return std::tuple(key_b, tw::where(key_a == key_b, a + b, b));
        };
        auto key = keys[tile];
        auto values = x[tile, tile_d].to(tw::float32);
        auto same = tw::zeros_like(values, tw::int64) + key[tw::_, tw::none];
        auto [_, total] = tw::associative_scan(combine, std::tuple(same, values), 0);
        auto next = keys[tw::minimum(tile.index() + 1, rows - 1)];
        auto is_last = (key != next) | (tile.index() + 1 == tile.end());
        tw::atomic_add(sums, {key, tile_d}, tw::where(is_last[tw::_, tw::none], total, 0));
      }
    });

static std::vector<tw::Array> jagged_mean_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), out = tw::Array::zeros({in[1].array().size(0) - 1, x.size(1)}, tw::float64);
  const int64_t* offsets = in[1].array().data<int64_t>();
  for (int64_t i = 0; i < out.size(0); ++i)
    for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t)
      for (int64_t j = 0; j < x.size(1); ++j)
        out.at<double>({i, j}) += x.at<double>({t, j}) / double(offsets[i + 1] - offsets[i]);
  return {out};
}

static std::vector<tw::Array> jagged_softmax_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[0].array(), out = tw::Array::empty(x.sizes(), tw::float64);
  const int64_t* offsets = in[1].array().data<int64_t>();
  for (int64_t i = 0; i + 1 < in[1].array().size(0); ++i)
    for (int64_t j = 0; j < x.size(1); ++j) {
      double largest = -INFINITY, total = 0;
      for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t) largest = std::max(largest, x.at<double>({t, j}));
      for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t) total += std::exp(x.at<double>({t, j}) - largest);
      for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t)
        out.at<double>({t, j}) = std::exp(x.at<double>({t, j}) - largest) / total;
    }
  return {out};
}

static std::vector<tw::Array> jagged_dense_add_reference(std::span<const tw::AnyArgument> in) {
  tw::Array out = in[0].array().clone(), y = in[2].array();
  const int64_t* offsets = in[1].array().data<int64_t>();
  for (int64_t i = 0; i < y.size(0); ++i)
    for (int64_t t = 0; t < std::min(offsets[i + 1] - offsets[i], y.size(1)); ++t)
      for (int64_t j = 0; j < y.size(2); ++j) out.at<double>({offsets[i] + t, j}) += y.at<double>({i, t, j});
  return {out};
}

static std::vector<tw::Array> segmented_sum_reference(std::span<const tw::AnyArgument> in) {
  tw::Array x = in[1].array(), sums = in[2].array();
  for (int64_t i = 0; i < x.size(0); ++i)
    for (int64_t j = 0; j < x.size(1); ++j)
      sums.at<double>({in[0].array().at<int64_t>({i}), j}) += x.at<double>({i, j});
  return {sums};
}

static void prepare_offsets(std::span<const tw::AnyArgument> in, const tw::Instance& i) {
  fill_offsets(in[1].array(), i["rows"]);
}

TILEWRIGHT_REGISTER(jagged_mean) = {
    .summary = "the mean of each group of rows",
    .arguments = {"x: T[rows, d]", "offsets: int64[ends]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"511 groups of 65536x256", {{"rows", 65536}, {"d", 256}, {"ends", 512}}}},
    .flops = [](const tw::Instance& i) { return 1.0 * i["rows"] * i["d"]; },
    .prepare = prepare_offsets,
    .reference = jagged_mean_reference,
};

TILEWRIGHT_REGISTER(jagged_tile_mean) = {
    .summary = "the mean of each group of rows, several groups at once",
    .arguments = {"x: T[rows, d]", "offsets: int64[ends]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"511 groups of 65536x256", {{"rows", 65536}, {"d", 256}, {"ends", 512}}}},
    .flops = [](const tw::Instance& i) { return 1.0 * i["rows"] * i["d"]; },
    .prepare = prepare_offsets,
    .reference = jagged_mean_reference,
};

TILEWRIGHT_REGISTER(jagged_softmax) = {
    .summary = "softmax down the columns of each group of rows",
    .arguments = {"x: T[rows, d]", "offsets: int64[ends]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"511 groups of 65536x256", {{"rows", 65536}, {"d", 256}, {"ends", 512}}}},
    .flops = [](const tw::Instance& i) { return 5.0 * i["rows"] * i["d"]; },
    .prepare = prepare_offsets,
    .reference = jagged_softmax_reference,
};

TILEWRIGHT_REGISTER(jagged_dense_add) = {
    .summary = "groups of rows plus the matrices of a dense batch",
    .arguments = {"x: T[rows, d]", "offsets: int64[ends]", "y: T[groups, length, d]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"511 groups of 65536x256",
               {{"rows", 65536}, {"d", 256}, {"ends", 512}, {"groups", 511}, {"length", 192}}}},
    .flops = [](const tw::Instance& i) { return 1.0 * i["rows"] * i["d"]; },
    .prepare = prepare_offsets,
    .reference = jagged_dense_add_reference,
};

TILEWRIGHT_REGISTER(segmented_sum) = {
    .summary = "sums of the rows of each key, by a scan over sorted keys",
    .arguments = {"keys: int64[rows]", "x: T[rows, d]", "sums: float32[segments, d]"},
    .dtypes = {tw::float32, tw::bfloat16, tw::float16},
    .cases = {{"512 segments of 65536x256", {{"rows", 65536}, {"d", 256}, {"segments", 512}}}},
    .flops = [](const tw::Instance& i) { return 1.0 * i["rows"] * i["d"]; },
    .prepare =
        [](std::span<const tw::AnyArgument> in, const tw::Instance& i) {
          tw::Array keys = in[0].array();
          keys.copy_from(tw::Array::randint(0, i["segments"], {i["rows"]}, /*seed=*/1));
          std::sort(keys.data<int64_t>(), keys.data<int64_t>() + keys.numel());
        },
    .reference = segmented_sum_reference,
};
