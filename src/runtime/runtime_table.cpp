#include "runtime/kernel_abi.h"

#include <cmath>
#include <limits>

namespace tilewright {

std::string_view name(RuntimeFunction function) {
  static constexpr std::string_view names[kUnaryRuntimeFunctions + kBinaryRuntimeFunctions] = {
      "sin",   "cos",   "tan",   "asin", "acos",   "atan",   "sinh", "cosh",  "tanh",
      "asinh", "acosh", "atanh", "exp",  "exp2",   "expm1",  "log",  "log2",  "log10",
      "log1p", "erf",   "erfc",  "cbrt", "erfinv", "lgamma", "pow",  "atan2", "fmod"};
  return names[static_cast<int>(function)];
}

namespace {

using Real = long double;

// What the C library computes to within an ulp in double is exact for float, but for the last rounding.
template <double (*function)(double)> float in_double(float x) { return static_cast<float>(function(x)); }
// The same for the functions that it computes less well in double.
template <Real (*function)(Real)> double in_long_double(double x) { return static_cast<double>(function(x)); }

// Halley's method on erf(y) = x, or near 1 on its complement, whose digits erf does not have.
Real inverse_error_function(Real x) {
  Real magnitude = std::fabs(x);
  if (!(magnitude < 1)) return magnitude == 1 ? std::copysign(HUGE_VALL, x) : std::numeric_limits<Real>::quiet_NaN();
  constexpr Real half_sqrt_pi = 0.886226925452758013649083741670572591L;
  if (magnitude < 0x1p-40L) return x * half_sqrt_pi; // the next term is of relative size x^2
  // Within 0.2% (Winitzki, "A handy approximation for the error function and its inverse", 2008).
  constexpr Real a = 0.147L, two_over_pi_a = 4.33074972L;
  Real log = std::log1p(-magnitude * magnitude);
  Real middle = two_over_pi_a + log / 2;
  Real y = std::sqrt(std::sqrt(middle * middle - log / a) - middle);
  for (int step = 0; step < 3; ++step) { // each has three times the digits of the one before
    Real error = magnitude < 0.5L ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
    Real newton = error * half_sqrt_pi * std::exp(y * y);
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

// std::lgamma writes the sign to a variable that all threads share.
Real log_gamma(Real x) {
  int sign;
  return lgammal_r(x, &sign);
}
double log_gamma_of_float(double x) {
  int sign;
  return lgamma_r(x, &sign);
}
double inverse_error_function_of_float(double x) { return static_cast<double>(inverse_error_function(x)); }

float arc_tangent(float y, float x) {
  return static_cast<float>(std::atan2(static_cast<double>(y), static_cast<double>(x)));
}

} // namespace

const RuntimeTable& runtime_table() {
  static constexpr RuntimeTable table = {
      {std::sin,
       std::cos,
       in_double<std::tan>,
       in_double<std::asin>,
       in_double<std::acos>,
       in_double<std::atan>,
       in_double<std::sinh>,
       in_double<std::cosh>,
       in_double<std::tanh>,
       in_double<std::asinh>,
       in_double<std::acosh>,
       in_double<std::atanh>,
       std::exp,
       std::exp2,
       in_double<std::expm1>,
       std::log,
       std::log2,
       in_double<std::log10>,
       in_double<std::log1p>,
       in_double<std::erf>,
       in_double<std::erfc>,
       in_double<std::cbrt>,
       in_double<inverse_error_function_of_float>,
       in_double<log_gamma_of_float>},
      {std::sin,
       std::cos,
       std::tan,
       std::asin,
       std::acos,
       std::atan,
       in_long_double<std::sinh>,
       in_long_double<std::cosh>,
       in_long_double<std::tanh>,
       in_long_double<std::asinh>,
       in_long_double<std::acosh>,
       in_long_double<std::atanh>,
       std::exp,
       std::exp2,
       in_long_double<std::expm1>,
       std::log,
       std::log2,
       in_long_double<std::log10>,
       in_long_double<std::log1p>,
       in_long_double<std::erf>,
       in_long_double<std::erfc>,
       in_long_double<std::cbrt>,
       in_long_double<inverse_error_function>,
       in_long_double<log_gamma>},
      {std::pow, arc_tangent, std::fmod},
      {std::pow, std::atan2, std::fmod},
      print_from_device,
      {sort_lanes<float>, sort_lanes<double>, sort_lanes<int32_t>, sort_lanes<int64_t>},
  };
  return table;
}

} // namespace tilewright
