// What kernels do at the edges of the language: nothing to do, one element, scalars, all dimensions at once.
#include "oracle.h"

#include <cmath>

namespace tw = tilewright;
using tw::test::expect_agrees_with_oracle;

namespace {

const auto row_mean = tw::kernel("row_mean", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty({x.size(0)}, x.dtype());
  for (auto tile : tw::tile(x.size(0))) out[tile] = tw::mean(x[tile, tw::_], 1);
  return out;
});

const auto tile_totals = tw::kernel("tile_totals", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m}, x.dtype());
  for (auto row : tw::grid(m)) {
    auto total = tw::full({}, 0.0);
    for (auto tile : tw::tile(n)) total = total + tw::sum(x[row, tile]);
    out[row] = total;
  }
  return out;
});

const auto columns_by_rows = tw::kernel("columns_by_rows", {"x", "bias"}, [](tw::Tensor x, tw::Tensor bias) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({n}, tw::float32);
  for (auto tile_n : tw::tile(n)) {
    auto acc = tw::zeros({tile_n});
    for (auto tile_m : tw::tile(m)) acc = acc + tw::sum(tw::gelu(x[tile_m, tile_n] + bias[tile_n]), 0);
    out[tile_n] = acc;
  }
  return out;
});

const auto integer_division = tw::kernel("integer_division", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) out[tile] = tw::floor_divide(x[tile], y[tile]) + x[tile] % y[tile];
  return out;
});

const auto masked = tw::kernel("masked", {"x", "mask"}, [](tw::Tensor x, tw::Tensor mask) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m, n}, tw::boolean);
  for (auto [tile_m, tile_n] : tw::tile({m, n}))
    out[tile_m, tile_n] = tw::where(mask[tile_m, tile_n], x[tile_m, tile_n], 0.0) > 0.5;
  return out;
});

const auto swap_carried = tw::kernel("swap_carried", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m}, tw::float32);
  for (auto tile : tw::tile(m)) {
    auto a = tw::zeros({tile}), b = tw::ones({tile});
    for (auto column : tw::grid(n)) {
      auto next = a + b * x[tile, column];
      a = b;
      b = next;
    }
    out[tile] = a - b;
  }
  return out;
});

const auto batched = tw::kernel("batched", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [b, m, k] = x.sizes<3>();
  auto n = y.size(2);
  auto out = tw::empty({b, m, n}, x.dtype());
  for (auto [tile_b, tile_m] : tw::tile({b, m}))
    out[tile_b, tile_m, tw::_] = tw::bmm(x[tile_b, tile_m, tw::_], y[tile_b, tw::_, tw::_]);
  return out;
});

} // namespace

TEST(edges, of_sizes_that_are_zero) {
  expect_agrees_with_oracle(row_mean.bind(tw::Array::zeros({0, 5})), 2, 1);
  expect_agrees_with_oracle(columns_by_rows.bind(tw::Array::zeros({0, 9}), tw::Array::ones({9})), 3, 1);
}

TEST(edges, of_scalars_that_a_loop_carries) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {5, 127}, {33, 40}})
    expect_agrees_with_oracle(tile_totals.bind(tw::Array::randn({m, n}, 1)), 5, n);
}

TEST(edges, of_means_and_column_sums_over_ragged_tiles) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{7, 5}, {61, 1}, {1, 61}, {45, 77}}) {
    expect_agrees_with_oracle(row_mean.bind(tw::Array::randn({m, n}, 1)), 6, n);
    expect_agrees_with_oracle(columns_by_rows.bind(tw::Array::randn({m, n}, 1), tw::Array::randn({n}, 2)), 8, m);
  }
}

TEST(edges, of_integer_division_never_trap_in_missing_lanes) {
  for (tw::DType dtype : {tw::int32, tw::int64})
    expect_agrees_with_oracle(
        integer_division.bind(tw::Array::randint(-50, 50, {61}, 1, dtype), tw::Array::randint(1, 9, {61}, 2, dtype)), 6,
        1);
}

TEST(edges, of_bool_tensors) {
  expect_agrees_with_oracle(
      masked.bind(tw::Array::rand({30, 45}, 1), tw::Array::randint(0, 2, {30, 45}, 2, tw::boolean)), 6, 1);
}

TEST(edges, of_carried_values_that_change_places) {
  expect_agrees_with_oracle(swap_carried.bind(tw::Array::rand({29, 6}, 1)), 6, 6);
}

TEST(edges, of_batched_products) {
  expect_agrees_with_oracle(batched.bind(tw::Array::randn({3, 17, 20}, 1), tw::Array::randn({3, 20, 33}, 2)), 8, 20);
  expect_agrees_with_oracle(
      batched.bind(tw::Array::randn({2, 5, 7}, 1), tw::Array::randn({2, 9, 7}, 2).transpose(1, 2)), 8, 7);
}
