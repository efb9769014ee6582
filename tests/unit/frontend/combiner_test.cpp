// Reductions, scans and the user's combiners, by the interpreter.
#include "interpreted.h"
#include "tracing.h"

#include <cmath>
#include <limits>

namespace tw = tilewright;
using namespace tw::testing;

namespace {

using tw::Value;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// f of the rows of a matrix of `columns`: a value for each row.
template <class F>
std::vector<double> of_rows(const std::vector<double>& x, int64_t columns, tw::DType dtype, tw::DType result, F f) {
  auto kernel = tw::kernel("rows", [f, result](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty({m}, result);
    for (auto tile : tw::tile(m)) out[tile] = f(x[tile, tw::_]);
    return out;
  });
  tw::Array array = tw::Array::from_vector(x).to(dtype).view({int64_t(x.size()) / columns, columns});
  return interpret(kernel.bind(array))[0].template to_vector<double>();
}

// f of each row of a matrix, of the row's length.
template <class F>
std::vector<double> along_rows(const std::vector<double>& x, int64_t columns, tw::DType dtype, tw::DType result, F f) {
  auto kernel = tw::kernel("rows", [f, result](tw::Tensor x) {
    auto out = tw::empty_like(x, result);
    for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = f(x[tile, tw::_]);
    return out;
  });
  tw::Array array = tw::Array::from_vector(x).to(dtype).view({int64_t(x.size()) / columns, columns});
  return interpret(kernel.bind(array))[0].template to_vector<double>();
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

TEST(Reductions, of_logic_and_counts) {
  std::vector<double> x{0, 0, 0, 1, 0, 2, 3, 4, 5};
  auto reduce = [&](tw::DType result, auto f) { return of_rows(x, 3, tw::float32, result, f); };
  EXPECT_EQ(reduce(tw::boolean, [](Value v) { return v.any(1); }), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(reduce(tw::boolean, [](Value v) { return tw::all(v, -1); }), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(reduce(tw::int64, [](Value v) { return v.count_nonzero(1); }), (std::vector<double>{0, 2, 3}));
  EXPECT_EQ(reduce(tw::float32, [](Value v) { return v.prod(1); }), (std::vector<double>{0, 0, 60}));
  auto dtype = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      EXPECT_EQ(x[tile].prod().dtype(), tw::int64);
      EXPECT_EQ(x[tile].any().dtype(), tw::boolean);
      EXPECT_EQ(x[tile].prod(0, true).rank(), 1);
      x[tile] = 1;
    }
  });
  trace_of(dtype, tw::Array::empty({4}, tw::int32));
}

TEST(Reductions, argmax_takes_the_first_and_nan_first_of_all) {
  std::vector<double> x{1, 3, 3, 2, kNan, 1, kNan, 5, -kInfinity, -kInfinity, -kInfinity, -kInfinity};
  EXPECT_EQ(of_rows(x, 4, tw::float32, tw::int64, [](Value v) { return v.argmax(1); }), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(of_rows(x, 4, tw::float32, tw::int64, [](Value v) { return v.argmin(1); }), (std::vector<double>{0, 0, 0}));
  std::vector<double> y{5, 2, 2, 9, -4, 9};
  EXPECT_EQ(of_rows(y, 3, tw::int32, tw::int64, [](Value v) { return v.argmax(-1); }), (std::vector<double>{0, 0}));
  EXPECT_EQ(of_rows(y, 3, tw::int32, tw::int64, [](Value v) { return tw::argmin(v, 1, true).sum(1); }),
            (std::vector<double>{1, 1}));
}

TEST(Reductions, max_along_a_dimension_gives_value_and_index) {
  std::vector<double> x{1, 3, 3, 2, 8, 7};
  EXPECT_EQ(of_rows(x, 3, tw::float32, tw::float32,
                    [](Value v) {
                      auto [value, index] = v.max(1);
                      return value * 10 + index + v.min() * 1000;
                    }),
            (std::vector<double>{1031, 1081}));
}

TEST(Reductions, argmax_of_all_is_in_row_major_order) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto out = tw::empty({2}, tw::int64);
    for (auto i : tw::grid(1)) {
      out[0] = x[tw::_, tw::_].argmax();
      out[1] = x[tw::_, tw::_].argmin();
    }
    return out;
  });
  tw::Array x = tw::Array::from_vector(std::vector<float>{1, 7, 0, 3, 7, 0}).view({2, 3});
  EXPECT_EQ(interpret(kernel.bind(x))[0].to_vector<int64_t>(), (std::vector<int64_t>{1, 2}));
}

TEST(Reductions, argmax_over_a_tile_that_ends_early) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto out = tw::empty({2}, tw::int64);
    for (auto tile : tw::tile(x.size(0))) {
      out[tile.id()] = x[tile].argmin() + tile.begin();
    }
    return out;
  });
  tw::Array x = tw::Array::from_vector(std::vector<float>{4, 3, 8, 9, 7, 5});
  EXPECT_EQ(interpret(kernel.bind(x))[0].to_vector<int64_t>(), (std::vector<int64_t>{1, 5}));
}

TEST(Reductions, of_moments_and_norms) {
  std::vector<double> x{1, 2, 3, 4, -2, 0, 2, 8};
  auto reduce = [&](auto f) { return of_rows(x, 4, tw::float64, tw::float64, f); };
  expect_near(reduce([](Value v) { return v.var(1); }), {5.0 / 3, 56.0 / 3}, 1e-12);
  expect_near(reduce([](Value v) { return tw::std(v, 1, 0); }), {std::sqrt(1.25), std::sqrt(14.0)}, 1e-12);
  expect_near(reduce([](Value v) {
                auto [var, mean] = tw::var_mean(v, 1, 0, true);
                return (var * 100 + mean).squeeze(1);
              }),
              {125 + 2.5, 1400 + 2}, 1e-9);
  expect_near(reduce([](Value v) { return v.norm(2, 1); }), {std::sqrt(30.0), std::sqrt(72.0)}, 1e-12);
  expect_near(reduce([](Value v) { return v.norm(1, 1); }), {10, 12}, 1e-12);
  expect_near(reduce([](Value v) { return v.norm(0, 1); }), {4, 3}, 1e-12);
  expect_near(reduce([](Value v) { return v.norm(3, 1); }), {std::cbrt(100.0), std::cbrt(528.0)}, 1e-12);
  expect_near(reduce([](Value v) { return v.norm(INFINITY, 1); }), {4, 8}, 1e-12);
  expect_near(reduce([](Value v) { return v.norm(-INFINITY, 1); }), {1, 0}, 1e-12);
}

TEST(Reductions, of_a_ragged_tile_count_what_exists) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto out = tw::empty({2}, tw::float64);
    for (auto tile : tw::tile(x.size(0))) out[tile.id()] = x[tile].var();
    return out;
  });
  tw::Array x = tw::Array::from_vector(std::vector<double>{1, 2, 3, 4, 10, 14});
  expect_near(interpret(kernel.bind(x))[0].to_vector<double>(), {5.0 / 3, 8}, 1e-12);
}

TEST(Reductions, of_exponentials) {
  std::vector<double> x{1, 2, 3, -kInfinity, -kInfinity, -kInfinity, 1000, 1000, kInfinity};
  std::vector<double> found = of_rows(x, 3, tw::float64, tw::float64, [](Value v) { return v.logsumexp(1); });
  EXPECT_NEAR(found[0], std::log(std::exp(1) + std::exp(2) + std::exp(3)), 1e-12);
  EXPECT_EQ(found[1], -kInfinity);
  EXPECT_EQ(found[2], kInfinity);
  double total = std::log(std::exp(1.) + std::exp(2.) + std::exp(4.));
  expect_near(along_rows({1, 2, 4}, 3, tw::float64, tw::float64, [](Value v) { return v.log_softmax(1); }),
              {1 - total, 2 - total, 4 - total}, 1e-12);
}

TEST(Scans, of_sums_and_products) {
  std::vector<double> x{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(along_rows(x, 3, tw::float32, tw::float32, [](Value v) { return v.cumsum(1); }),
            (std::vector<double>{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(along_rows(x, 3, tw::int32, tw::int64, [](Value v) { return tw::cumprod(v, -1); }),
            (std::vector<double>{1, 2, 6, 4, 20, 120}));
  EXPECT_EQ(along_rows(x, 3, tw::bfloat16, tw::bfloat16, [](Value v) { return tw::cumsum(v, 0); }),
            (std::vector<double>{1, 2, 3, 5, 7, 9}));
}

TEST(Scans, of_extrema_take_the_last) {
  std::vector<double> x{3, 1, 3, 2, kNan, 5, kNan, 7};
  EXPECT_EQ(along_rows({3, 1, 3, 2}, 4, tw::float32, tw::float32, [](Value v) { return v.cummax(1).first; }),
            (std::vector<double>{3, 3, 3, 3}));
  EXPECT_EQ(along_rows(x, 4, tw::float32, tw::int64, [](Value v) { return v.cummax(1).second; }),
            (std::vector<double>{0, 0, 2, 2, 0, 0, 2, 2}));
  EXPECT_EQ(along_rows(x, 4, tw::float32, tw::int64, [](Value v) { return tw::cummin(v, 1).second; }),
            (std::vector<double>{0, 1, 1, 1, 0, 0, 2, 2}));
}

TEST(Combiners, reduce_tuples_flat_and_packed) {
  // The mean and the sum of squared distances of two parts, joined.
  auto welford = [](auto combine) {
    return [combine](Value v) {
      auto [mean, square, weight] = tw::reduce(combine, std::tuple{v, tw::zeros_like(v), tw::ones_like(v)}, 1);
      return square * 100 + mean + weight * 0;
    };
  };
  auto flat = [](Value ma, Value sa, Value na, Value mb, Value sb, Value nb) {
    Value n = na + nb, d = mb - ma;
    return std::tuple{ma + d * nb / n, sa + sb + d * d * na * nb / n, n};
  };
  auto packed = [flat](auto a, auto b) {
    return flat(std::get<0>(a), std::get<1>(a), std::get<2>(a), std::get<0>(b), std::get<1>(b), std::get<2>(b));
  };
  std::vector<double> x{1, 2, 3, 4, -2, 0, 2, 8}, expected{500 + 2.5, 5600 + 2};
  expect_near(of_rows(x, 4, tw::float64, tw::float64, welford(flat)), expected, 1e-9);
  expect_near(of_rows(x, 4, tw::float64, tw::float64, welford(packed)), expected, 1e-9);
}

TEST(Combiners, scan_both_ways_over_what_exists) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor flags, bool reverse) {
    auto out = tw::empty_like(x);
    for (auto tile : tw::tile(x.size(0))) {
      // Sums of segments: a flag begins a new one.
      auto [sums, ends] = tw::associative_scan(
          [](Value a, Value f, Value b, Value g) { return std::tuple{tw::where(g, b, a + b), f | g}; },
          std::pair{x[tile], flags[tile] != 0}, 0, reverse);
      out[tile] = sums;
    }
    return out;
  });
  tw::Array x = tw::Array::from_vector(std::vector<float>{1, 2, 3, 4, 5, 6}),
            flags = tw::Array::from_vector(std::vector<int32_t>{0, 0, 1, 0, 0, 0});
  EXPECT_EQ(interpret(kernel.bind(x, flags, false))[0].to_vector<double>(), (std::vector<double>{1, 3, 3, 7, 5, 11}));
  EXPECT_EQ(interpret(kernel.bind(x, flags, true))[0].to_vector<double>(), (std::vector<double>{6, 5, 3, 4, 11, 6}));
}

TEST(Combiners, use_scalars_from_outside) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor factor) {
    auto out = tw::empty({x.size(0)});
    for (auto tile : tw::tile(x.size(0))) {
      Value f = factor[0];
      out[tile] = tw::reduce([&](Value a, Value b) { return tw::maximum(a * f, b * f) / f; }, x[tile, tw::_], 1, -1.0);
    }
    return out;
  });
  tw::Array x = tw::Array::from_vector(std::vector<float>{1, 7, 3, 2}).view({2, 2});
  EXPECT_EQ(interpret(kernel.bind(x, tw::Array::full({1}, 2)))[0].to_vector<double>(), (std::vector<double>{7, 3}));
}

TEST(Combiners, refuse_what_is_no_combiner) {
  auto trace = [](auto f) {
    auto kernel = tw::kernel("k", [f](tw::Tensor x) {
      for (auto tile : tw::tile(x.size(0))) {
        Value v = x[tile], total = v.sum();
        x[0] = tw::reduce([&](Value a, Value b) { return f(a, b, v, total, x); }, v, 0);
      }
    });
    return error_of([&] { trace_of(kernel, tw::Array::empty({8})); }).message;
  };
  EXPECT_EQ(trace([](Value a, Value b, Value& v, Value& total, tw::Tensor x) { return (a + b).to(tw::float64); }),
            "result of the combiner is float64, where its operands are float32; convert it with .to(tw::float32)");
  EXPECT_EQ(trace([](Value a, Value b, Value& v, Value& total, tw::Tensor x) {
              total = a;
              return a + b;
            }),
            "a combiner assigns to a tw::Value from outside of it; it may only read it");
  EXPECT_TRUE(trace([](Value a, Value b, Value& v, Value& total, tw::Tensor x) {
                return (a + b + v).sum();
              }).starts_with("a combiner computes with scalars only: it may not"));
  EXPECT_TRUE(trace([](Value a, Value b, Value& v, Value& total, tw::Tensor x) {
                return a + x[0];
              }).starts_with("a combiner computes with scalars only: it may not"));
  EXPECT_TRUE(trace([](Value a, Value b, Value& v, Value& total, tw::Tensor x) {
                return v;
              }).starts_with("a combiner gives back scalars, found float32[tile of line"));
}

} // namespace
