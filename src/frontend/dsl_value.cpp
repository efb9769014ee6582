// tw::Value: variables, methods and operators.
#include "frontend/recording.h"

#include "support/error.h"

namespace tilewright {

using detail::Recording;

Dims::Dims(std::initializer_list<int> dims) {
  if (dims.size() > kMost) fail("a value has at most {} dimensions, found a list of {}", kMost, dims.size());
  for (int dim : dims) dims_[count_++] = dim;
}

Value::Value(const Value& other) {
  Recording* recording = Recording::current();
  if (!recording || other.variable_.index == 0)
    variable_ = other.variable_;
  else
    variable_ = recording->new_variable(recording->read(other.variable_));
}

Value& Value::operator=(const Value& other) & {
  if (this == &other) return *this;
  Recording& recording = Recording::require({}, "assigning to a tw::Value");
  recording.assign(variable_, recording.read(other.variable_));
  return *this;
}

static Term term_of(const Value& value, const SourceLocation& location, const char* what) {
  Recording& recording = Recording::require(location, what);
  recording.device(location, what);
  return recording.read(value.variable());
}

DType Value::dtype(SourceLocation location) const {
  Term term = term_of(*this, location, "dtype()");
  return Recording::current()->at(location).dtype(term);
}

int Value::rank(SourceLocation location) const {
  Term term = term_of(*this, location, "rank()");
  return static_cast<int>(Recording::current()->at(location).rank(term));
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

static Value subscripted(const Value& value, std::initializer_list<TensorIndex> list) {
  const SourceLocation& location = list.begin()->location();
  Term term = term_of(value, location, "[]");
  Recording& recording = *Recording::current();
  auto subscripts = recording.subscripts({list.begin(), list.size()});
  return Value(recording.new_variable(recording.at(location).subscript(term, subscripts)));
}

Value Value::operator[](const TensorIndex& a) const { return subscripted(*this, {a}); }
Value Value::operator[](const TensorIndex& a, const TensorIndex& b) const { return subscripted(*this, {a, b}); }
Value Value::operator[](const TensorIndex& a, const TensorIndex& b, const TensorIndex& c) const {
  return subscripted(*this, {a, b, c});
}
Value Value::operator[](const TensorIndex& a, const TensorIndex& b, const TensorIndex& c, const TensorIndex& d) const {
  return subscripted(*this, {a, b, c, d});
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

// The line of an operator is that of its first operand that knows one.
static Value operate(Pointwise function, const Operand& a, const Operand& b) {
  SourceLocation location = a.location().known() ? a.location() : b.location();
  const char* what = spelling(function);
  Recording& recording = Recording::require(location, what);
  Builder& builder = recording.device(location, what);
  Term left = recording.term(a), right = recording.term(b);
  return Value(recording.new_variable(builder.pointwise(function, {left, right})));
}

// Those that have a compound form.
#define TILEWRIGHT_WITH_COMPOUND(X)                                                                                    \
  X(+, add)                                                                                                            \
  X(-, sub)                                                                                                            \
  X(*, mul)                                                                                                            \
  X(/, div)                                                                                                            \
  X(%, remainder)                                                                                                      \
  X(&, bitwise_and)                                                                                                    \
  X(|, bitwise_or)                                                                                                     \
  X(^, bitwise_xor)                                                                                                    \
  X(<<, bitwise_left_shift)                                                                                            \
  X(>>, bitwise_right_shift)

#define TILEWRIGHT_OPERATOR(op, name)                                                                                  \
  Value operator op(const Operand& a, const Operand& b) { return operate(Pointwise::name, a, b); }
TILEWRIGHT_WITH_COMPOUND(TILEWRIGHT_OPERATOR)
TILEWRIGHT_OPERATOR(==, eq)
TILEWRIGHT_OPERATOR(!=, ne)
TILEWRIGHT_OPERATOR(<, lt)
TILEWRIGHT_OPERATOR(<=, le)
TILEWRIGHT_OPERATOR(>, gt)
TILEWRIGHT_OPERATOR(>=, ge)
#undef TILEWRIGHT_OPERATOR

#define TILEWRIGHT_OPERATOR(op, name)                                                                                  \
  Value& Value::operator op##=(const Operand & other)& {                                                               \
    return *this = operate(Pointwise::name, Operand(*this, other.location()), other);                                  \
  }
TILEWRIGHT_WITH_COMPOUND(TILEWRIGHT_OPERATOR)
#undef TILEWRIGHT_OPERATOR

Value operator-(const Operand& x) { return neg(x, x.location()); }
Value operator!(const Value& x) { return logical_not(x, SourceLocation()); }
Value operator~(const Operand& x) { return bitwise_not(x, x.location()); }

} // namespace tilewright
