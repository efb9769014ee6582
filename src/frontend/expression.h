// Formulas over device values, written as C++ expressions that append ops: what pointwise functions are built from.
// The operands of an expression have one element type and the same dimensions; numbers take theirs from the other side.
#pragma once

#include "frontend/builder.h"

namespace tilewright {

struct Expression {
  Builder* builder;
  mlir::Value value;
  std::optional<double> literal = {}; // of a number that is known while recording

  mlir::Type element() const { return element_type(value.getType()); }
  bool is_float() const { return mlir::isa<mlir::FloatType>(element()); }
  bool is_bool() const { return element().isInteger(1); }
  bool is_float64() const { return element().isF64(); }

  /// A number in this value's element type and dimensions.
  Expression like(double number) const { return {builder, builder->number_like(number, value), number}; }
  /// false or true, in this value's dimensions.
  Expression everywhere(bool answer) const {
    return {builder, builder->splat_like(builder->constant(builder->ir.getBoolAttr(answer)), value)};
  }
  template <class Op, class... Args> Expression make(Args&&... args) const {
    return {builder, builder->ir.create<Op>(builder->location(), std::forward<Args>(args)...)};
  }
  Expression composite(Composite function) const { return make<CompositeOp>(value.getType(), function, value); }
  /// Floating point in another type.
  Expression converted(mlir::Type element) const { return {builder, builder->cast_value(value, element)}; }
};

/// A number or an expression.
struct ExpressionOperand {
  ExpressionOperand(Expression value) : value(value) {}
  ExpressionOperand(double number) : number(number) {}
  Expression beside(const Expression& other) const { return number ? other.like(*number) : *value; }
  bool is(double other) const { return number ? *number == other : value->literal == other; }

  std::optional<Expression> value;
  std::optional<double> number;
};

namespace detail {
// The op for floating point, integers, or bool.
template <class FloatOp, class IntOp, class BoolOp = IntOp>
Expression by_type(const Expression& a, const ExpressionOperand& b) {
  mlir::Value other = b.beside(a).value;
  if (a.is_float()) return a.make<FloatOp>(a.value, other);
  if (a.is_bool()) return a.make<BoolOp>(a.value, other);
  return a.make<IntOp>(a.value, other);
}
} // namespace detail

namespace arith = mlir::arith;
namespace math = mlir::math;

inline Expression operator+(Expression a, ExpressionOperand b) {
  return detail::by_type<arith::AddFOp, arith::AddIOp, arith::OrIOp>(a, b);
}
inline Expression operator-(Expression a, ExpressionOperand b) {
  return detail::by_type<arith::SubFOp, arith::SubIOp>(a, b);
}
inline Expression operator-(double a, Expression b) { return b.like(a) - b; }
inline Expression operator*(Expression a, ExpressionOperand b) {
  if (b.is(1)) return a;
  if (a.literal == 1 && b.value) return *b.value;
  return detail::by_type<arith::MulFOp, arith::MulIOp, arith::AndIOp>(a, b);
}
inline Expression operator/(Expression a, ExpressionOperand b) {
  return b.is(1) ? a : a.make<arith::DivFOp>(a.value, b.beside(a).value);
}
inline Expression operator/(double a, Expression b) { return b.like(a) / b; }
inline Expression operator-(Expression a) { return a.is_float() ? a.make<arith::NegFOp>(a.value) : a.like(0) - a; }

/// Of a product: it is not fused with the sum that it goes into.
Expression rounded(Expression product);
inline Expression fma(Expression a, Expression b, Expression c) {
  return a.make<math::FmaOp>(a.value, b.value, c.value);
}

/// A NaN wins.
inline Expression maximum(Expression a, ExpressionOperand b) {
  return detail::by_type<arith::MaximumFOp, arith::MaxSIOp, arith::OrIOp>(a, b);
}
inline Expression minimum(Expression a, ExpressionOperand b) {
  return detail::by_type<arith::MinimumFOp, arith::MinSIOp, arith::AndIOp>(a, b);
}

/// Comparisons are false for NaN, but != is true; false is less than true.
Expression compare(Expression a, arith::CmpFPredicate of_floats, arith::CmpIPredicate of_integers, ExpressionOperand b);
inline Expression operator<(Expression a, ExpressionOperand b) {
  return compare(a, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, b);
}
inline Expression operator<=(Expression a, ExpressionOperand b) {
  return compare(a, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle, b);
}
inline Expression operator>(Expression a, ExpressionOperand b) {
  return compare(a, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, b);
}
inline Expression operator>=(Expression a, ExpressionOperand b) {
  return compare(a, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge, b);
}
inline Expression operator==(Expression a, ExpressionOperand b) {
  return compare(a, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, b);
}
inline Expression operator!=(Expression a, ExpressionOperand b) {
  return compare(a, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, b);
}
inline Expression operator&(Expression a, Expression b) { return a.make<arith::AndIOp>(a.value, b.value); }
inline Expression operator^(Expression a, Expression b) { return a.make<arith::XOrIOp>(a.value, b.value); }
/// One of the two must be an expression.
Expression select(Expression condition, ExpressionOperand a, ExpressionOperand b);

inline Expression abs(Expression x) { return x.make<math::AbsFOp>(x.value); }
inline Expression copysign(Expression a, Expression b) { return a.make<math::CopySignOp>(a.value, b.value); }
inline Expression sqrt(Expression x) { return x.make<math::SqrtOp>(x.value); }
inline Expression floor(Expression x) { return x.make<math::FloorOp>(x.value); }
inline Expression trunc(Expression x) { return x.make<math::TruncOp>(x.value); }
inline Expression exp(Expression x) { return x.make<math::ExpOp>(x.value); }
inline Expression exp2(Expression x) { return x.make<math::Exp2Op>(x.value); }
inline Expression expm1(Expression x) { return x.make<math::ExpM1Op>(x.value); }
inline Expression log(Expression x) { return x.make<math::LogOp>(x.value); }
inline Expression log1p(Expression x) { return x.make<math::Log1pOp>(x.value); }
inline Expression tanh(Expression x) { return x.make<math::TanhOp>(x.value); }
inline Expression fmod(Expression a, Expression b) { return a.make<arith::RemFOp>(a.value, b.value); }

} // namespace tilewright
