// The elementary functions that expand-math knows, as formulas. Coefficients are from minimax_coefficients.py; names in
// this folder's comments: n is the integer part of a reduced argument, r its remainder, q a polynomial.
#pragma once

#include "backends/cpu/math/expression.h"

namespace tilewright::cpu {

Float expand_exp(Float x);
Float expand_exp2(Float x);
Float expand_expm1(Float x);

// e^x where neither the result nor 1 / result is subnormal or overflows: |x| at most 87 (float32) or 708 (float64).
Float expand_exp_within_range(Float x);

Float expand_log(Float x);
Float expand_log2(Float x);
Float expand_log10(Float x);
Float expand_log1p(Float x);

Float expand_tanh(Float x);
Float expand_erf(Float x);

Float expand_sin(Float x);
Float expand_cos(Float x);

// tile.composite: errors are a few ulps, in the tails as well.
Float expand_sigmoid(Float x);
Float expand_silu(Float x);
Float expand_gelu(Float x);
Float expand_gelu_tanh(Float x);
Float expand_softplus(Float x);

// An op with this attribute is left for the runtime table.
inline constexpr const char* kLeaveToRuntime = "tile.runtime";

} // namespace tilewright::cpu
