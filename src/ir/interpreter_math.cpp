// The ops of math, and tile.composite, on one lane. Functions that have no exact result are computed in long double,
// whose error is far below what the rounding that follows makes of it.
#include "ir/interpreter_pointwise.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace tilewright {

// Exact, or correctly rounded in double; see interpreter_arith.cpp.
static LaneFunction exact(double (*function)(double)) {
  return [=](ArrayRef<Lane> x, Type, Type to) { return real_lane(function(x[0].real), to); };
}

static LaneFunction real(long double (*function)(long double)) {
  return [=](ArrayRef<Lane> x, Type, Type to) { return real_lane(function(x[0].real), to); };
}

static LaneFunction real(long double (*function)(long double, long double)) {
  return [=](ArrayRef<Lane> x, Type, Type to) { return real_lane(function(x[0].real, x[1].real), to); };
}

static LaneFunction bits(int64_t (*function)(uint64_t bits, unsigned width)) {
  return [=](ArrayRef<Lane> x, Type from, Type to) {
    return integer_lane(function(as_unsigned(x[0], from), integer_width(from)), to);
  };
}

// One rounding for the product and the sum together: no wider type holds the exact result.
static Lane fused_multiply_add(ArrayRef<Lane> x, Type, Type to) {
  auto number = [&](const Lane& lane) {
    llvm::APFloat value(lane.real);
    bool inexact = false;
    value.convert(cast<FloatType>(to).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return value;
  };
  llvm::APFloat result = number(x[0]);
  result.fusedMultiplyAdd(number(x[1]), number(x[2]), llvm::APFloat::rmNearestTiesToEven);
  return {.real = result.convertToDouble()};
}

// A negative power of an integer is 1 / power, cut off towards zero: 0 unless the base is 1 or -1.
static Lane integer_power(ArrayRef<Lane> x, Type from, Type to) {
  int64_t base = as_signed(x[0], from), exponent = as_signed(x[1], from);
  if (exponent < 0) {
    if (base == 0) return Lane::undefined();
    if (base != 1 && base != -1) return integer_lane(0, to);
    return integer_lane(exponent % 2 == 0 ? 1 : base, to);
  }
  uint64_t power = 1;
  // Squares of the base, for the exponent's bits from the lowest up.
  for (uint64_t square = base; exponent != 0; exponent >>= 1, square *= square)
    if (exponent & 1) power *= square;
  return integer_lane(static_cast<int64_t>(power), to);
}

const LaneFunctions& math_functions() {
  using Real = long double;
  static const LaneFunctions functions{
      {"math.absf", exact([](double a) { return std::fabs(a); })},
      {"math.ceil", exact([](double a) { return std::ceil(a); })},
      {"math.floor", exact([](double a) { return std::floor(a); })},
      {"math.trunc", exact([](double a) { return std::trunc(a); })},
      {"math.round", exact([](double a) { return std::round(a); })}, // halves away from zero
      {"math.roundeven", exact([](double a) { return std::nearbyint(a); })},
      {"math.sqrt", exact([](double a) { return std::sqrt(a); })},
      {"math.fma", fused_multiply_add},

      {"math.acos", real([](Real a) { return std::acos(a); })},
      {"math.acosh", real([](Real a) { return std::acosh(a); })},
      {"math.asin", real([](Real a) { return std::asin(a); })},
      {"math.asinh", real([](Real a) { return std::asinh(a); })},
      {"math.atan", real([](Real a) { return std::atan(a); })},
      {"math.atan2", real([](Real a, Real b) { return std::atan2(a, b); })},
      {"math.atanh", real([](Real a) { return std::atanh(a); })},
      {"math.cbrt", real([](Real a) { return std::cbrt(a); })},
      {"math.copysign", real([](Real a, Real b) { return std::copysign(a, b); })},
      {"math.cos", real([](Real a) { return std::cos(a); })},
      {"math.cosh", real([](Real a) { return std::cosh(a); })},
      {"math.erf", real([](Real a) { return std::erf(a); })},
      {"math.exp", real([](Real a) { return std::exp(a); })},
      {"math.exp2", real([](Real a) { return std::exp2(a); })},
      {"math.expm1", real([](Real a) { return std::expm1(a); })},
      {"math.log", real([](Real a) { return std::log(a); })},
      {"math.log10", real([](Real a) { return std::log10(a); })},
      {"math.log1p", real([](Real a) { return std::log1p(a); })},
      {"math.log2", real([](Real a) { return std::log2(a); })},
      {"math.powf", real([](Real a, Real b) { return std::pow(a, b); })},
      {"math.rsqrt", real([](Real a) { return 1 / std::sqrt(a); })},
      {"math.sin", real([](Real a) { return std::sin(a); })},
      {"math.sinh", real([](Real a) { return std::sinh(a); })},
      {"math.tan", real([](Real a) { return std::tan(a); })},
      {"math.tanh", real([](Real a) { return std::tanh(a); })},

      {"math.fpowi",
       [](ArrayRef<Lane> x, Type, Type to) {
         return real_lane(std::pow(static_cast<Real>(x[0].real), static_cast<Real>(x[1].integer)), to);
       }},
      {"math.ipowi", integer_power},
      {"math.absi",
       [](ArrayRef<Lane> x, Type from, Type to) {
         int64_t value = as_signed(x[0], from);
         return integer_lane(value < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(value)) : value, to);
       }},
      {"math.ctlz",
       bits([](uint64_t bits, unsigned width) -> int64_t { return llvm::countl_zero(bits) - (64 - width); })},
      {"math.cttz",
       bits([](uint64_t bits, unsigned width) -> int64_t { return bits ? llvm::countr_zero(bits) : width; })},
      {"math.ctpop", bits([](uint64_t bits, unsigned) -> int64_t { return llvm::popcount(bits); })},
  };
  return functions;
}

// By bisection: erf grows, and its inverse is below 7 in long double, unless it is infinite. Near 1 the complement has
// the digits.
static long double inverse_error_function(long double x) {
  using Real = long double;
  Real magnitude = std::fabs(x);
  if (!(magnitude < 1)) return magnitude == 1 ? std::copysign(HUGE_VALL, x) : std::numeric_limits<Real>::quiet_NaN();
  // A tiny x is beyond where bisection has relative digits: erf(y) = 2 y / sqrt(pi) there.
  if (magnitude < 0x1p-40L) return x / (2 * std::numbers::inv_sqrtpi_v<Real>);
  auto is_below = [&](Real y) { return magnitude < 0.5L ? std::erf(y) < magnitude : std::erfc(y) > 1 - magnitude; };
  Real low = 0, high = 7;
  for (Real middle = high / 2; low < middle && middle < high; middle = (low + high) / 2)
    (is_below(middle) ? low : high) = middle;
  return std::copysign(high, x);
}

// By their definitions in tile_ops.td, written so that nothing cancels: 1 + erf(z) = erfc(-z), and 1 + tanh(u) =
// 2 / (1 + exp(-2 u)).
LaneFunction composite_function(Composite function) {
  using Real = long double;
  constexpr Real pi = std::numbers::pi_v<Real>;
  switch (function) {
  case Composite::Sigmoid: return real([](Real x) -> Real { return 1 / (1 + std::exp(-x)); });
  case Composite::Silu: return real([](Real x) -> Real { return x / (1 + std::exp(-x)); });
  case Composite::Gelu: return real([](Real x) -> Real { return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<Real>); });
  case Composite::GeluTanh:
    return real([](Real x) -> Real {
      Real u = std::sqrt(2 / pi) * (x + Real(0.044715L) * x * x * x);
      return x / (1 + std::exp(-2 * u));
    });
  case Composite::Erfc: return real([](Real x) -> Real { return std::erfc(x); });
  case Composite::Erfinv: return real(inverse_error_function);
  case Composite::Lgamma:
    return real([](Real x) -> Real {
      int sign; // std::lgamma would write it to a variable that all threads share
      return lgammal_r(x, &sign);
    });
  case Composite::Softplus:
    return real([](Real x) -> Real { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); });
  }
  llvm_unreachable("unknown composite");
}

} // namespace tilewright
