// The pointwise operations in long double, for the column `reference` of tilewright/operations.inc. They are written so
// that nothing cancels that the function itself keeps.
#pragma once

#include <cmath>
#include <limits>

namespace tilewright::reference {

using Real = long double;

constexpr Real pi() { return 3.141592653589793238462643383279502884L; }

inline Real maximum(Real a, Real b) { return std::isnan(a) || std::isnan(b) ? a + b : a > b ? a : b; }
inline Real minimum(Real a, Real b) { return std::isnan(a) || std::isnan(b) ? a + b : a < b ? a : b; }

inline Real remainder(Real a, Real b) {
  Real left = std::fmod(a, b);
  return left != 0 && (left < 0) != (b < 0) ? left + b : left;
}

// As Python's //, by the exact remainder: a / b itself may round up to a whole number.
inline Real floor_divide(Real a, Real b) {
  if (b == 0 || std::isinf(a)) return std::isinf(a) && b != 0 ? std::numeric_limits<Real>::quiet_NaN() : a / b;
  Real left = std::fmod(a, b), quotient = std::nearbyint((a - left) / b);
  return left != 0 && (left < 0) != (b < 0) ? quotient - 1 : quotient;
}

inline Real nan_to_num(Real x) { return std::isnan(x) ? 0 : x; } // an infinity rounds to what the dtype has

// log(1 + e^z) / beta with z = beta x.
inline Real softplus(Real x, Real beta = 1, Real threshold = std::numeric_limits<Real>::infinity()) {
  Real z = x * beta;
  if (z > threshold) return x;
  return (z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z))) / beta;
}

// log(e^a + e^b) = log1p(e^a + expm1(b)): where the sum is near 1, so that its logarithm is near 0, this keeps digits
// that the larger plus log1p of the rest loses.
inline Real logaddexp(Real a, Real b) {
  if (a == b && std::isinf(a)) return a;
  Real larger = maximum(a, b), smaller = minimum(a, b);
  if (larger <= 0 && larger > -1) return std::log1p(std::exp(smaller) + std::expm1(larger));
  return larger + std::log1p(std::exp(smaller - larger));
}
inline Real logaddexp2(Real a, Real b) {
  constexpr Real ln2 = 0.693147180559945309417232121458176568L;
  if (a == b && std::isinf(a)) return a;
  Real larger = maximum(a, b), smaller = minimum(a, b);
  if (larger <= 0 && larger > -1) return std::log1p(std::exp2(smaller) + std::expm1(larger * ln2)) / ln2;
  return larger + std::log1p(std::exp2(smaller - larger)) / ln2;
}

inline Real xlogy(Real x, Real y) { return std::isnan(y) ? y : x == 0 ? 0 : x * std::log(y); }

// log(x / (1 - x)), which is 0 at one half.
inline Real logit(Real x, Real eps) {
  if (eps >= 0) x = minimum(maximum(x, eps), 1 - eps);
  if (x > 0.25L && x < 0.75L) return std::log1p((2 * x - 1) / (1 - x));
  return std::log(x / (1 - x));
}

// Newton's method on erf, or on its complement where that has the digits.
inline Real erfinv(Real x) {
  Real magnitude = std::fabs(x);
  if (!(magnitude < 1)) return magnitude == 1 ? x / 0.0L : std::numeric_limits<Real>::quiet_NaN();
  Real y = magnitude < 0.9L ? magnitude : std::sqrt(-std::log1p(-magnitude)); // from a side where it converges
  for (int step = 0; step < 60; ++step) {
    Real error = magnitude < 0.5L ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
    Real next = y - error * std::sqrt(pi()) / 2 * std::exp(y * y);
    if (next == y) break;
    y = next;
  }
  return std::copysign(y, x);
}

inline Real lgamma(Real x) {
  int sign;
  return lgammal_r(x, &sign);
}

inline Real gelu_tanh(Real x) {
  if (std::isinf(x)) return x > 0 ? x : std::numeric_limits<Real>::quiet_NaN(); // -inf times 0
  Real u = std::sqrt(2 / pi()) * (x + 0.044715L * x * x * x);
  return x / (1 + std::exp(-2 * u)); // (1 + tanh(u)) / 2 = 1 / (1 + e^-2u)
}

inline Real selu(Real x) {
  constexpr Real alpha = 1.6732632423543772848170429916717L, scale = 1.0507009873554804934193349852946L;
  return scale * (x > 0 ? x : alpha * std::expm1(x));
}

inline Real softsign(Real x) { return x / (1 + std::fabs(x)); }

inline Real tanhshrink(Real x) {
  // x^3 / 3 - 2 x^5 / 15 + 17 x^7 / 315 where the difference would cancel.
  if (std::fabs(x) < 0x1p-6L)
    return x * x * x * (1 / 3.0L - x * x * (2 / 15.0L - x * x * (17 / 315.0L - x * x * 62 / 2835.0L)));
  return x - std::tanh(x);
}

} // namespace tilewright::reference
