// math: what becomes instructions, and what goes through the runtime table.
#include "cpu/loops_kernel.h"
#include "tilewright/error.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tilewright::cpu;

namespace {

const std::vector<float> kValues = {0,     -0.0f,       0.5f,    -0.5f,  1.5f, 2.5f,
                                    -2.5f, 0.49999997f, 8388609, -1e30f, 4,    HUGE_VALF};

std::vector<float> unary(const std::string& name, const std::vector<float>& values = kValues) {
  return evaluate<float>("$r = math." + name + " $0 : $R", {"f32"}, "f32", values);
}

void expect_equal(const std::vector<float>& results, float (*function)(float),
                  const std::vector<float>& values = kValues) {
  for (size_t i = 0; i < values.size(); ++i) {
    float expected = function(values[i]);
    EXPECT_EQ(results[i], expected) << values[i];
    EXPECT_EQ(std::signbit(results[i]), std::signbit(expected)) << values[i];
  }
}

TEST(EmitMath, roundings) {
  expect_equal(unary("floor"), std::floor);
  expect_equal(unary("ceil"), std::ceil);
  expect_equal(unary("trunc"), std::trunc);
  expect_equal(unary("round"), std::round);
  expect_equal(unary("roundeven"), std::nearbyint);
}

TEST(EmitMath, roots_and_magnitudes) {
  std::vector<float> positive = {0, 1, 2, 3, 1e-40f, 1e38f, 0.25f};
  expect_equal(unary("sqrt", positive), std::sqrt, positive);
  expect_equal(unary("absf"), std::fabs);
  expect_equal(unary("rsqrt", positive), [](float x) { return 1 / std::sqrt(x); }, positive);
}

TEST(EmitMath, copysign_and_integer_ops) {
  std::vector<float> a = {1, -1, 0, -0.0f}, b = {-2, 2, -0.0f, 5};
  EXPECT_EQ(evaluate<float>("$r = math.copysign $0, $1 : $R", {"f32", "f32"}, "f32", a, b),
            (std::vector<float>{-1, 1, -0.0f, 0}));
  std::vector<int32_t> n = {0, 1, -1, 96};
  EXPECT_EQ(evaluate<int32_t>("$r = math.absi $0 : $R", {"i32"}, "i32", n), (std::vector<int32_t>{0, 1, 1, 96}));
  EXPECT_EQ(evaluate<int32_t>("$r = math.ctpop $0 : $R", {"i32"}, "i32", n), (std::vector<int32_t>{0, 1, 32, 2}));
  EXPECT_EQ(evaluate<int32_t>("$r = math.ctlz $0 : $R", {"i32"}, "i32", n), (std::vector<int32_t>{32, 31, 0, 25}));
  EXPECT_EQ(evaluate<int32_t>("$r = math.cttz $0 : $R", {"i32"}, "i32", n), (std::vector<int32_t>{32, 0, 0, 5}));
}

// y 2^n on `lanes` lanes.
template <class T> std::vector<T> scaled(const std::string& type, int lanes, std::vector<T> y, std::vector<T> n) {
  std::vector<T> results(y.size());
  LoopsKernel kernel(pointwise_kernel("%p = math.exp2 $1 {tile.integral} : $R\n$r = arith.mulf $0, %p : $R",
                                      {type, type}, type, lanes, y.size()));
  kernel.run({y.data(), n.data(), results.data()});
  return results;
}

TEST(EmitMath, products_with_integral_powers_of_two_are_rounded_once) {
  if (!host_target().has_scaling) {
    EXPECT_THROW(scaled<float>("f32", 4, {1, 1, 1, 1}, {0, 0, 0, 0}), tilewright::Error);
    return;
  }
  for (int lanes : {1, 2, 3, 4, 8, 12, 16, 24, 32}) {
    std::vector<float> y, n;
    std::vector<double> wide_y, wide_n;
    for (int i = 0; i < 96; ++i) {
      y.push_back(1 + i * 0.0078f), n.push_back(-150 + 3 * i);
      wide_y.push_back(1 + i * 0.0078), wide_n.push_back(-1076 + 22 * i);
    }
    std::vector<float> narrow = scaled("f32", lanes, y, n);
    std::vector<double> wide = scaled("f64", lanes, wide_y, wide_n);
    for (int i = 0; i < 96; ++i) {
      EXPECT_EQ(narrow[i], std::ldexp(y[i], static_cast<int>(n[i]))) << lanes << " " << i;
      EXPECT_EQ(wide[i], std::ldexp(wide_y[i], static_cast<int>(wide_n[i]))) << lanes << " " << i;
    }
  }
}

TEST(EmitMath, functions_of_the_runtime_table_are_called_lane_by_lane) {
  std::vector<float> values = {0, 0.25f, -0.5f, 0.75f};
  expect_equal(unary("sinh", values), std::sinh, values);
  expect_equal(unary("asin", values), std::asin, values);
  expect_equal(unary("cbrt", values), std::cbrt, values);
  std::vector<double> x = {2, 3, 10, 0.5}, y = {0.5, 3, -2, 7};
  auto powers = evaluate<double>("$r = math.powf $0, $1 : $R", {"f64", "f64"}, "f64", x, y);
  auto angles = evaluate<double>("$r = math.atan2 $0, $1 : $R", {"f64", "f64"}, "f64", x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(powers[i], std::pow(x[i], y[i]));
    EXPECT_EQ(angles[i], std::atan2(x[i], y[i]));
  }
}

} // namespace
