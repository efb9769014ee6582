// log, log2, log10, log1p: x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), log_b x = k log_b 2 + log_b(1 + f).
#include "backends/cpu/math/functions.h"

#include <limits>

namespace tilewright::cpu {
namespace {

// A base. Constants are sums of two numbers, for float32 and for float64; `tail` is q in
// log_b(1 + f) = f / ln b + f^2 q(f), for float32.
struct Base {
  double inverse_ln[2][2]; // 1 / ln b
  double log_of_2[2][2];   // log_b 2
  double tail[9];
};

constexpr Base kNatural = {{{1, 0}, {1, 0}},
                           {{6.93147182e-01, -1.90465421e-09}, {6.9314718055994529e-01, 2.3190468138462996e-17}},
                           {-4.99999881e-01, 3.33333254e-01, -2.50016093e-01, 2.00020060e-01, -1.66084200e-01,
                            1.41808480e-01, -1.32479474e-01, 1.29127353e-01, -7.61899650e-02}};
constexpr Base kTwo = {{{1.44269502e+00, 1.92596303e-08}, {1.4426950408889634e+00, 2.0355273740931033e-17}},
                       {{1, 0}, {1, 0}},
                       {-7.21347332e-01, 4.80898201e-01, -3.60698670e-01, 2.88571417e-01, -2.39567354e-01,
                        2.04486594e-01, -1.91390872e-01, 1.87088028e-01, -1.10255413e-01}};
constexpr Base kTen = {{{4.34294492e-01, -1.01030500e-08}, {4.3429448190325182e-01, 1.0983196502167651e-17}},
                       {{3.01030010e-01, -1.43209888e-08}, {3.0102999566398120e-01, -2.8037281277851704e-18}},
                       {-2.17147186e-01, 1.44764781e-01, -1.08580895e-01, 8.68686885e-02, -7.21228570e-02,
                        6.15592301e-02, -5.75647354e-02, 5.62820211e-02, -3.32722887e-02}};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

int64_t infinity_bits(const Formula& formula) { return formula.choose_int(0x7f800000, 0x7ff0000000000000); }
int mantissa_bits(const Formula& formula) { return formula.is_float64 ? 52 : 23; }

// A positive normal number as 2^k m, m in [sqrt(1/2), sqrt(2)): the bits relative to those of sqrt(1/2) have k on top.
struct Normalised {
  Int k;
  Float m;
};
Normalised normalise(Float x) {
  const Formula& formula = *x.formula;
  int shift = mantissa_bits(formula);
  Int k = shift_right_signed(bits(x) - formula.choose_int(0x3f3504f3, 0x3fe6a09e667f3bcd), shift);
  return {k, from_bits(bits(x) - (k << shift))};
}

// log_b(1 + f) = high / ln b + low.
//
// float32: f / ln b + f^2 q(f), the first constant in two parts. float64: with s = f / (2 + f), log(1 + f) = 2 atanh(s)
// = f - (f^2 / 2 - s (f^2 / 2 + s^2 q(s^2))) (as in Tang 1990, section 2), f - f^2 / 2 kept in two parts.
struct LogOfMantissa {
  Float high, low;
};
LogOfMantissa log_of_mantissa(Float f, const Base& base) {
  Formula& formula = *f.formula;
  const double* inverse_ln = base.inverse_ln[formula.is_float64];
  Float high = f;
  Float low = f;
  if (formula.is_float64) {
    Float s = f / (f + 2.0);
    Float z = s * s;
    Float tail = z * polynomial(z, {6.6666666666667396e-01, 3.9999999999376568e-01, 2.8571428751644407e-01,
                                    2.2222197549766659e-01, 1.8183621061459726e-01, 1.5312514008992750e-01,
                                    1.4812125387635439e-01});
    Float half_square = f * f * 0.5;
    Float lost_in_square = fma(f * 0.5, f, -half_square);
    high = f - half_square;
    Float lost_in_high = (f - high) - half_square;
    low = fma(s, half_square + tail, lost_in_high - lost_in_square);
    low = inverse_ln[0] == 1 ? low : fma(high, inverse_ln[1], low * inverse_ln[0]);
  } else {
    Float q = polynomial(f, base.tail);
    low = f * fma(f, q, inverse_ln[1]);
  }
  return {high, low};
}

// log_b(1 + f) + k log_b 2.
Float log_of_parts(Float f, Float k, const Base& base) {
  Formula& formula = *f.formula;
  const double* inverse_ln = base.inverse_ln[formula.is_float64];
  const double* log_of_2 = base.log_of_2[formula.is_float64];
  auto [high, low] = log_of_mantissa(f, base);
  if (log_of_2[1] != 0) low = fma(k, log_of_2[1], low);
  Float of_mantissa = inverse_ln[0] == 1 ? high + low : fma(high, inverse_ln[0], low);
  return fma(k, log_of_2[0], of_mantissa);
}

Float log_in(Float x, const Base& base) {
  const Formula& formula = *x.formula;
  // A subnormal number is made normal first.
  Condition subnormal = x < formula.choose(0x1p-126, 0x1p-1022);
  Float normal = select(subnormal, x * formula.choose(0x1p23, 0x1p52), x);
  Normalised parts = normalise(normal);
  Float k = to_float(parts.k);
  k = select(subnormal, k - formula.choose(23, 52), k);
  Float result = log_of_parts(parts.m - 1.0, k, base);

  // Zero, negative numbers, infinity and NaN.
  Condition ordinary = below_unsigned(bits(x) - 1, infinity_bits(formula) - 1);
  Float special = select(x == 0.0, -kInfinity, select(x < 0.0, kNaN, x));
  return select(ordinary, result, special);
}

} // namespace

Float expand_log(Float x) { return log_in(x, kNatural); }
Float expand_log2(Float x) { return log_in(x, kTwo); }
Float expand_log10(Float x) { return log_in(x, kTen); }

Float expand_log1p(Float x) {
  const Formula& formula = *x.formula;
  // u + lost = 1 + x exactly (Knuth's two-sum).
  Float u = x + 1.0;
  Float x_in_u = u - 1.0;
  Float lost = (x - x_in_u) + (1.0 - (u - x_in_u));
  Normalised parts = normalise(u);
  // f + f_low = 2^-k (u + lost) - 1. Where 2^-k would be subnormal, `lost` no longer counts.
  int bias = formula.is_float64 ? 1023 : 127;
  Int zero = parts.k - parts.k;
  Float downscale = from_bits(max((zero - parts.k) + bias, 0) << mantissa_bits(formula));
  Float f = fma(lost, downscale, parts.m - 1.0);
  Float f_low = fma(lost, downscale, (parts.m - 1.0) - f);
  auto [high, low] = log_of_mantissa(f, kNatural);
  low = fma(f_low, 1.0 - f, low); // f_low / (1 + f), to first order
  // ln 2 in two parts, the first so short that its product with k is exact: then so is what the sum with it loses.
  Float k = to_float(parts.k);
  Float large = k * formula.choose(6.93145752e-01, 6.9314718055989033e-01);
  Float sum = large + high;
  low = fma(k, formula.choose(1.42860677e-06, 5.4979230187083712e-14), low);
  Float result = sum + (((large - sum) + high) + low);

  Condition ordinary = below_unsigned(bits(u) - 1, infinity_bits(formula) - 1);
  Float special = select(x == -1.0, -kInfinity, select(x < -1.0, kNaN, x));
  result = select(ordinary, result, special);
  // Keeps the sign of zero and subnormal arguments exact.
  return select(abs(x) < formula.choose(0x1p-25, 0x1p-54), x, result);
}

} // namespace tilewright::cpu
