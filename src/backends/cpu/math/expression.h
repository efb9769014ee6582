// Formulas over values of one shape (a scalar or a vector, of f32 or f64), written as C++ expressions that emit ops.
#pragma once

#include "backends/cpu/loops_to_llvm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

#include <cstdint>
#include <initializer_list>

namespace tilewright::cpu {

// Where ops are emitted, and the types of the formula: floats, integers of the same width, and conditions.
class Formula {
public:
  // has_scaling: scale_by_power() is one instruction.
  Formula(mlir::OpBuilder& builder, mlir::Location location, mlir::Type float_type, bool has_scaling)
      : builder(builder), location(location), float_type(float_type), has_scaling(has_scaling) {
    mlir::Type element = mlir::getElementTypeOrSelf(float_type);
    is_float64 = element.isF64();
    int_type = with_element(builder.getIntegerType(is_float64 ? 64 : 32));
  }

  mlir::Value float_constant(double number) {
    return constant(float_type, builder.getFloatAttr(mlir::getElementTypeOrSelf(float_type), number));
  }
  mlir::Value int_constant(int64_t number) {
    return constant(int_type, builder.getIntegerAttr(mlir::getElementTypeOrSelf(int_type), number));
  }

  // The number of one precision or the other.
  double choose(double float32, double float64) const { return is_float64 ? float64 : float32; }
  int64_t choose_int(int64_t float32, int64_t float64) const { return is_float64 ? float64 : float32; }

  mlir::OpBuilder& builder;
  mlir::Location location;
  mlir::Type float_type;
  mlir::Type int_type;
  bool is_float64;
  bool has_scaling;

private:
  mlir::Type with_element(mlir::Type element) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(float_type);
    return vector ? mlir::VectorType::get(vector.getShape(), element) : element;
  }
  mlir::Value constant(mlir::Type type, mlir::TypedAttr element) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return builder.create<mlir::arith::ConstantOp>(location, mlir::DenseElementsAttr::get(vector, element));
    return builder.create<mlir::arith::ConstantOp>(location, element);
  }
};

struct Float {
  Formula* formula;
  mlir::Value value;
};

struct Int {
  Formula* formula;
  mlir::Value value;
};

struct Condition {
  Formula* formula;
  mlir::Value value;
};

// A float operand, or a number that becomes a constant.
struct FloatOperand {
  FloatOperand(Float value) : value(value) {}
  FloatOperand(double number) : number(number) {}
  mlir::Value in(Formula& formula) const { return value.value ? value.value : formula.float_constant(number); }
  Formula* formula() const { return value.formula; }

  Float value{nullptr, nullptr};
  double number = 0;
};

template <class Op> Float emit(Formula& formula, std::initializer_list<FloatOperand> operands) {
  llvm::SmallVector<mlir::Value> values;
  for (const FloatOperand& operand : operands) values.push_back(operand.in(formula));
  return {&formula, formula.builder.create<Op>(formula.location, values)};
}

template <class Op> Int emit_int(Int a, int64_t b) {
  Formula& formula = *a.formula;
  return {&formula, formula.builder.create<Op>(formula.location, a.value, formula.int_constant(b))};
}

inline Float operator+(Float a, FloatOperand b) { return emit<mlir::arith::AddFOp>(*a.formula, {a, b}); }
inline Float operator-(Float a, FloatOperand b) { return emit<mlir::arith::SubFOp>(*a.formula, {a, b}); }
inline Float operator*(Float a, FloatOperand b) { return emit<mlir::arith::MulFOp>(*a.formula, {a, b}); }
inline Float operator/(Float a, FloatOperand b) { return emit<mlir::arith::DivFOp>(*a.formula, {a, b}); }
inline Float operator-(double a, Float b) { return emit<mlir::arith::SubFOp>(*b.formula, {a, b}); }
inline Float operator/(double a, Float b) { return emit<mlir::arith::DivFOp>(*b.formula, {a, b}); }
inline Float operator-(Float a) { return emit<mlir::arith::NegFOp>(*a.formula, {a}); }

// a * b + c, rounded once.
inline Float fma(Float a, FloatOperand b, FloatOperand c) { return emit<mlir::math::FmaOp>(*a.formula, {a, b, c}); }
// A product that is not fused with the sum it goes into, where a formula counts on its rounding.
inline Float rounded(Float product) {
  product.value.getDefiningOp()->setAttr(kRounded, mlir::UnitAttr::get(product.value.getContext()));
  return product;
}
// y 2^n for integral n, where the target has_scaling.
inline Float scale_by_power(Float y, Float n) {
  Float power = emit<mlir::math::Exp2Op>(*n.formula, {n});
  power.value.getDefiningOp()->setAttr(kIntegral, mlir::UnitAttr::get(power.value.getContext()));
  return emit<mlir::arith::MulFOp>(*y.formula, {y, power});
}
inline Float abs(Float a) { return emit<mlir::math::AbsFOp>(*a.formula, {a}); }
inline Float copysign(Float magnitude, Float sign) {
  return emit<mlir::math::CopySignOp>(*magnitude.formula, {magnitude, sign});
}

// coefficients[0] + coefficients[1] x + ...
inline Float polynomial(Float x, llvm::ArrayRef<double> coefficients) {
  Float sum{x.formula, x.formula->float_constant(coefficients.back())};
  for (double coefficient : llvm::reverse(coefficients.drop_back())) sum = fma(sum, x, coefficient);
  return sum;
}

inline Int bits(Float a) {
  return {a.formula,
          a.formula->builder.create<mlir::arith::BitcastOp>(a.formula->location, a.formula->int_type, a.value)};
}
inline Float from_bits(Int a) {
  return {a.formula,
          a.formula->builder.create<mlir::arith::BitcastOp>(a.formula->location, a.formula->float_type, a.value)};
}
inline Float to_float(Int a) {
  return {a.formula,
          a.formula->builder.create<mlir::arith::SIToFPOp>(a.formula->location, a.formula->float_type, a.value)};
}

inline Int operator+(Int a, int64_t b) { return emit_int<mlir::arith::AddIOp>(a, b); }
inline Int operator-(Int a, int64_t b) { return emit_int<mlir::arith::SubIOp>(a, b); }
inline Int operator&(Int a, int64_t b) { return emit_int<mlir::arith::AndIOp>(a, b); }
inline Int operator<<(Int a, int64_t b) { return emit_int<mlir::arith::ShLIOp>(a, b); }
inline Int shift_right(Int a, int64_t b) { return emit_int<mlir::arith::ShRUIOp>(a, b); }
inline Int shift_right_signed(Int a, int64_t b) { return emit_int<mlir::arith::ShRSIOp>(a, b); }
inline Int max(Int a, int64_t b) { return emit_int<mlir::arith::MaxSIOp>(a, b); }
inline Int operator-(Int a, Int b) {
  return {a.formula, a.formula->builder.create<mlir::arith::SubIOp>(a.formula->location, a.value, b.value)};
}
inline Int operator^(Int a, Int b) {
  return {a.formula, a.formula->builder.create<mlir::arith::XOrIOp>(a.formula->location, a.value, b.value)};
}

// Comparisons are false for NaN.
inline Condition compare(Float a, mlir::arith::CmpFPredicate predicate, FloatOperand b) {
  Formula& formula = *a.formula;
  return {&formula, formula.builder.create<mlir::arith::CmpFOp>(formula.location, predicate, a.value, b.in(formula))};
}
inline Condition operator<(Float a, FloatOperand b) { return compare(a, mlir::arith::CmpFPredicate::OLT, b); }
inline Condition operator>(Float a, FloatOperand b) { return compare(a, mlir::arith::CmpFPredicate::OGT, b); }
inline Condition operator==(Float a, FloatOperand b) { return compare(a, mlir::arith::CmpFPredicate::OEQ, b); }
inline Condition compare(Int a, mlir::arith::CmpIPredicate predicate, int64_t b) {
  Formula& formula = *a.formula;
  return {&formula,
          formula.builder.create<mlir::arith::CmpIOp>(formula.location, predicate, a.value, formula.int_constant(b))};
}
inline Condition operator!=(Int a, int64_t b) { return compare(a, mlir::arith::CmpIPredicate::ne, b); }
inline Condition below_unsigned(Int a, int64_t b) { return compare(a, mlir::arith::CmpIPredicate::ult, b); }

inline Float select(Condition condition, FloatOperand a, FloatOperand b) {
  Formula& formula = *condition.formula;
  return {&formula, formula.builder.create<mlir::arith::SelectOp>(formula.location, condition.value, a.in(formula),
                                                                  b.in(formula))};
}

// The nearer of the bounds if x is outside them; NaN stays.
inline Float at_most(Float x, double high) { return select(x > high, high, x); }
inline Float at_least(Float x, double low) { return select(x < low, low, x); }

} // namespace tilewright::cpu
