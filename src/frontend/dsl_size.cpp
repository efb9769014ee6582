// tw::Size, tw::Condition and tw::check.
#include "frontend/recording.h"

#include "support/error.h"

#include "llvm/ADT/STLExtras.h"

namespace tilewright {

using detail::Recording;

// a op b, exact in the sizes it depends on where an operand does depend on some.
template <class Operation> static Size compute(const Size& a, const Size& b, int64_t value, Operation&& operation) {
  if (a.symbol().index == 0 && b.symbol().index == 0) return Size(value);
  Recording& recording = Recording::require({}, "arithmetic with sizes of tensors");
  return recording.size(operation(recording.dim(a), recording.dim(b)));
}

Size operator+(const Size& a, const Size& b) {
  return compute(a, b, a.traced_value() + b.traced_value(), [](const Dim& x, const Dim& y) { return x + y; });
}
Size operator-(const Size& a, const Size& b) {
  return compute(a, b, a.traced_value() - b.traced_value(), [](const Dim& x, const Dim& y) { return x - y; });
}
Size operator*(const Size& a, const Size& b) {
  return compute(a, b, a.traced_value() * b.traced_value(), [](const Dim& x, const Dim& y) { return x * y; });
}

// An error in host arithmetic, whose operators know no line: that of the kernel has to do.
template <class... Args>
[[noreturn]] static void fail_in_host_arithmetic(fmt::format_string<Args...> message, Args&&... args) {
  Recording* recording = Recording::current();
  fail(recording ? recording->definition().location : SourceLocation(), message, std::forward<Args>(args)...);
}

// What an operation on sizes gave: a plain number, on which the recording depends from here on.
static Size outcome(Guard::Kind operation, const Size& a, const Size& b) {
  if (a.symbol().index == 0 && b.symbol().index == 0)
    return Size(Guard::evaluate(operation, a.traced_value(), b.traced_value()));
  Recording& recording = Recording::require({}, "arithmetic with sizes of tensors");
  return Size(recording.dimensions().result(operation, recording.dim(a), recording.dim(b)));
}

Size specialize(const Size& size) {
  if (size.symbol().index == 0) return size;
  Recording& recording = Recording::require({}, "a size of a tensor");
  return Size(recording.dimensions().settled(recording.dim(size)));
}

Size operator/(const Size& a, const Size& b) {
  if (b.traced_value() == 0) fail_in_host_arithmetic("a size, {}, is divided by 0", a.traced_value());
  return outcome(Guard::Kind::Quotient, a, b);
}
Size operator%(const Size& a, const Size& b) {
  if (b.traced_value() == 0) fail_in_host_arithmetic("a size, {}, is divided by 0", a.traced_value());
  return outcome(Guard::Kind::Remainder, a, b);
}

Size min(const Size& a, const Size& b) { return a <= b ? a : b; }
Size max(const Size& a, const Size& b) { return a >= b ? a : b; }

Size cdiv(const Size& a, const Size& b) {
  if (b.traced_value() <= 0 || a.traced_value() < 0)
    fail_in_host_arithmetic("tw::cdiv takes a >= 0 and b > 0, found {} and {}", a.traced_value(), b.traced_value());
  return outcome(Guard::Kind::CeilQuotient, a, b);
}

Size next_power_of_2(const Size& n) { return outcome(Guard::Kind::PowerOfTwo, n, Size(0)); }

#define TILEWRIGHT_COMPARISON(op, name)                                                                                \
  Condition operator op(const Size& a, const Size& b) {                                                                \
    return Condition(Condition::Comparison::name, a, b, a.traced_value() op b.traced_value());                         \
  }
TILEWRIGHT_COMPARISON(==, equal)
TILEWRIGHT_COMPARISON(!=, not_equal)
TILEWRIGHT_COMPARISON(<, less)
TILEWRIGHT_COMPARISON(<=, less_equal)
TILEWRIGHT_COMPARISON(>, greater)
TILEWRIGHT_COMPARISON(>=, greater_equal)
#undef TILEWRIGHT_COMPARISON

bool Condition::value() const {
  switch (comparison_) {
  case Comparison::equal: outcome(Guard::Kind::Equal, left_, right_); break;
  case Comparison::not_equal: outcome(Guard::Kind::NotEqual, left_, right_); break;
  case Comparison::less: outcome(Guard::Kind::Less, left_, right_); break;
  case Comparison::less_equal: outcome(Guard::Kind::LessEqual, left_, right_); break;
  case Comparison::greater: outcome(Guard::Kind::Less, right_, left_); break;
  case Comparison::greater_equal: outcome(Guard::Kind::LessEqual, right_, left_); break;
  }
  return value_;
}

namespace detail {

static mlir::arith::CmpIPredicate predicate_of(Condition::Comparison comparison) {
  using Predicate = mlir::arith::CmpIPredicate;
  switch (comparison) {
  case Condition::Comparison::equal: return Predicate::eq;
  case Condition::Comparison::not_equal: return Predicate::ne;
  case Condition::Comparison::less: return Predicate::slt;
  case Condition::Comparison::less_equal: return Predicate::sle;
  case Condition::Comparison::greater: return Predicate::sgt;
  case Condition::Comparison::greater_equal: return Predicate::sge;
  }
  llvm_unreachable("unknown comparison");
}

// The message with each {} replaced by a value.
static std::string filled(llvm::StringRef message, std::span<const Size> values) {
  std::string text;
  for (const Size& value : values) {
    auto [before, after] = message.split("{}");
    text += before.str() + fmt::format("{}", value.traced_value());
    message = after;
  }
  return text + message.str();
}

void check(const Check& check, const char* message, const Size* values, int count) {
  Recording& recording = Recording::require(check.location, "tw::check");
  Builder& builder = recording.host(check.location, "tw::check");
  int places = static_cast<int>(llvm::StringRef(message).count("{}"));
  if (places != count)
    builder.fail("the message of tw::check has {} {{}} for {} values: \"{}\"", places, count, message);
  std::span<const Size> list(values, count);
  if (!check.holds) builder.fail("{}", filled(message, list));
  if (!check.condition) return; // a C++ bool: settled
  const Condition& condition = *check.condition;
  Dim left = recording.dim(condition.left()), right = recording.dim(condition.right());
  if ((left - right).constant()) return; // holds for all sizes
  mlir::Value holds = builder.ir.create<mlir::arith::CmpIOp>(builder.location(), predicate_of(condition.comparison()),
                                                             builder.extent(left), builder.extent(right));
  auto extents = llvm::map_to_vector(list, [&](const Size& size) { return builder.extent(recording.dim(size)); });
  builder.ir.create<CheckOp>(builder.location(), holds, message, extents);
}

} // namespace detail
} // namespace tilewright
