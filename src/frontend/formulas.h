// Pointwise functions as formulas of the ops that tile IR has, named as in operations.inc. Each takes the function's
// operands, then its numbers.
#pragma once

#include "frontend/expression.h"

namespace tilewright::formulas {

//
// Exact: they choose among their operands, numbers and signs, so they are computed in any dtype.
//

Expression same(Expression x);
Expression negative(Expression x);
Expression absolute(Expression x);
Expression sign(Expression x);
Expression fmax(Expression a, Expression b);
Expression fmin(Expression a, Expression b);
Expression heaviside(Expression x, Expression at_zero);
Expression nan_to_num(Expression x, Expression nan, Expression posinf, Expression neginf);
Expression relu(Expression x);
Expression relu6(Expression x);
Expression hardtanh(Expression x, Expression low, Expression high);
Expression hardshrink(Expression x, Expression lambd);
Expression threshold(Expression x, Expression threshold, Expression value);
Expression isnan(Expression x);
Expression isinf(Expression x);
Expression isfinite(Expression x);
Expression isposinf(Expression x);
Expression isneginf(Expression x);
Expression signbit(Expression x);

//
// With rounding errors: of float32 and float64.
//

Expression reciprocal(Expression x);
Expression floor_divide(Expression a, Expression b);
Expression div_trunc(Expression a, Expression b);
Expression hypot(Expression a, Expression b);
Expression lerp(Expression start, Expression end, Expression weight);
Expression addcmul(Expression a, Expression b, Expression c, Expression value); // of integers too
Expression addcdiv(Expression a, Expression b, Expression c, Expression value);
Expression deg2rad(Expression x);
Expression rad2deg(Expression x);
Expression frac(Expression x);

Expression logaddexp(Expression a, Expression b);
Expression logaddexp2(Expression a, Expression b);
Expression xlogy(Expression x, Expression y);
Expression logit(Expression x, Expression eps);

Expression logsigmoid(Expression x);
Expression softplus(Expression x, Expression beta, Expression threshold);
Expression leaky_relu(Expression x, Expression negative_slope);
Expression elu(Expression x, Expression alpha);
Expression selu(Expression x);
Expression celu(Expression x, Expression alpha);
Expression hardsigmoid(Expression x);
Expression hardswish(Expression x);
Expression softshrink(Expression x, Expression lambd);
Expression mish(Expression x);
Expression softsign(Expression x);
Expression tanhshrink(Expression x);

} // namespace tilewright::formulas
