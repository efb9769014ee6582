// sin and cos: x = n pi / 2 + r, then one of two polynomials of r by n modulo 4.
#include "backends/cpu/math/functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright::cpu {
namespace {

enum class Function { sine, cosine };

// pi / 2 in three parts. Subtracting the product of n and the first from x leaves no rounding error: both are multiples
// of the first's last bit, and the difference is small. The errors of the second product, and of its subtraction, go to
// r_low. This holds up to the limit of |x| that expand() keeps to.
struct Reduced {
  Int n; // plus a constant that is a multiple of 4
  Float r;
  Float r_low;
};
Reduced reduce(Float x) {
  const Formula& formula = *x.formula;
  double rounding = formula.choose(0x1.8p23, 0x1.8p52);
  Float shifted = fma(x, formula.choose(6.36619747e-01, 6.3661977236758138e-01), rounding);
  Float n = shifted - rounding;
  double second = formula.choose(-4.37113883e-08, 6.1232339957367660e-17);
  double third = formula.choose(-1.71512451e-15, -1.4973849048591698e-33);
  Float exact = fma(n, -formula.choose(1.57079637e+00, 1.5707963267948966e+00), x);
  Float product = rounded(n * second);
  Float r = exact - product;
  Float lost = ((exact - r) - product) - fma(n, second, -product);
  return {bits(shifted), r, fma(n, -third, lost)};
}

Float of_moderate(Float x, Function function) {
  const Formula& formula = *x.formula;
  auto [n, r, r_low] = reduce(x);
  Float z = r * r;
  Float sine_tail = formula.is_float64
                        ? polynomial(z, {-1.6666666666666627e-01, 8.3333333333210687e-03, -1.9841269828698227e-04,
                                         2.7557313298585718e-06, -2.5050695474891926e-08, 1.5893113078994454e-10})
                        : polynomial(z, {-1.66666538e-01, 8.33210628e-03, -1.95078843e-04});
  Float cosine_tail = formula.is_float64
                          ? polynomial(z, {4.1666666666666581e-02, -1.3888888888870970e-03, 2.4801587287527954e-05,
                                           -2.7557313791564248e-07, 2.0875647490181515e-09, -1.1355744033373820e-11})
                          : polynomial(z, {4.16666456e-02, -1.38872978e-03, 2.44300845e-05});
  Float sine = r + fma(r * z, sine_tail, r_low);
  // 1 - z / 2 in two parts, because the second counts where z is large.
  Float half = z * 0.5;
  Float high = 1.0 - half;
  Float low = fma(-r, r_low, (1.0 - high) - half);
  Float cosine = high + fma(z * z, cosine_tail, low);

  Int quadrant = function == Function::sine ? n : n + 1;
  Float chosen = select((quadrant & 1) != 0, cosine, sine);
  int sign_bit = formula.is_float64 ? 63 : 31;
  Float result = from_bits(bits(chosen) ^ (shift_right(quadrant, 1) << sign_bit));
  // r of a negative zero is a positive one.
  return function == Function::sine ? select(x == 0.0, x, result) : result;
}

template <class Op> Float expand(Float x, Function function) {
  Formula& formula = *x.formula;
  mlir::OpBuilder& builder = formula.builder;
  Float moderate = of_moderate(x, function);
  Condition large = abs(x) > formula.choose(0x1p17, 0x1p27);
  mlir::Value any = large.value;
  if (mlir::isa<mlir::VectorType>(any.getType()))
    any = builder.create<mlir::vector::ReductionOp>(formula.location, mlir::vector::CombiningKind::OR, any);
  auto branch = builder.create<mlir::scf::IfOp>(
      formula.location, any,
      [&](mlir::OpBuilder& inside, mlir::Location location) {
        auto called = inside.create<Op>(location, x.value);
        called->setAttr(kLeaveToRuntime, inside.getUnitAttr());
        mlir::Value merged = inside.create<mlir::arith::SelectOp>(location, large.value, called, moderate.value);
        inside.create<mlir::scf::YieldOp>(location, merged);
      },
      [&](mlir::OpBuilder& inside, mlir::Location location) {
        inside.create<mlir::scf::YieldOp>(location, moderate.value);
      });
  return {&formula, branch.getResult(0)};
}

} // namespace

Float expand_sin(Float x) { return expand<mlir::math::SinOp>(x, Function::sine); }
Float expand_cos(Float x) { return expand<mlir::math::CosOp>(x, Function::cosine); }

} // namespace tilewright::cpu
