// Operators and functions of two and three arguments, element by element.
#include "frontend/builder.h"

using namespace mlir;

namespace tilewright {

const char* spelling(Binary function) {
  switch (function) {
  case Binary::add: return "+";
  case Binary::subtract: return "-";
  case Binary::multiply: return "*";
  case Binary::divide: return "/";
  case Binary::modulo: return "%";
  case Binary::remainder: return "tw::remainder";
  case Binary::fmod: return "tw::fmod";
  case Binary::floor_divide: return "tw::floor_divide";
  case Binary::maximum: return "tw::maximum";
  case Binary::minimum: return "tw::minimum";
  case Binary::pow: return "tw::pow";
  case Binary::atan2: return "tw::atan2";
  case Binary::bit_and: return "&";
  case Binary::bit_or: return "|";
  case Binary::bit_xor: return "^";
  case Binary::logical_and: return "tw::logical_and";
  case Binary::logical_or: return "tw::logical_or";
  case Binary::equal: return "==";
  case Binary::not_equal: return "!=";
  case Binary::less: return "<";
  case Binary::less_equal: return "<=";
  case Binary::greater: return ">";
  case Binary::greater_equal: return ">=";
  }
  llvm_unreachable("unknown function");
}

Value Builder::binary(Binary function, const Term& a, const Term& b) {
  auto build = [&]() -> Value {
    switch (function) {
    case Binary::add:
    case Binary::subtract:
    case Binary::multiply:
    case Binary::maximum:
    case Binary::minimum: return arithmetic(function, a, b);
    case Binary::divide: return divide(a, b);
    case Binary::modulo:
      if (is_floating_point(promoted({a, b})))
        fail("% takes integers, found {} and {}; for floating point there are tw::remainder and tw::fmod", describe(a),
             describe(b));
      return divide_integers(function, a, b);
    case Binary::remainder:
    case Binary::fmod:
      return is_floating_point(promoted({a, b})) ? float_remainder(function, a, b) : divide_integers(function, a, b);
    case Binary::floor_divide:
      if (is_floating_point(promoted({a, b})))
        fail("tw::floor_divide takes integers, found {} and {}; for floating point there is tw::floor(a / b)",
             describe(a), describe(b));
      return divide_integers(function, a, b);
    case Binary::pow: return pow(a, b);
    case Binary::atan2: {
      DType dtype = promoted({a, b});
      auto v = unify({a, b}, is_floating_point(dtype) ? dtype : DType::float32, spelling(function));
      return ir.create<math::Atan2Op>(location_, v[0], v[1]);
    }
    case Binary::bit_and:
    case Binary::bit_or:
    case Binary::bit_xor: return bitwise(function, a, b);
    case Binary::logical_and:
    case Binary::logical_or: return logical(function, a, b);
    default: return compare(function, a, b);
    }
  };
  return note_number(build(), {a, b});
}

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

Value Builder::arithmetic(Binary function, const Term& a, const Term& b) {
  DType dtype = promoted({a, b});
  bool exact = function == Binary::maximum || function == Binary::minimum;
  bool widen = !exact && needs_wider_arithmetic({a, b}, dtype);
  auto v = unify({a, b}, widen ? DType::float32 : dtype, spelling(function));
  Value result;
  switch (function) {
  case Binary::add:
    result = create_by_type<arith::AddFOp, arith::AddIOp, arith::OrIOp>(ir, location_, v[0], v[1]);
    break;
  case Binary::subtract:
    if (dtype == DType::boolean) fail("- does not take two bools; ^ is what differs, tw::logical_not is the opposite");
    result = create_by_type<arith::SubFOp, arith::SubIOp, arith::SubIOp>(ir, location_, v[0], v[1]);
    break;
  case Binary::multiply:
    result = create_by_type<arith::MulFOp, arith::MulIOp, arith::AndIOp>(ir, location_, v[0], v[1]);
    break;
  case Binary::maximum:
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

Value Builder::divide_integers(Binary function, const Term& a, const Term& b) {
  DType dtype = promoted({a, b});
  if (dtype == DType::boolean) fail("{} takes integers, found {} and {}", spelling(function), describe(a), describe(b));
  if (b.kind == Term::Kind::integer && b.integer == 0) fail("{} by zero", spelling(function));
  auto v = unify({a, b}, dtype, spelling(function));
  if (function == Binary::floor_divide) return ir.create<arith::FloorDivSIOp>(location_, v[0], v[1]);
  Value remainder = ir.create<arith::RemSIOp>(location_, v[0], v[1]);
  if (function == Binary::fmod) return remainder;
  // The remainder has the dividend's sign; where it is not 0 and differs from the divisor's, it is one divisor off.
  Value zero = number_like(0, remainder);
  Value signs = ir.create<arith::XOrIOp>(location_, remainder, v[1]);
  Value differs = ir.create<arith::CmpIOp>(location_, arith::CmpIPredicate::slt, signs, zero);
  Value inexact = ir.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ne, remainder, zero);
  Value off = ir.create<arith::AndIOp>(location_, differs, inexact);
  Value corrected = ir.create<arith::AddIOp>(location_, remainder, v[1]);
  return ir.create<arith::SelectOp>(location_, off, corrected, remainder);
}

Value Builder::float_remainder(Binary function, const Term& a, const Term& b) {
  DType dtype = promoted({a, b});
  bool widen = needs_wider_arithmetic({a, b}, dtype);
  auto v = unify({a, b}, widen ? DType::float32 : dtype, spelling(function));
  Value result = ir.create<arith::RemFOp>(location_, v[0], v[1]);
  if (function == Binary::remainder) {
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
    if (power & 1) result = result ? builder.binary(Binary::multiply, result, square) : square;
    if (power > 1) square = builder.binary(Binary::multiply, square, square);
  }
  return result;
}

Value Builder::pow(const Term& base, const Term& exponent) {
  DType dtype = promoted({base, exponent});
  if (!is_floating_point(dtype)) {
    if (exponent.kind != Term::Kind::integer || exponent.integer < 0)
      fail("tw::pow raises integers only to a whole number from 0 on that is known while recording, found {}; convert "
           "the base with .to(tw::float32)",
           describe(exponent));
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

Value Builder::compare(Binary function, const Term& a, const Term& b) {
  DType dtype = promoted({a, b});
  auto v = unify({a, b}, dtype, spelling(function));
  bool is_bool = dtype == DType::boolean; // false < true, so unsigned
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  auto [float_predicate, int_predicate] = [&]() -> std::pair<F, I> {
    switch (function) {
    case Binary::equal: return {F::OEQ, I::eq};
    case Binary::not_equal: return {F::UNE, I::ne};
    case Binary::less: return {F::OLT, is_bool ? I::ult : I::slt};
    case Binary::less_equal: return {F::OLE, is_bool ? I::ule : I::sle};
    case Binary::greater: return {F::OGT, is_bool ? I::ugt : I::sgt};
    default: return {F::OGE, is_bool ? I::uge : I::sge};
    }
  }();
  if (is_floating_point(dtype)) return ir.create<arith::CmpFOp>(location_, float_predicate, v[0], v[1]);
  return ir.create<arith::CmpIOp>(location_, int_predicate, v[0], v[1]);
}

Value Builder::bitwise(Binary function, const Term& a, const Term& b) {
  DType dtype = promoted({a, b});
  if (is_floating_point(dtype))
    fail("{} takes integers or bools, found {} and {}; compare floating point first, as in x > 0", spelling(function),
         describe(a), describe(b));
  auto v = unify({a, b}, dtype, spelling(function));
  if (function == Binary::bit_and) return ir.create<arith::AndIOp>(location_, v[0], v[1]);
  if (function == Binary::bit_or) return ir.create<arith::OrIOp>(location_, v[0], v[1]);
  return ir.create<arith::XOrIOp>(location_, v[0], v[1]);
}

Value Builder::truth(const Term& x) { return unify({x}, DType::boolean, "the operand")[0]; }

Value Builder::logical(Binary function, const Term& a, const Term& b) {
  auto v = unify({a, b}, DType::boolean, spelling(function));
  if (function == Binary::logical_and) return ir.create<arith::AndIOp>(location_, v[0], v[1]);
  return ir.create<arith::OrIOp>(location_, v[0], v[1]);
}

Value Builder::where_op(const Term& condition, const Term& a, const Term& b) {
  if (dtype(condition) != DType::boolean)
    fail("the condition of tw::where must be bool, found {}; write a comparison, as in x != 0", describe(condition));
  DType to = promoted({a, b});
  SmallVector<Dim> dims = common_dims({condition, a, b}, "tw::where");
  Type element = compute_type({a, b}, to);
  Value chosen = broadcast(scalar(condition, ir.getI1Type()), dims);
  Value result = ir.create<arith::SelectOp>(location_, chosen, broadcast(scalar(a, element), dims),
                                            broadcast(scalar(b, element), dims));
  return note_number(result, {condition, a, b});
}

Value Builder::clamp(const Term& x, const Term& low, const Term& high) {
  DType dtype = promoted({x, low, high});
  if (dtype == DType::boolean) fail("tw::clamp takes numbers, found {}", describe(x));
  auto v = unify({x, low, high}, dtype, "tw::clamp");
  Value raised = arithmetic(Binary::maximum, v[0], v[1]);
  return note_number(arithmetic(Binary::minimum, raised, v[2]), {x, low, high});
}

} // namespace tilewright
