// tanh and erf: an odd polynomial near zero; further out one minus something small, which comes from an exponential.
#include "backends/cpu/math/functions.h"

namespace tilewright::cpu {

Float expand_tanh(Float x) {
  const Formula& formula = *x.formula;
  Float magnitude = abs(x);
  Float z = x * x;
  Float q = formula.is_float64
                ? polynomial(z, {-3.3333333333332943e-01, 1.3333333333292691e-01, -5.3968253953365700e-02,
                                 2.1869488258794662e-02, -8.8632324413986281e-03, 3.5921055398218872e-03,
                                 -1.4557210345741004e-03, 5.8961778296627153e-04, -2.3804187104407680e-04,
                                 9.4765012695585961e-05, -3.6083061150577779e-05, 1.2338540283154488e-05,
                                 -3.4182378288106594e-06, 6.5405317147599903e-07, -6.2632203740791110e-08})
                : polynomial(z, {-3.33332956e-01, 1.33323476e-01, -5.38799874e-02, 2.14871783e-02, -7.94685353e-03,
                                 2.30189646e-03, -3.58601246e-04});
  Float near_zero = fma(magnitude * z, q, magnitude);
  // tanh(x) = 1 - 2 / (e^2x + 1), which is 1 from here on.
  Float doubled = at_most(magnitude + magnitude, formula.choose(20, 40));
  Float further = 1.0 - 2.0 / (expand_exp_within_range(doubled) + 1.0);
  return copysign(select(magnitude < 1.0, near_zero, further), x);
}

Float expand_erf(Float x) {
  const Formula& formula = *x.formula;
  Float magnitude = abs(x);
  Float z = x * x;
  Float q = formula.is_float64
                ? polynomial(z, {1.2837916709551259e-01, -3.7612638903184081e-01, 1.1283791670970139e-01,
                                 -2.6866170647837757e-02, 5.2239776507405208e-03, -8.5483284210672434e-04,
                                 1.2055381947210622e-04, -1.4926778419074007e-05, 1.6479394848614382e-06,
                                 -1.6539411356023595e-07, 1.5893737134414493e-08, -1.6002261613661209e-09,
                                 1.3561035491261136e-10})
                : polynomial(z, {1.28379166e-01, -3.76126289e-01, 1.12836257e-01, -2.68557407e-02, 5.19246049e-03,
                                 -8.05080403e-04, 8.00277485e-05});
  Float near_zero = fma(magnitude, q, magnitude);
  // erf(x) = 1 - exp(log erfc(x)), which is 1 from here on.
  Float far = at_most(magnitude, formula.choose(4, 6));
  Float log_erfc = far;
  if (formula.is_float64) {
    Float u = (far - 2.5) / (far + 4.0);
    Float p = polynomial(u, {-1.5568152727272653e+00, -2.2924248814118497e+00, 7.8064877185542170e-02,
                             -5.3334358992631403e-01, -2.6113867102379307e-01, -1.2384977576719149e-01,
                             -2.1446984554122211e-01, -1.4408560264778217e-01, -1.0195047198741214e-01,
                             -1.2551035135925379e-01, -1.0104786957788039e-01, -7.4019637549267867e-02,
                             -6.0701092421187618e-02, -2.5937655408412346e-02});
    log_erfc = fma(-far, far, p);
  } else {
    log_erfc = polynomial(far, {-2.46134150e-04, -1.12746918e+00, -6.37526691e-01, -1.03631891e-01, 2.20835991e-02,
                                -3.00752674e-03, 1.92323176e-04});
  }
  Float further = 1.0 - expand_exp_within_range(log_erfc);
  return copysign(select(magnitude < formula.choose(0.95, 1), near_zero, further), x);
}

} // namespace tilewright::cpu
