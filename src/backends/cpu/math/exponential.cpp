// exp, exp2, expm1: 2^n times a polynomial of the remainder (Cody and Waite, "Software Manual for the Elementary
// Functions", ch. 6).
#include "backends/cpu/math/functions.h"

namespace tilewright::cpu {
namespace {

// x = n ln 2 + r, |r| at most ln 2 / 2.
struct Reduced {
  Int shifted; // its low bits hold n plus a bias
  Float n;
  Float r;
  Float exact; // r before ln 2's second part is taken off
};

// ln 2 in two parts, the first so short that its product with n is exact.
double first_of_ln2(const Formula& formula) { return formula.choose(6.93145752e-01, 6.9314718056011770e-01); }
double second_of_ln2(const Formula& formula) { return formula.choose(1.42860677e-06, -1.7239444525614835e-13); }

// Adding 1.5 times 2 to the number of mantissa bits rounds to an integer, which then stands in the low bits. `bias` is
// added on the way.
double rounding_constant(const Formula& formula, int bias) { return formula.choose(0x1.8p23, 0x1.8p52) + bias; }

int exponent_bias(const Formula& formula) { return formula.is_float64 ? 1023 : 127; }
int mantissa_bits(const Formula& formula) { return formula.is_float64 ? 52 : 23; }

Reduced reduce(Float x, int bias) {
  const Formula& formula = *x.formula;
  double rounding = rounding_constant(formula, bias);
  Float shifted = fma(x, formula.choose(1.44269502e+00, 1.4426950408889634e+00), rounding);
  Float n = shifted - rounding;
  Float exact = fma(n, -first_of_ln2(formula), x);
  Float r = fma(n, -second_of_ln2(formula), exact);
  return {bits(shifted), n, r, exact};
}

// y 2^n, where reduced.shifted holds n plus twice the exponent bias. Without an instruction for it: in two factors,
// each a normal number whatever n, so that results become subnormal, zero or infinite as they should, rounded once.
Float scale(Float y, Reduced reduced) {
  if (y.formula->has_scaling) return scale_by_power(y, reduced.n);
  int shift = mantissa_bits(*y.formula);
  Int half = shift_right(reduced.shifted, 1);
  Int rest = reduced.shifted - half;
  Float first = from_bits(half << shift);
  Float second = from_bits(rest << shift);
  return y * first * second;
}

// e^r for a reduced r.
Float exp_of_remainder(Float r) {
  if (r.formula->is_float64)
    return polynomial(r,
                      {1.0, 1.0, 5.0000000000000122e-01, 1.6666666666666446e-01, 4.1666666666517756e-02,
                       8.3333333334797647e-03, 1.3888888946974075e-03, 1.9841269533011342e-04, 2.4801489452820472e-05,
                       2.7557563155647219e-06, 2.7631621812484336e-07, 2.5008062972544415e-08});
  return polynomial(r, {1.0, 1.0, 4.99999940e-01, 1.66665167e-01, 4.16682735e-02, 8.36925115e-03, 1.38216896e-03});
}

} // namespace

Float expand_exp(Float x) {
  const Formula& formula = *x.formula;
  // Beyond these every result is infinity, or zero.
  x = at_least(at_most(x, formula.choose(89, 710)), formula.choose(-104, -746));
  Reduced reduced = reduce(x, 2 * exponent_bias(formula));
  return scale(exp_of_remainder(reduced.r), reduced);
}

Float expand_exp_within_range(Float x) {
  const Formula& formula = *x.formula;
  Reduced reduced = reduce(x, exponent_bias(formula));
  Float power = exp_of_remainder(reduced.r);
  if (formula.has_scaling) return scale_by_power(power, reduced.n);
  return power * from_bits(reduced.shifted << mantissa_bits(formula));
}

Float expand_exp2(Float x) {
  const Formula& formula = *x.formula;
  x = at_least(at_most(x, formula.choose(129, 1025)), formula.choose(-151, -1076));
  double rounding = rounding_constant(formula, 2 * exponent_bias(formula));
  Float shifted = x + rounding;
  Float n = shifted - rounding;
  Float r = x - n;
  Float power = formula.is_float64
                    ? polynomial(r, {1.0, 6.9314718055994529e-01, 2.4022650695910114e-01, 5.5504108664821625e-02,
                                     9.6181291075988461e-03, 1.3333558146569231e-03, 1.5403530453010685e-04,
                                     1.5252733617659679e-05, 1.3215436658236092e-06, 1.0178163797793298e-07,
                                     7.0736351765642582e-09, 4.4387829134500194e-10})
                    : polynomial(r, {1.0, 6.93147182e-01, 2.40226477e-01, 5.55035807e-02, 9.61850118e-03,
                                     1.33918971e-03, 1.53303859e-04});
  return scale(power, {bits(shifted), n, r, r});
}

// e^x - 1 = 2^n (e^r - 1) + (2^n - 1), everything halved on the way, so that 2^n does not overflow before the result
// does. What r and the sum of the two large terms lose in rounding is added again with e^r - 1 - r, which is small.
Float expand_expm1(Float x) {
  const Formula& formula = *x.formula;
  Float clamped = at_least(at_most(x, formula.choose(89, 710)), formula.choose(-20, -40));
  Reduced reduced = reduce(clamped, exponent_bias(formula) - 1);
  Float r = reduced.r;
  Float r_low = fma(reduced.n, -second_of_ln2(formula), reduced.exact - r);
  Float q = formula.is_float64 ? polynomial(r, {5.0000000000000000e-01, 1.6666666666666677e-01, 4.1666666666666588e-02,
                                                8.3333333333212353e-03, 1.3888888888937722e-03, 1.9841269887533263e-04,
                                                2.4801587208320948e-05, 2.7557242436831449e-06, 2.7557377257304870e-07,
                                                2.5109763960912161e-08, 2.0882473925212451e-09})
                               : polynomial(r, {5.00000000e-01, 1.66666657e-01, 4.16664854e-02, 8.33354238e-03,
                                                1.39332190e-03, 1.97662666e-04});
  Float tail = fma(r * r, q, fma(r_low, r, r_low)); // e^r times r_low, to first order
  Float half_power = from_bits(reduced.shifted << mantissa_bits(formula));
  Float constant = half_power - 0.5;
  Float sum = fma(r, half_power, constant);
  Float lost = fma(r, half_power, constant - sum) + ((half_power - constant) - 0.5);
  Float half_result = sum + fma(tail, half_power, lost);
  // Where x^2 / 2 is below half a unit in the last place: keeps the sign of zero and subnormal arguments exact.
  return select(abs(x) < formula.choose(0x1p-25, 0x1p-54), x, half_result + half_result);
}

} // namespace tilewright::cpu
