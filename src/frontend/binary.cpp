// Families of pointwise operations whose ops depend on the operands' dtypes: arithmetic, division, powers, comparisons,
// logic and bits. pointwise.cpp says which operation is of which family, and has checked the dtypes.
#include "frontend/expression.h"

using namespace mlir;

namespace tilewright {

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

// PyTorch computes a 16-bit float and a number in float32, where the number is not rounded to 16 bits first.
bool Builder::needs_wider_arithmetic(ArrayRef<Term> terms, DType dtype) const {
  if (!is_16_bit_float(dtype)) return false;
  const llvm::fltSemantics& semantics = mlir::cast<FloatType>(element_type_of(dtype, context())).getFloatSemantics();
  return llvm::any_of(terms, [&](const Term& term) {
    if (!is_number(term)) return false;
    if (!term.is_literal()) return true;
    bool loses = false;
    APFloat value(term.as_double());
    value.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
    return loses;
  });
}

template <class FloatOp, class IntOp, class BoolOp>
static Value create_by_type(OpBuilder& ir, Location location, Value a, Value b) {
  Type element = element_type(a.getType());
  if (isa<FloatType>(element)) return ir.create<FloatOp>(location, a, b);
  if (element.isInteger(1)) return ir.create<BoolOp>(location, a, b);
  return ir.create<IntOp>(location, a, b);
}

Value Builder::arithmetic(Pointwise function, const Term& a, const Term& b) {
  DType dtype = promoted({a, b});
  bool exact = function == Pointwise::maximum || function == Pointwise::minimum;
  bool widen = !exact && needs_wider_arithmetic({a, b}, dtype);
  auto v = unify({a, b}, widen ? DType::float32 : dtype, spelling(function));
  Value result;
  switch (function) {
  case Pointwise::add:
    result = create_by_type<arith::AddFOp, arith::AddIOp, arith::OrIOp>(ir, location_, v[0], v[1]);
    break;
  case Pointwise::sub:
    result = create_by_type<arith::SubFOp, arith::SubIOp, arith::SubIOp>(ir, location_, v[0], v[1]);
    break;
  case Pointwise::mul:
    result = create_by_type<arith::MulFOp, arith::MulIOp, arith::AndIOp>(ir, location_, v[0], v[1]);
    break;
  case Pointwise::maximum:
    result = create_by_type<arith::MaximumFOp, arith::MaxSIOp, arith::OrIOp>(ir, location_, v[0], v[1]);
    break;
  default: result = create_by_type<arith::MinimumFOp, arith::MinSIOp, arith::AndIOp>(ir, location_, v[0], v[1]); break;
  }
  return widen ? cast(result, dtype) : result;
}

Value Builder::divide(const Term& a, const Term& b) {
  DType dtype = promoted({a, b});
  if (compute_type({a, b}, dtype).isIndex())
    fail("/ of two whole numbers: write tw::floor_divide(a, b), or convert one with .to(tw::float32)");
  if (!is_floating_point(dtype)) dtype = DType::float32;
  bool widen = needs_wider_arithmetic({a, b}, dtype);
  auto v = unify({a, b}, widen ? DType::float32 : dtype, "/");
  Value result = ir.create<arith::DivFOp>(location_, v[0], v[1]);
  return widen ? cast(result, dtype) : result;
}

// floor_divide and div_floor, div_trunc, fmod and remainder.
Value Builder::divide_integers(Pointwise function, const Term& a, const Term& b) {
  DType dtype = promoted({a, b});
  if (b.kind == Term::Kind::integer && b.integer == 0) fail("{} by zero", spelling(function));
  auto v = unify({a, b}, dtype, spelling(function));
  if (function == Pointwise::floor_divide || function == Pointwise::div_floor)
    return ir.create<arith::FloorDivSIOp>(location_, v[0], v[1]);
  if (function == Pointwise::div_trunc) return ir.create<arith::DivSIOp>(location_, v[0], v[1]);
  Value remainder = ir.create<arith::RemSIOp>(location_, v[0], v[1]);
  if (function == Pointwise::fmod) return remainder;
  // The remainder has the dividend's sign; where it is not 0 and differs from the divisor's, it is one divisor off.
  Value zero = number_like(0, remainder);
  Value signs = ir.create<arith::XOrIOp>(location_, remainder, v[1]);
  Value differs = ir.create<arith::CmpIOp>(location_, arith::CmpIPredicate::slt, signs, zero);
  Value inexact = ir.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ne, remainder, zero);
  Value off = ir.create<arith::AndIOp>(location_, differs, inexact);
  Value corrected = ir.create<arith::AddIOp>(location_, remainder, v[1]);
  return ir.create<arith::SelectOp>(location_, off, corrected, remainder);
}

Value Builder::float_remainder(Pointwise function, const Term& a, const Term& b) {
  DType dtype = promoted({a, b});
  bool widen = is_16_bit_float(dtype);
  auto v = unify({a, b}, widen ? DType::float32 : dtype, spelling(function));
  Value result = ir.create<arith::RemFOp>(location_, v[0], v[1]);
  if (function == Pointwise::remainder) {
    Value zero = number_like(0, result);
    using Predicate = arith::CmpFPredicate;
    Value negative = ir.create<arith::CmpFOp>(location_, Predicate::OLT, result, zero);
    Value negative_divisor = ir.create<arith::CmpFOp>(location_, Predicate::OLT, v[1], zero);
    Value differs = ir.create<arith::XOrIOp>(location_, negative, negative_divisor);
    Value inexact = ir.create<arith::CmpFOp>(location_, Predicate::UNE, result, zero);
    Value off = ir.create<arith::AndIOp>(location_, differs, inexact);
    Value corrected = ir.create<arith::AddFOp>(location_, result, v[1]);
    result = ir.create<arith::SelectOp>(location_, off, corrected, result);
  }
  return widen ? cast(result, dtype) : result;
}

// x * x * ..., `power` >= 1 times, by squaring.
static Value power_by_multiplication(Builder& builder, Value x, int64_t power) {
  Value result;
  for (Value square = x; power > 0; power >>= 1) {
    if (power & 1) result = result ? builder.pointwise(Pointwise::mul, {result, square}) : square;
    if (power > 1) square = builder.pointwise(Pointwise::mul, {square, square});
  }
  return result;
}

// Modulo the type's range. The power of a negative exponent is what is left of 1 / base^-exponent: 0, but for the bases
// 1 and -1.
Value Builder::integer_pow(const Term& base, const Term& exponent, DType dtype) {
  auto v = unify({base, exponent}, dtype, "tw::pow");
  Expression x{this, v[0]}, power{this, v[1]};
  const unsigned width = x.element().isIndex() ? 64 : x.element().getIntOrFloatBitWidth();
  auto is_odd = [&](Expression number) { return (number & number.like(1)) == 1.0; };
  Expression result = x.like(1), square = x;
  for (unsigned bit = 0; bit + 1 < width; ++bit) {
    Expression shifted = bit == 0 ? power : power.make<arith::ShRUIOp>(power.value, power.like(bit).value);
    result = select(is_odd(shifted), result * square, result);
    if (bit + 2 < width) square = square * square;
  }
  Expression sign = select(is_odd(power), -1.0, x.like(1));
  Expression inverse = select(x == 1.0, 1.0, select(x == -1.0, sign, x.like(0)));
  return select(power < 0.0, inverse, result).value;
}

Value Builder::pow(const Term& base, const Term& exponent) {
  DType dtype = promoted({base, exponent});
  if (!is_floating_point(dtype)) {
    if (dtype == DType::boolean) fail("tw::pow does not take two bools; convert one with .to(tw::int32)");
    if (exponent.kind == Term::Kind::integer && exponent.integer < 0)
      fail("tw::pow of integers to a negative power, {}; convert the base with .to(tw::float32)", exponent.integer);
    if (exponent.kind != Term::Kind::integer) return integer_pow(base, exponent, dtype);
    Value value = unify({base}, dtype, "tw::pow")[0];
    return exponent.integer == 0 ? number_like(1, value) : power_by_multiplication(*this, value, exponent.integer);
  }
  // 16-bit floats are raised in float32, as PyTorch does, and rounded once.
  DType wide = is_16_bit_float(dtype) ? DType::float32 : dtype;
  auto v = unify({base, exponent}, wide, "tw::pow");
  double power = exponent.is_literal() ? exponent.as_double() : 0;
  Value result;
  if (power == 1 || power == 2 || power == 3)
    result = power_by_multiplication(*this, v[0], static_cast<int64_t>(power));
  else if (power == 0.5)
    result = ir.create<math::SqrtOp>(location_, v[0]);
  else
    result = ir.create<math::PowFOp>(location_, v[0], v[1]);
  return cast(result, dtype);
}

//===----------------------------------------------------------------------===//
// Comparisons, logic and choice
//===----------------------------------------------------------------------===//

Value Builder::compare(Pointwise function, const Term& a, const Term& b) {
  DType dtype = promoted({a, b});
  auto v = unify({a, b}, dtype, spelling(function));
  bool is_bool = dtype == DType::boolean; // false < true, so unsigned
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  auto [float_predicate, int_predicate] = [&]() -> std::pair<F, I> {
    switch (function) {
    case Pointwise::eq: return {F::OEQ, I::eq};
    case Pointwise::ne: return {F::UNE, I::ne};
    case Pointwise::lt: return {F::OLT, is_bool ? I::ult : I::slt};
    case Pointwise::le: return {F::OLE, is_bool ? I::ule : I::sle};
    case Pointwise::gt: return {F::OGT, is_bool ? I::ugt : I::sgt};
    default: return {F::OGE, is_bool ? I::uge : I::sge};
    }
  }();
  if (is_floating_point(dtype)) return ir.create<arith::CmpFOp>(location_, float_predicate, v[0], v[1]);
  return ir.create<arith::CmpIOp>(location_, int_predicate, v[0], v[1]);
}

Value Builder::bitwise(Pointwise function, ArrayRef<Term> terms) {
  DType dtype = promoted(terms);
  auto v = unify(terms, dtype, spelling(function));
  switch (function) {
  case Pointwise::bitwise_not: // all bits set, for bool as well: true
    return ir.create<arith::XOrIOp>(location_, v[0], number_like(dtype == DType::boolean ? 1 : -1, v[0]));
  case Pointwise::bitwise_and: return ir.create<arith::AndIOp>(location_, v[0], v[1]);
  case Pointwise::bitwise_or: return ir.create<arith::OrIOp>(location_, v[0], v[1]);
  case Pointwise::bitwise_xor: return ir.create<arith::XOrIOp>(location_, v[0], v[1]);
  default: return shift(function == Pointwise::bitwise_left_shift, v[0], v[1]);
  }
}

// Shifts by the width or more, and by negative numbers, are those by infinitely many bits: 0, or the sign everywhere.
Value Builder::shift(bool left, Value value, Value by) {
  Type element = element_type(value.getType());
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  unsigned most = left ? width : width - 1;
  Value limit = number_like(most, by), last = number_like(width - 1, by);
  Value past = ir.create<arith::CmpIOp>(location_, arith::CmpIPredicate::uge, by, limit);
  Value amount = ir.create<arith::SelectOp>(location_, past, last, by);
  if (!left) return ir.create<arith::ShRSIOp>(location_, value, amount);
  Value shifted = ir.create<arith::ShLIOp>(location_, value, amount);
  return ir.create<arith::SelectOp>(location_, past, number_like(0, value), shifted);
}

Value Builder::logical(Pointwise function, ArrayRef<Term> terms) {
  auto v = unify(terms, DType::boolean, spelling(function));
  switch (function) {
  case Pointwise::logical_not: return ir.create<arith::XOrIOp>(location_, v[0], number_like(1, v[0]));
  case Pointwise::logical_and: return ir.create<arith::AndIOp>(location_, v[0], v[1]);
  case Pointwise::logical_or: return ir.create<arith::OrIOp>(location_, v[0], v[1]);
  default: return ir.create<arith::XOrIOp>(location_, v[0], v[1]);
  }
}

Value Builder::where_op(const Term& condition, const Term& a, const Term& b) {
  if (dtype(condition) != DType::boolean)
    fail("the condition of tw::where must be bool, found {}; write a comparison, as in x != 0", describe(condition));
  DType to = promoted({a, b});
  if (is_storage_dtype(dtype(a)) || is_storage_dtype(dtype(b))) {
    bool keeps = is_float8(dtype(a)) && dtype(a) == dtype(b);
    return cast(where_op(condition, widened(a), widened(b)), keeps ? dtype(a) : to);
  }
  SmallVector<Dim> dims = common_dims({condition, a, b}, "tw::where");
  Type element = compute_type({a, b}, to);
  Value chosen = broadcast(scalar(condition, ir.getI1Type()), dims);
  Value result = ir.create<arith::SelectOp>(location_, chosen, broadcast(scalar(a, element), dims),
                                            broadcast(scalar(b, element), dims));
  return note_number(result, {condition, a, b});
}

} // namespace tilewright
