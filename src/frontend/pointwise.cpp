// Functions of one argument, element by element; a line each in tilewright/pointwise_functions.inc.
#include "frontend/builder.h"

using namespace mlir;

namespace tilewright {

/// How the entries of pointwise_functions.inc are built. `x` is the user's operand; `name` is for messages.
class UnaryFunctions {
public:
  explicit UnaryFunctions(Builder& builder) : b(builder) {}

  Value build(Unary function, const Term& x) {
    const char* name = spelling(function);
    switch (function) {
#define TILEWRIGHT_UNARY(function_name, ...)                                                                           \
  case Unary::function_name: return __VA_ARGS__(x, name);
#include "tilewright/pointwise_functions.inc"
    }
    llvm_unreachable("unknown function");
  }

private:
  template <class Op, class... Args> Value create(Args&&... args) {
    return b.ir.create<Op>(b.location(), std::forward<Args>(args)...);
  }

  template <class Op> Value floating(const Term& x, const char* name) {
    return create<Op>(b.floating_operand(x, name));
  }

  template <Composite function> Value composite(const Term& x, const char* name) {
    Value value = b.floating_operand(x, name);
    return create<CompositeOp>(value.getType(), function, value);
  }

  template <class Op> Value rounding(const Term& x, const char* name) {
    DType dtype = b.dtype(x);
    if (dtype == DType::boolean) b.fail("{} takes numbers, found {}", name, b.describe(x));
    if (is_integral(dtype)) return b.unify({x}, dtype, name)[0];
    return floating<Op>(x, name);
  }

  Value arithmetic_operand(const Term& x, const char* name) {
    if (b.dtype(x) == DType::boolean)
      b.fail("{} takes numbers, found {}; convert it with .to(tw::int32)", name, b.describe(x));
    return b.unify({x}, b.dtype(x), name)[0];
  }

  Value absolute(const Term& x, const char* name) {
    Value value = arithmetic_operand(x, name);
    if (isa<FloatType>(element_type(value.getType()))) return create<math::AbsFOp>(value);
    if (!value.getType().isIndex()) return create<math::AbsIOp>(value);
    return create<arith::MaxSIOp>(value, Value(create<arith::SubIOp>(b.index_constant(0), value)));
  }

  Value negative(const Term& x, const char* name) {
    Value value = arithmetic_operand(x, name);
    if (isa<FloatType>(element_type(value.getType()))) return create<arith::NegFOp>(value);
    return create<arith::SubIOp>(b.number_like(0, value), value);
  }

  Value relu(const Term& x, const char* name) {
    arithmetic_operand(x, name);
    return b.binary(Binary::maximum, x, Term::integer_literal(0));
  }

  Value square(const Term& x, const char*) { return b.binary(Binary::multiply, x, x); }

  Value reciprocal(const Term& x, const char* name) {
    return b.binary(Binary::divide, Term::integer_literal(1), b.floating_operand(x, name));
  }

  Value logical_not(const Term& x, const char*) {
    Value value = b.truth(x);
    return create<arith::XOrIOp>(value, b.number_like(1, value));
  }

  // Integers are finite and no NaN.
  Value of_finite(const Term& x, bool answer) {
    Value value = b.unify({x}, b.dtype(x), "the operand")[0];
    return b.splat_like(b.constant(b.ir.getBoolAttr(answer)), value);
  }

  Value is_nan(const Term& x, const char* name) {
    if (!is_floating_point(b.dtype(x))) return of_finite(x, false);
    Value value = b.floating_operand(x, name);
    return create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
  }

  Value compare_magnitude_to_infinity(const Term& x, const char* name, arith::CmpFPredicate predicate) {
    Value magnitude = floating<math::AbsFOp>(x, name);
    Value infinity = b.number_like(std::numeric_limits<double>::infinity(), magnitude);
    return create<arith::CmpFOp>(predicate, magnitude, infinity);
  }
  Value is_infinite(const Term& x, const char* name) {
    if (!is_floating_point(b.dtype(x))) return of_finite(x, false);
    return compare_magnitude_to_infinity(x, name, arith::CmpFPredicate::OEQ);
  }
  Value is_finite(const Term& x, const char* name) {
    if (!is_floating_point(b.dtype(x))) return of_finite(x, true);
    return compare_magnitude_to_infinity(x, name, arith::CmpFPredicate::OLT);
  }

  Builder& b;
};

Value Builder::floating_operand(const Term& x, const char* name) {
  DType own = dtype(x);
  return unify({x}, is_floating_point(own) ? own : DType::float32, name)[0];
}

Value Builder::unary(Unary function, const Term& x) {
  return note_number(UnaryFunctions(*this).build(function, x), {x});
}

Value Builder::gelu(const Term& x, bool by_tanh) {
  Value value = floating_operand(x, "tw::gelu");
  return ir.create<CompositeOp>(location_, value.getType(), by_tanh ? Composite::GeluTanh : Composite::Gelu, value);
}

const char* spelling(Unary function) {
  switch (function) {
#define TILEWRIGHT_UNARY(name, ...)                                                                                    \
  case Unary::name: return "tw::" #name;
#include "tilewright/pointwise_functions.inc"
  }
  llvm_unreachable("unknown function");
}

} // namespace tilewright
