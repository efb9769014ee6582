#include "frontend/formulas.h"

#include <limits>
#include <numbers>

namespace tilewright {

Expression rounded(Expression product) {
  // The attribute by which the CPU backend knows it (backends/cpu/loops_to_llvm.h).
  if (mlir::Operation* op = product.value.getDefiningOp())
    op->setAttr("tile.rounded", product.builder->ir.getUnitAttr());
  return product;
}

Expression compare(Expression a, arith::CmpFPredicate of_floats, arith::CmpIPredicate of_integers,
                   ExpressionOperand b) {
  mlir::Value other = b.beside(a).value;
  if (a.is_float()) return a.make<arith::CmpFOp>(of_floats, a.value, other);
  using Predicate = arith::CmpIPredicate;
  if (a.is_bool()) // an i1 that is set is -1 as a signed number
    of_integers = of_integers == Predicate::slt   ? Predicate::ult
                  : of_integers == Predicate::sle ? Predicate::ule
                  : of_integers == Predicate::sgt ? Predicate::ugt
                  : of_integers == Predicate::sge ? Predicate::uge
                                                  : of_integers;
  return a.make<arith::CmpIOp>(of_integers, a.value, other);
}

Expression select(Expression condition, ExpressionOperand a, ExpressionOperand b) {
  Expression known = a.value ? *a.value : *b.value;
  return known.make<arith::SelectOp>(condition.value, a.beside(known).value, b.beside(known).value);
}

namespace formulas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What an integer or a bool, which is finite, answers.
Expression question_of_floats(Expression x, bool else_answer, Expression (*question)(Expression)) {
  return x.is_float() ? question(x) : x.everywhere(else_answer);
}

} // namespace

Expression same(Expression x) { return x; }
Expression negative(Expression x) { return -x; }

Expression absolute(Expression x) {
  if (x.is_float()) return abs(x);
  if (!x.element().isIndex()) return x.make<math::AbsIOp>(x.value);
  return maximum(x, -x);
}

Expression sign(Expression x) {
  if (x.is_bool()) return x;
  return select(x > 0, x.like(1), select(x < 0, x.like(-1), x.like(0)));
}

Expression fmax(Expression a, Expression b) {
  return a.is_float() ? a.make<arith::MaxNumFOp>(a.value, b.value) : maximum(a, b);
}
Expression fmin(Expression a, Expression b) {
  return a.is_float() ? a.make<arith::MinNumFOp>(a.value, b.value) : minimum(a, b);
}

Expression heaviside(Expression x, Expression at_zero) {
  return select(x == 0, at_zero, select(x > 0, x.like(1), x.like(0)));
}

Expression nan_to_num(Expression x, Expression nan, Expression posinf, Expression neginf) {
  Expression finite = select(x == kInfinity, posinf, select(x == -kInfinity, neginf, x));
  return select(x != x, nan, finite);
}

Expression relu(Expression x) { return maximum(x, 0); }
Expression relu6(Expression x) { return minimum(maximum(x, 0), 6); }
Expression hardtanh(Expression x, Expression low, Expression high) { return minimum(maximum(x, low), high); }
Expression hardshrink(Expression x, Expression lambd) { return select((x >= -lambd) & (x <= lambd), x.like(0), x); }
Expression threshold(Expression x, Expression threshold, Expression value) { return select(x <= threshold, value, x); }

Expression isnan(Expression x) {
  return question_of_floats(
      x, false, [](Expression x) { return x.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x.value, x.value); });
}
Expression isinf(Expression x) {
  return question_of_floats(x, false, [](Expression x) { return abs(x) == kInfinity; });
}
Expression isfinite(Expression x) {
  return question_of_floats(x, true, [](Expression x) { return abs(x) < kInfinity; });
}
Expression isposinf(Expression x) {
  return question_of_floats(x, false, [](Expression x) { return x == kInfinity; });
}
Expression isneginf(Expression x) {
  return question_of_floats(x, false, [](Expression x) { return x == -kInfinity; });
}
Expression signbit(Expression x) {
  if (x.is_bool()) return x.everywhere(false);
  return x.is_float() ? copysign(x.like(1), x) < 0 : x < 0; // a NaN and -0 have signs as well
}

Expression reciprocal(Expression x) { return 1 / x; }

// As Python's //: the quotient of what is left after the remainder is taken off, which is nearly whole.
Expression floor_divide(Expression a, Expression b) {
  Expression remainder = fmod(a, b);
  Expression quotient = (a - remainder) / b;
  Expression off = (remainder != 0) & ((b < 0) ^ (remainder < 0));
  quotient = select(off, quotient - 1, quotient);
  Expression whole = floor(quotient);
  whole = select(quotient - whole > 0.5, whole + 1, whole);
  Expression exact = a / b;
  whole = select(quotient != 0, whole, copysign(a.like(0), exact));
  return select(b == 0, exact, whole);
}

Expression div_trunc(Expression a, Expression b) { return trunc(a / b); }

// float32: squares are exact in float64, and do not overflow there. float64: scaled by a power of two so that squares
// neither overflow nor vanish, then one Newton step of the root with the squares' rounding errors (Borges, "An improved
// algorithm for hypot(a, b)", 2020, algorithm with fused multiply-add).
Expression hypot(Expression a, Expression b) {
  Expression x = abs(a), y = abs(b);
  Expression larger = maximum(x, y), smaller = minimum(x, y);
  Expression root = larger;
  if (!a.is_float64()) {
    mlir::Type wide = a.builder->ir.getF64Type();
    Expression p = larger.converted(wide), q = smaller.converted(wide);
    root = sqrt(p * p + q * q).converted(a.element());
  } else {
    Expression scale = select(larger > 0x1p500, larger.like(0x1p-600),
                              select(larger < 0x1p-400, larger.like(0x1p600), larger.like(1)));
    Expression unscale = select(larger > 0x1p500, larger.like(0x1p600),
                                select(larger < 0x1p-400, larger.like(0x1p-600), larger.like(1)));
    Expression p = rounded(larger * scale), q = rounded(smaller * scale);
    Expression p_squared = rounded(p * p);
    Expression h = sqrt(fma(q, q, p_squared));
    Expression h_squared = rounded(h * h);
    Expression error = fma(-q, q, h_squared - p_squared) + fma(h, h, -h_squared) - fma(p, p, -p_squared);
    // Where h is 0, so is what is corrected.
    Expression corrected = select(h > 0, h - error / (h + h), h);
    // Below half a unit in the last place the smaller one does not count; infinities and zeros stay.
    root = select(smaller <= larger * 0x1p-54, larger, corrected * unscale);
  }
  // Infinity beside NaN is infinity.
  return select((x == kInfinity), x, select(y == kInfinity, y, root));
}

// From the nearer end, so that both ends are met exactly.
Expression lerp(Expression start, Expression end, Expression weight) {
  Expression distance = end - start;
  return select(abs(weight) < 0.5, start + weight * distance, end - distance * (1 - weight));
}

Expression addcmul(Expression a, Expression b, Expression c, Expression value) { return a + value * b * c; }
Expression addcdiv(Expression a, Expression b, Expression c, Expression value) { return a + value * b / c; }

Expression deg2rad(Expression x) { return x * (std::numbers::pi / 180); }
Expression rad2deg(Expression x) { return x * (180 / std::numbers::pi); }
Expression frac(Expression x) { return x - trunc(x); }

namespace {
// The larger, plus the logarithm of 1 + base^(smaller - larger), which is at most that of 2.
Expression add_logarithms(Expression a, Expression b, Expression (*log_of_1_plus_power)(Expression)) {
  Expression sum = maximum(a, b) + log_of_1_plus_power(-abs(a - b));
  // Equal infinities have no difference.
  return select((a == b) & (abs(a) == kInfinity), a, sum);
}
} // namespace

// Where the result is near 0, the two terms cancel, and float32 has too few digits for both.
Expression logaddexp(Expression a, Expression b) {
  mlir::Type wide = a.builder->ir.getF64Type();
  auto log_of_1_plus_power = [](Expression power) { return log1p(exp(power)); };
  return add_logarithms(a.converted(wide), b.converted(wide), log_of_1_plus_power).converted(a.element());
}
Expression logaddexp2(Expression a, Expression b) {
  return add_logarithms(a, b, [](Expression power) { return log1p(exp2(power)) * std::numbers::log2e; });
}

Expression xlogy(Expression x, Expression y) {
  Expression product = x * log(y);
  return select(y != y, y, select(x == 0, x.like(0), product));
}

Expression logit(Expression x, Expression eps) {
  if (eps.literal) {
    if (*eps.literal >= 0) x = minimum(maximum(x, eps), 1 - eps);
  } else {
    x = select(eps < 0, x, minimum(maximum(x, eps), 1 - eps));
  }
  return log(x / (1 - x));
}

Expression logsigmoid(Expression x) { return -(-x).composite(Composite::Softplus); }

Expression softplus(Expression x, Expression beta, Expression threshold) {
  Expression scaled = x * beta;
  return select(scaled > threshold, x, scaled.composite(Composite::Softplus) / beta);
}

Expression leaky_relu(Expression x, Expression negative_slope) { return select(x > 0, x, x * negative_slope); }
Expression elu(Expression x, Expression alpha) { return select(x > 0, x, expm1(x) * alpha); }

// The constants are the fixed point of Klambauer et al., "Self-normalizing neural networks", 2017, section 2.
Expression selu(Expression x) {
  constexpr double alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946;
  return select(x > 0, x * scale, expm1(x) * (alpha * scale));
}

Expression celu(Expression x, Expression alpha) { return select(x > 0, x, expm1(x / alpha) * alpha); }

Expression hardsigmoid(Expression x) { return minimum(maximum(x + 3, 0), 6) / 6; }
Expression hardswish(Expression x) { return x * minimum(maximum(x + 3, 0), 6) / 6; }
Expression softshrink(Expression x, Expression lambd) {
  return select(x > lambd, x - lambd, select(x < -lambd, x + lambd, x * 0));
}

// tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2), which is 1 from 20 on.
Expression mish(Expression x) {
  Expression e = exp(minimum(x, 20));
  Expression n = e * (e + 2);
  return x * (n / (n + 2));
}

Expression softsign(Expression x) { return x / (abs(x) + 1); }
Expression tanhshrink(Expression x) { return x - tanh(x); }

} // namespace formulas
} // namespace tilewright
