// Expanded elementary functions against the C library in the next wider precision.
#include "cpu/loops_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace tilewright::cpu;

namespace {

using Reference = long double (*)(long double);

struct Function {
  const char* name; // of math.NAME, or of tile.composite NAME
  Reference reference;
  double float32_ulps; // bounds on the error, from expand_math.h, in units in the last place
  double float64_ulps;
};

const Function kFunctions[] = {
    {"exp", std::exp, 0.9, 0.9},
    {"exp2", std::exp2, 0.9, 0.9},
    {"expm1", std::expm1, 0.9, 0.9},
    {"log", std::log, 0.9, 0.9},
    {"log2", std::log2, 1.0, 0.9},
    {"log10", std::log10, 0.95, 0.9},
    {"log1p", std::log1p, 0.9, 0.7},
    {"tanh", std::tanh, 1.0, 1.0},
    {"erf", std::erf, 1.1, 1.1},
    {"sin", std::sin, 0.9, 0.9},
    {"cos", std::cos, 0.9, 0.9},
    {"sigmoid", [](long double x) { return 1 / (1 + std::exp(-x)); }, 2.5, 2.5},
    {"silu", [](long double x) { return x / (1 + std::exp(-x)); }, 3, 3},
    {"gelu", [](long double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); }, 8, 10},
    // Far down its argument of exp, which is large, is rounded.
    {"gelu_tanh",
     [](long double x) {
       return x / (1 + std::exp(-2 * std::sqrt(2 / 3.14159265358979323846264L) * (x + 0.044715L * x * x * x)));
     },
     300, 3000},
    {"softplus", [](long double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, 1.6,
     1.6},
};

std::string op_of(const std::string& function) {
  for (const char* composite : {"sigmoid", "silu", "gelu", "gelu_tanh", "softplus"})
    if (function == composite) return "tile.composite " + function;
  return "math." + function;
}

template <class T> constexpr const char* kTypeName = sizeof(T) == 4 ? "f32" : "f64";

template <class T>
std::vector<T> run_expanded(const std::string& function, std::vector<T> values, int lanes, const CpuTarget& target) {
  size_t count = values.size();
  std::string type = kTypeName<T>;
  values = filled_up(values);
  std::vector<T> results(values.size());
  LoopsKernel kernel(pointwise_kernel("$r = " + op_of(function) + " $0 : $R", {type}, type, lanes, values.size()),
                     target,
                     /*expand=*/true);
  kernel.run({values.data(), results.data()});
  results.resize(count);
  return results;
}

template <class T> const std::vector<T>& arguments() {
  static const std::vector<T> values = [] {
    std::vector<T> chosen;
    std::mt19937_64 random(1);
    // Every exponent and sign; then those where the functions change.
    for (int i = 0; i < 100'000; ++i) {
      uint64_t bits = random();
      T value;
      std::memcpy(&value, &bits, sizeof value);
      chosen.push_back(value);
    }
    for (double scale : {0.01, 1.0, 10.0, 100.0, 1000.0, 1e5})
      for (int i = 0; i < 30'000; ++i)
        chosen.push_back(static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-52 - 1) * scale));
    return chosen;
  }();
  return values;
}

// |result - exact| in units in the last place of the rounded result.
template <class T> long double error_in_ulps(T result, long double exact) {
  int exponent;
  std::frexp(exact, &exponent);
  int last = std::max(exponent - std::numeric_limits<T>::digits,
                      std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  return std::fabs((static_cast<long double>(result) - exact) / std::ldexp(1.0L, last));
}

template <class T> void expect_accurate(const Function& function, double bound) {
  const std::vector<T>& values = arguments<T>();
  std::vector<T> results = run_expanded(function.name, values, 16, host_target());
  for (size_t i = 0; i < values.size(); ++i) {
    long double exact = function.reference(static_cast<long double>(values[i]));
    T expected = static_cast<T>(exact);
    // A factor of the result is subnormal: what it has lost in rounding is multiplied by the other.
    bool product = std::string(function.name) != "sigmoid" && op_of(function.name).starts_with("tile");
    if (product && std::fabs(exact) < std::fabs(values[i]) * std::numeric_limits<T>::min()) {
      long double allowed = 2 * std::fabs(values[i]) * std::numeric_limits<T>::denorm_min() +
                            bound * std::numeric_limits<T>::epsilon() * std::fabs(exact);
      ASSERT_LE(std::fabs(results[i] - exact), allowed) << function.name << "(" << values[i] << ")";
      continue;
    }
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(results[i])) << function.name << "(" << values[i] << ") = " << results[i];
    } else if (std::isinf(expected) || std::isinf(results[i])) {
      // At the edge of overflow the neighbour is as good.
      ASSERT_GE(std::fabs(results[i]), std::numeric_limits<T>::max()) << function.name << "(" << values[i] << ")";
      ASSERT_GE(std::fabs(expected), std::numeric_limits<T>::max()) << function.name << "(" << values[i] << ")";
    } else {
      ASSERT_LE(error_in_ulps(results[i], exact), bound)
          << function.name << "(" << values[i] << ") = " << results[i] << ", exactly " << exact;
    }
  }
}

class ExpandMath : public testing::TestWithParam<Function> {};

TEST_P(ExpandMath, float32_is_within_its_bound) { expect_accurate<float>(GetParam(), GetParam().float32_ulps); }
TEST_P(ExpandMath, float64_is_within_its_bound) { expect_accurate<double>(GetParam(), GetParam().float64_ulps); }

template <class T> void expect_special_values(const Function& function) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           -T(0),
                           1,
                           -1,
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::max(),
                           Limits::lowest(),
                           Limits::min(),
                           -Limits::min(),
                           Limits::denorm_min(),
                           -Limits::denorm_min(),
                           Limits::epsilon(),
                           -Limits::epsilon(),
                           T(-1) + Limits::epsilon() / 2};
  std::vector<T> results = run_expanded(function.name, values, 4, host_target());
  for (size_t i = 0; i < values.size(); ++i) {
    long double exact = function.reference(static_cast<long double>(values[i]));
    T expected = static_cast<T>(exact);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(results[i])) << function.name << "(" << values[i] << ") = " << results[i];
      continue;
    }
    EXPECT_EQ(std::signbit(results[i]), std::signbit(expected)) << function.name << "(" << values[i] << ")";
    if (std::isinf(expected) || expected == 0)
      EXPECT_EQ(results[i], expected) << function.name << "(" << values[i] << ")";
    else
      EXPECT_LE(error_in_ulps(results[i], exact), std::max(2.0, function.float32_ulps))
          << function.name << "(" << values[i] << ")";
  }
}

TEST_P(ExpandMath, special_values_are_those_of_the_c_library) {
  expect_special_values<float>(GetParam());
  expect_special_values<double>(GetParam());
}

TEST_P(ExpandMath, scalars_vectors_and_targets_agree) {
  std::vector<float> values;
  for (const float value : arguments<float>())
    if (!std::isnan(GetParam().reference(value)) && values.size() < 4096) values.push_back(value);
  std::vector<float> first = run_expanded<float>(GetParam().name, values, 1, host_target());
  for (const CpuTarget& target : runnable_targets())
    for (int lanes : {1, 8, 32})
      EXPECT_EQ(run_expanded<float>(GetParam().name, values, lanes, target), first) << lanes << " " << target.cpu;
}

INSTANTIATE_TEST_SUITE_P(, ExpandMath, testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ExpandMathRange, sines_of_huge_arguments_in_one_lane_leave_the_others_alone) {
  std::vector<float> values = {1, 1e30f, -2, 3e38f, 0.5f, 1e6f, 7, 9};
  std::vector<float> results = run_expanded<float>("sin", values, 8, host_target());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_LE(error_in_ulps(results[i], std::sin(static_cast<long double>(values[i]))), 1) << values[i];
}

TEST(ExpandMathRange, subnormal_results_of_exp_are_rounded_once) {
  std::vector<float> values;
  for (int i = 0; i < 4096; ++i) values.push_back(-87 - 17.5f * i / 4096);
  std::vector<float> results = run_expanded<float>("exp", values, 16, host_target());
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_LE(error_in_ulps(results[i], std::exp(static_cast<long double>(values[i]))), 1) << values[i];
}

} // namespace
