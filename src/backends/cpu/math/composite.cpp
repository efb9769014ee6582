// Composite functions (tile.composite), by formulas in which nothing cancels or overflows that the function itself
// keeps.
#include "backends/cpu/math/functions.h"

namespace tilewright::cpu {
namespace {

struct Sigmoid {
  Float numerator, denominator;
};
// 1 / (1 + e^-x), and below 0 the same as e^x / (1 + e^x).
Sigmoid sigmoid_of(Float x) {
  Float small = expand_exp(-abs(x));
  return {select(x < 0.0, small, 1.0), small + 1.0};
}

// The share of the normal distribution beyond `distance` from its middle on one side: e^(-d^2 / 2) p(u) / (d + k),
// u = (d - k) / (d + k) (after Shepherd and Laframboise, "Chebyshev approximation of (1 + 2 x) exp(x^2) erfc x", 1981).
Float normal_tail(Float distance) {
  const Formula& formula = *distance.formula;
  Float d = at_most(distance, formula.choose(14.5, 39)); // beyond, it is 0
  double k = formula.choose(4, 6);
  Float inverse = 1.0 / (d + k);
  Float u = (d - k) * inverse;
  Float p =
      formula.is_float64
          ? polynomial(
                u, {7.7735177189336213e-01,  -7.0100902959086564e-01, 5.6896889181480204e-01, -4.1390358577558745e-01,
                    2.6797424584072971e-01,  -1.5268023206454009e-01, 7.5171915687072099e-02, -3.0985315505524521e-02,
                    1.0029820459559486e-02,  -2.1316052519960486e-03, 3.2871063729640811e-05, 1.8136079945261927e-04,
                    -6.4755694951106589e-05, 1.0737375660294063e-06,  6.8045000859383490e-06, -1.7945116806503707e-06,
                    -4.4042491720631464e-07, 3.0198156824251202e-07,  1.5660899019119563e-08, -3.5808970671741143e-08,
                    -6.2418565788875311e-10, 2.1667639909122796e-09})
          : polynomial(u, {7.55285144e-01, -6.07896626e-01, 3.87136251e-01, -1.86522201e-01, 6.04116507e-02,
                           -7.53304176e-03, -3.54541838e-03, 1.58035615e-03, 2.30275589e-04, -1.24302896e-04,
                           -1.37553925e-05});
  // What the square loses in rounding counts where it is large.
  Float square = rounded(d * d);
  Float lost = fma(d, d, -square);
  Float power = expand_exp(square * -0.5) * fma(lost, -0.5, 1.0);
  return power * (p * inverse);
}

} // namespace

Float expand_sigmoid(Float x) {
  auto [numerator, denominator] = sigmoid_of(x);
  return numerator / denominator;
}

Float expand_silu(Float x) {
  auto [numerator, denominator] = sigmoid_of(x);
  return x * numerator / denominator;
}

Float expand_gelu(Float x) {
  Float tail = normal_tail(abs(x));
  return x * select(x < 0.0, tail, 1.0 - tail);
}

// (1 + tanh u) / 2 = sigmoid(2 u).
Float expand_gelu_tanh(Float x) {
  constexpr double kScale = 2 * 0.79788456080286535588; // sqrt(2 / pi)
  Float cube = x * x * x;
  auto [numerator, denominator] = sigmoid_of(fma(cube, 0.044715, x) * kScale);
  return x * numerator / denominator;
}

// max(x, 0) + log1p(e^-|x|).
Float expand_softplus(Float x) {
  Float rest = expand_log1p(expand_exp(-abs(x)));
  return select(x < 0.0, 0.0, x) + rest;
}

} // namespace tilewright::cpu
