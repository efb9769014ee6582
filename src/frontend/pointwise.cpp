// Pointwise operations: what each line of tilewright/operations.inc becomes.
#include "frontend/formulas.h"

using namespace mlir;

namespace tilewright {
namespace {

// The columns of operations.inc.
enum class OperandDTypes : uint8_t { all, numbers, bits, integers, floats };
enum class ResultDType : uint8_t { keep, floating, boolean };

struct Columns {
  const char* name;
  unsigned operands;
  OperandDTypes dtypes;
  ResultDType result;
};

const Columns& columns_of(Pointwise function) {
  static constexpr Columns columns[] = {
#define TILEWRIGHT_POINTWISE(name, operands, parameters, dtypes, result, ...)                                          \
  {"tw::" #name, operands, OperandDTypes::dtypes, ResultDType::result},
#include "tilewright/operations.inc"
  };
  return columns[static_cast<size_t>(function)];
}

} // namespace

const char* spelling(Pointwise function) {
  switch (function) {
  case Pointwise::add: return "+";
  case Pointwise::sub: return "-";
  case Pointwise::mul: return "*";
  case Pointwise::div: return "/";
  case Pointwise::div_floor:
  case Pointwise::div_trunc: return "tw::div";
  case Pointwise::nan_to_num_as: return "tw::nan_to_num";
  case Pointwise::gelu_tanh: return "tw::gelu";
  case Pointwise::bitwise_not: return "~";
  case Pointwise::bitwise_and: return "&";
  case Pointwise::bitwise_or: return "|";
  case Pointwise::bitwise_xor: return "^";
  case Pointwise::bitwise_left_shift: return "<<";
  case Pointwise::bitwise_right_shift: return ">>";
  case Pointwise::eq: return "==";
  case Pointwise::ne: return "!=";
  case Pointwise::lt: return "<";
  case Pointwise::le: return "<=";
  case Pointwise::gt: return ">";
  case Pointwise::ge: return ">=";
  default: return columns_of(function).name;
  }
}

/// One use of a pointwise operation. Its methods without parameters are what the column `build` names.
class PointwiseCall {
public:
  /// `written` is what the user wrote where `terms` are wider.
  PointwiseCall(Builder& builder, Pointwise function, ArrayRef<Term> terms, ArrayRef<Term> written)
      : b(builder), function_(function), columns_(columns_of(function)), name_(spelling(function)), terms_(terms),
        operands_(terms.take_front(columns_.operands)) {
    promoted_ = b.promoted(operands_);
    check_dtypes(written.take_front(columns_.operands));
    for (const Term& number : terms_.drop_front(columns_.operands))
      if (!b.is_number(number)) b.fail("{} takes numbers after its operands, found {}", name_, b.describe(number));
    dtype_ = columns_.result == ResultDType::floating && !is_floating_point(promoted_) ? DType::float32 : promoted_;
  }

  Value build() {
    switch (function_) {
#define TILEWRIGHT_POINTWISE(name, operands, parameters, dtypes, result, build, ...)                                   \
  case Pointwise::name: return build();
#include "tilewright/operations.inc"
    }
    llvm_unreachable("unknown function");
  }

private:
  //
  // One op, in the dtype itself
  //

  template <class Op> Value one() {
    auto operands = b.unify(terms_, dtype_, name_);
    if constexpr (std::is_same_v<Op, math::Atan2Op>) keep_off_origin(operands[0], operands[1]);
    return create<Op>(operands);
  }
  // MLIR folds atan2(0, 0) of scalars to NaN, where it is atan2(0, 1) or, for x = -0, atan2(0, -1).
  void keep_off_origin(Value y, Value& x) {
    if (isa<RankedTensorType>(x.getType())) return;
    auto is_zero = [&](Value value) -> Value {
      return b.ir.create<arith::CmpFOp>(b.location(), arith::CmpFPredicate::OEQ, value, b.number_like(0, value));
    };
    Value both = b.ir.create<arith::AndIOp>(b.location(), is_zero(y), is_zero(x));
    Value sign = b.ir.create<math::CopySignOp>(b.location(), b.number_like(1, x), x);
    x = b.ir.create<arith::SelectOp>(b.location(), both, sign, x);
  }
  template <Composite function> Value composite() { return expressions(dtype_)[0].composite(function).value; }
  // Integers are whole already.
  template <class Op> Value rounding() {
    return is_floating_point(dtype_) ? one<Op>() : b.unify(terms_, dtype_, name_)[0];
  }

  //
  // Formulas
  //

  // Without rounding errors, so in the dtype itself.
  template <auto function> Value exact() { return apply(function, expressions(dtype_)).value; }
  // 16-bit floats are computed in float32, as PyTorch does, and rounded once.
  template <auto function> Value formula() {
    DType wide = is_16_bit_float(dtype_) ? DType::float32 : dtype_;
    return b.cast(apply(function, expressions(wide)).value, dtype_);
  }

  static Expression apply(Expression (*formula)(Expression), ArrayRef<Expression> x) { return formula(x[0]); }
  static Expression apply(Expression (*formula)(Expression, Expression), ArrayRef<Expression> x) {
    return formula(x[0], x[1]);
  }
  static Expression apply(Expression (*formula)(Expression, Expression, Expression), ArrayRef<Expression> x) {
    return formula(x[0], x[1], x[2]);
  }
  static Expression apply(Expression (*formula)(Expression, Expression, Expression, Expression),
                          ArrayRef<Expression> x) {
    return formula(x[0], x[1], x[2], x[3]);
  }

  //
  // Families that depend on the dtype, or share their work with others (binary.cpp)
  //

  Value arithmetic() { return b.arithmetic(function_, terms_[0], terms_[1]); }
  Value square() {
    Term x = dtype_ == DType::boolean ? Term(b.cast(terms_[0], DType::int64)) : terms_[0];
    return b.arithmetic(Pointwise::mul, x, x);
  }
  Value true_division() { return b.divide(terms_[0], terms_[1]); }
  Value floor_division() {
    return is_floating_point(dtype_) ? formula<formulas::floor_divide>()
                                     : b.divide_integers(function_, terms_[0], terms_[1]);
  }
  Value truncated_division() {
    return is_floating_point(dtype_) ? formula<formulas::div_trunc>()
                                     : b.divide_integers(function_, terms_[0], terms_[1]);
  }
  Value division_remainder() {
    return is_floating_point(dtype_) ? b.float_remainder(function_, terms_[0], terms_[1])
                                     : b.divide_integers(function_, terms_[0], terms_[1]);
  }
  Value power() { return b.pow(terms_[0], terms_[1]); }
  Value comparison() { return b.compare(function_, terms_[0], terms_[1]); }
  Value logic() { return b.logical(function_, terms_); }
  Value bitwise() { return b.bitwise(function_, terms_); }

  // clamp, clamp_min and clamp_max: a NaN in any operand wins.
  Value clamp() {
    auto values = expressions(dtype_);
    Expression result = values[0];
    if (function_ != Pointwise::clamp_max) result = maximum(result, values[1]);
    if (function_ != Pointwise::clamp_min) result = minimum(result, values.back());
    return result.value;
  }

  Value nan_to_num() {
    auto values = expressions(dtype_);
    Expression x = values[0];
    if (!x.is_float()) return x.value;
    if (function_ == Pointwise::nan_to_num_as) return formulas::nan_to_num(x, values[1], values[2], values[3]).value;
    const llvm::fltSemantics& semantics = cast<FloatType>(x.element()).getFloatSemantics();
    double largest = APFloat::getLargest(semantics).convertToDouble();
    return formulas::nan_to_num(x, x.like(0), x.like(largest), x.like(-largest)).value;
  }

  template <class Op> Value create(ArrayRef<Value> values) { return b.ir.create<Op>(b.location(), values); }

  // The operands, then the numbers, in one dtype.
  SmallVector<Expression> expressions(DType dtype) {
    SmallVector<Expression> result;
    SmallVector<Value> values = b.unify(terms_, dtype, name_), operands;
    for (auto [term, value] : llvm::zip(operands_, values))
      if (!term.is_literal() && isa<RankedTensorType>(value.getType())) operands.push_back(value);
    if (operands.size() > 1) b.ir.create<TogetherOp>(b.location(), name_, operands);
    for (auto [term, value] : llvm::zip_equal(terms_, values)) {
      result.push_back({&b, value});
      if (term.is_literal()) result.back().literal = term.as_double();
    }
    return result;
  }

  void check_dtypes(ArrayRef<Term> written) {
    std::string found = b.describe(written[0]);
    for (const Term& operand : written.drop_front()) found += " and " + b.describe(operand);
    bool is_float = is_floating_point(promoted_), is_bool = promoted_ == DType::boolean;
    switch (columns_.dtypes) {
    case OperandDTypes::all: return;
    case OperandDTypes::numbers:
      if (is_bool && function_ == Pointwise::sub)
        b.fail("- does not take two bools; ^ is what differs, tw::logical_not is the opposite");
      if (is_bool) b.fail("{} takes numbers, found {}; convert it with .to(tw::int32)", name_, found);
      return;
    case OperandDTypes::bits:
      if (is_float && function_ == Pointwise::bitwise_not)
        b.fail("~ takes integers or bools, found {}; tw::logical_not(x) is x == 0", found);
      if (is_float)
        b.fail("{} takes integers or bools, found {}; compare floating point first, as in x > 0", name_, found);
      return;
    case OperandDTypes::integers:
      if (is_float || is_bool) b.fail("{} takes integers, found {}; convert it with .to(tw::int32)", name_, found);
      return;
    case OperandDTypes::floats:
      if (!is_float) b.fail("{} takes floating point, found {}; convert it with .to(tw::float32)", name_, found);
      return;
    }
  }

  Builder& b;
  Pointwise function_;
  const Columns& columns_;
  const char* name_;
  ArrayRef<Term> terms_, operands_;
  DType promoted_, dtype_;
};

Value Builder::pointwise(Pointwise function, ArrayRef<Term> terms) {
  if (llvm::none_of(terms, [&](const Term& term) { return is_storage_dtype(dtype(term)); }))
    return note_number(PointwiseCall(*this, function, terms, terms).build(), terms);
  const Columns& columns = columns_of(function);
  DType kept = promoted(terms.take_front(columns.operands));
  if (kept == DType::uint8 && function == Pointwise::hardtanh)
    for (const Term& limit : terms.drop_front(columns.operands))
      if (limit.is_literal() && limit.as_double() < 0)
        fail("tw::hardtanh of uint8 with the limit {}, which is below all of its numbers", limit.as_double());
  SmallVector<Term> wide;
  for (auto [i, term] : llvm::enumerate(terms)) {
    const bool is_byte = kept == DType::uint8 && i < columns.operands;
    // A number beside a uint8 is one, modulo 256.
    if (is_byte && term.kind == Term::Kind::integer)
      wide.push_back(Term::integer_literal(term.integer & 0xff));
    else
      wide.push_back(widened(is_byte ? Term(cast(term, kept)) : term));
  }
  Value result = PointwiseCall(*this, function, wide, terms).build();
  return columns.result == ResultDType::keep ? cast(result, kept) : result;
}

} // namespace tilewright
