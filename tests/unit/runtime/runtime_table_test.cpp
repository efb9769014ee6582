#include "runtime/kernel_abi.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

template <class Pointer> Pointer entry(RuntimeFunction function, DType dtype) {
  Pointer pointer;
  std::memcpy(&pointer, reinterpret_cast<const char*>(&runtime_table()) + runtime_table_offset(function, dtype),
              sizeof pointer);
  return pointer;
}

template <class T> T unary(RuntimeFunction function, T value) { return entry<T (*)(T)>(function, dtype_of<T>)(value); }

template <class T> T binary(RuntimeFunction function, T a, T b) {
  return entry<T (*)(T, T)>(function, dtype_of<T>)(a, b);
}

// Each function at a point where no two of them agree.
TEST(RuntimeTable, every_entry_is_the_function_of_its_name) {
  const std::pair<RuntimeFunction, double (*)(double)> functions[] = {
      {RuntimeFunction::sin, std::sin},
      {RuntimeFunction::cos, std::cos},
      {RuntimeFunction::tan, std::tan},
      {RuntimeFunction::asin, std::asin},
      {RuntimeFunction::acos, std::acos},
      {RuntimeFunction::atan, std::atan},
      {RuntimeFunction::sinh, std::sinh},
      {RuntimeFunction::cosh, std::cosh},
      {RuntimeFunction::tanh, std::tanh},
      {RuntimeFunction::asinh, std::asinh},
      {RuntimeFunction::acosh, std::acosh},
      {RuntimeFunction::atanh, std::atanh},
      {RuntimeFunction::exp, std::exp},
      {RuntimeFunction::exp2, std::exp2},
      {RuntimeFunction::expm1, std::expm1},
      {RuntimeFunction::log, std::log},
      {RuntimeFunction::log2, std::log2},
      {RuntimeFunction::log10, std::log10},
      {RuntimeFunction::log1p, std::log1p},
      {RuntimeFunction::erf, std::erf},
      {RuntimeFunction::erfc, std::erfc},
      {RuntimeFunction::cbrt, std::cbrt},
      {RuntimeFunction::lgamma, std::lgamma},
      {RuntimeFunction::erfinv, [](double x) { return x == 0.7 ? 0.73286907795921685 : 0.7328690598; }}};
  EXPECT_EQ(std::size(functions), size_t(kUnaryRuntimeFunctions));
  for (const auto& [function, expected] : functions) {
    EXPECT_FALSE(is_binary(function));
    double at = function == RuntimeFunction::acosh ? 1.7 : 0.7;
    EXPECT_DOUBLE_EQ(unary(function, at), expected(at)) << name(function);
    EXPECT_NEAR(unary(function, float(at)), expected(float(at)), 1e-6) << name(function);
  }
  const std::pair<RuntimeFunction, double (*)(double, double)> binary_functions[] = {
      {RuntimeFunction::pow, std::pow}, {RuntimeFunction::atan2, std::atan2}, {RuntimeFunction::fmod, std::fmod}};
  EXPECT_EQ(std::size(binary_functions), size_t(kBinaryRuntimeFunctions));
  for (const auto& [function, expected] : binary_functions) {
    EXPECT_TRUE(is_binary(function));
    EXPECT_EQ(binary(function, 2.75, 0.7), expected(2.75, 0.7)) << name(function);
    EXPECT_NEAR(binary(function, 2.75f, 0.7f), expected(2.75f, 0.7f), 1e-6) << name(function);
  }
}

TEST(RuntimeTable, names_are_those_of_cmath) {
  EXPECT_EQ(name(RuntimeFunction::sin), "sin");
  EXPECT_EQ(name(RuntimeFunction::tanh), "tanh");
  EXPECT_EQ(name(RuntimeFunction::log1p), "log1p");
  EXPECT_EQ(name(RuntimeFunction::cbrt), "cbrt");
  EXPECT_EQ(name(RuntimeFunction::pow), "pow");
  EXPECT_EQ(name(RuntimeFunction::fmod), "fmod");
}

} // namespace
} // namespace tilewright
