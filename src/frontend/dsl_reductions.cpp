// The functions of tilewright/reductions.h and tilewright/scan.h, and the methods of tw::Value by the same names.
#include "frontend/dsl_record.h"

#include "llvm/ADT/STLExtras.h"

namespace tilewright {

using detail::list_of;
using detail::record;
using detail::Recording;

//===----------------------------------------------------------------------===//
// One signature: x, dims, keepdim
//===----------------------------------------------------------------------===//

#define TILEWRIGHT_REDUCTION(name, build)                                                                              \
  Value name(const Operand& x, const Dims& dims, bool keepdim, SourceLocation location) {                              \
    return record(location, "tw::" #name, [&](Builder& b, Term* t) { return build; }, x);                              \
  }                                                                                                                    \
  Value Value::name(const Dims& dims, bool keepdim, SourceLocation location) const {                                   \
    return tilewright::name(Operand(*this, location), dims, keepdim, location);                                        \
  }
TILEWRIGHT_REDUCTION(prod, b.prod(t[0], list_of(dims), keepdim))
TILEWRIGHT_REDUCTION(any, b.any_or_all(Reduction::Or, t[0], list_of(dims), keepdim))
TILEWRIGHT_REDUCTION(all, b.any_or_all(Reduction::And, t[0], list_of(dims), keepdim))
TILEWRIGHT_REDUCTION(count_nonzero, b.count_nonzero(t[0], list_of(dims), keepdim))
TILEWRIGHT_REDUCTION(logsumexp, b.logsumexp(t[0], list_of(dims), keepdim))
#undef TILEWRIGHT_REDUCTION

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static Value arg_extremum(bool largest, const Operand& x, std::optional<int> dim, bool keepdim,
                          const SourceLocation& location) {
  const char* what = largest ? "tw::argmax" : "tw::argmin";
  return record(
      location, what, [&](Builder& b, Term* t) { return b.arg_extremum(what, largest, t[0], dim, keepdim).second; }, x);
}
Value argmax(const Operand& x, SourceLocation location) { return arg_extremum(true, x, std::nullopt, false, location); }
Value argmin(const Operand& x, SourceLocation location) {
  return arg_extremum(false, x, std::nullopt, false, location);
}
Value argmax(const Operand& x, int dim, bool keepdim, SourceLocation location) {
  return arg_extremum(true, x, dim, keepdim, location);
}
Value argmin(const Operand& x, int dim, bool keepdim, SourceLocation location) {
  return arg_extremum(false, x, dim, keepdim, location);
}
Value Value::argmax(SourceLocation location) const { return tilewright::argmax(Operand(*this, location), location); }
Value Value::argmin(SourceLocation location) const { return tilewright::argmin(Operand(*this, location), location); }
Value Value::argmax(int dim, bool keepdim, SourceLocation location) const {
  return tilewright::argmax(Operand(*this, location), dim, keepdim, location);
}
Value Value::argmin(int dim, bool keepdim, SourceLocation location) const {
  return tilewright::argmin(Operand(*this, location), dim, keepdim, location);
}

#define TILEWRIGHT_EXTREMUM(name, largest)                                                                             \
  Value Value::name(SourceLocation location) const { return a##name(Dims(), false, location); }                        \
  std::pair<Value, Value> Value::name(int dim, bool keepdim, SourceLocation location) const {                          \
    auto build = [&](Builder& b, const Term& t) { return b.arg_extremum("." #name "()", largest, t, dim, keepdim); };  \
    return detail::record_pair(location, "." #name "()", build, Operand(*this, location));                             \
  }
TILEWRIGHT_EXTREMUM(max, true)
TILEWRIGHT_EXTREMUM(min, false)
#undef TILEWRIGHT_EXTREMUM

Value var(const Operand& x, const Dims& dims, double correction, bool keepdim, SourceLocation location) {
  return record(
      location, "tw::var",
      [&](Builder& b, Term* t) { return b.variance("tw::var", t[0], list_of(dims), correction, keepdim, false).first; },
      x);
}
Value std(const Operand& x, const Dims& dims, double correction, bool keepdim, SourceLocation location) {
  return record(
      location, "tw::std",
      [&](Builder& b, Term* t) { return b.variance("tw::std", t[0], list_of(dims), correction, keepdim, true).first; },
      x);
}
std::pair<Value, Value> var_mean(const Operand& x, const Dims& dims, double correction, bool keepdim,
                                 SourceLocation location) {
  return detail::record_pair(
      location, "tw::var_mean",
      [&](Builder& b, const Term& t) {
        return b.variance("tw::var_mean", t, list_of(dims), correction, keepdim, false);
      },
      x);
}
Value Value::var(const Dims& dims, double correction, bool keepdim, SourceLocation location) const {
  return tilewright::var(Operand(*this, location), dims, correction, keepdim, location);
}
Value Value::std(const Dims& dims, double correction, bool keepdim, SourceLocation location) const {
  return tilewright::std(Operand(*this, location), dims, correction, keepdim, location);
}

Value log_softmax(const Operand& x, int dim, SourceLocation location) {
  return record(location, "tw::log_softmax", [&](Builder& b, Term* t) { return b.log_softmax(t[0], dim); }, x);
}
Value Value::log_softmax(int dim, SourceLocation location) const {
  return tilewright::log_softmax(Operand(*this, location), dim, location);
}

Value norm(const Operand& x, double p, const Dims& dims, bool keepdim, SourceLocation location) {
  return record(location, "tw::norm", [&](Builder& b, Term* t) { return b.norm(t[0], p, list_of(dims), keepdim); }, x);
}
Value Value::norm(double p, const Dims& dims, bool keepdim, SourceLocation location) const {
  return tilewright::norm(Operand(*this, location), p, dims, keepdim, location);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

#define TILEWRIGHT_SCAN(name, kind)                                                                                    \
  Value name(const Operand& x, int dim, SourceLocation location) {                                                     \
    return record(location, "tw::" #name, [&](Builder& b, Term* t) { return b.cumulate(kind, t[0], dim); }, x);        \
  }                                                                                                                    \
  Value Value::name(int dim, SourceLocation location) const {                                                          \
    return tilewright::name(Operand(*this, location), dim, location);                                                  \
  }
TILEWRIGHT_SCAN(cumsum, Reduction::Add)
TILEWRIGHT_SCAN(cumprod, Reduction::Mul)
#undef TILEWRIGHT_SCAN

#define TILEWRIGHT_SCAN(name, largest)                                                                                 \
  std::pair<Value, Value> name(const Operand& x, int dim, SourceLocation location) {                                   \
    auto build = [&](Builder& b, const Term& t) { return b.cumulate_extremum(largest, t, dim); };                      \
    return detail::record_pair(location, "tw::" #name, build, x);                                                      \
  }                                                                                                                    \
  std::pair<Value, Value> Value::name(int dim, SourceLocation location) const {                                        \
    return tilewright::name(Operand(*this, location), dim, location);                                                  \
  }
TILEWRIGHT_SCAN(cummax, true)
TILEWRIGHT_SCAN(cummin, false)
#undef TILEWRIGHT_SCAN

//===----------------------------------------------------------------------===//
// Combiners of the user
//===----------------------------------------------------------------------===//

namespace detail {

// The sources of a combiner, and its calls.
struct CombinerCall {
  CombinerCall(const char* what, const Operand* sources, size_t count, const Combiner& combiner,
               const SourceLocation& location)
      : recording(Recording::require(location, what)), builder(recording.device(location, what)), combiner(combiner),
        location(location) {
    llvm::SmallVector<Term> terms;
    for (size_t i = 0; i < count; ++i) terms.push_back(recording.term(sources[i]));
    values = builder.combiner_sources(what, terms);
  }
  llvm::SmallVector<mlir::Value> operator()(mlir::ValueRange left, mlir::ValueRange right) {
    return recording.combined(combiner, left, right, location);
  }
  void give(llvm::ArrayRef<mlir::Value> from, Value* results) {
    for (auto [i, value] : llvm::enumerate(from)) results[i] = Value(recording.new_variable(value));
  }

  Recording& recording;
  Builder& builder;
  Combiner combiner;
  SourceLocation location;
  llvm::SmallVector<mlir::Value> values;
};

void reduce(const Operand* sources, size_t count, const Dims& dims, const Operand* other, bool keepdim,
            const Combiner& combiner, Value* results, const SourceLocation& location) {
  CombinerCall call("tw::reduce", sources, count, combiner, location);
  Builder& builder = call.builder;
  llvm::SmallVector<int64_t> over = builder.reduced_dims("tw::reduce", list_of(dims), call.values[0]);
  llvm::SmallVector<mlir::Value> none, reduced = call.values;
  for (size_t i = 0; i < count; ++i) {
    Term term = call.recording.term(other[i]);
    if (builder.rank(term) != 0)
      builder.fail("`other` of tw::reduce is a number or a scalar, found {}", builder.describe(term));
    none.push_back(builder.cast(term, builder.dtype(call.values[i])));
  }
  for (int64_t dim : llvm::reverse(over)) {
    reduced = builder.combine(reduced, none, dim, call);
    builder.at(location);
  }
  if (keepdim)
    for (mlir::Value& value : reduced) value = builder.keep_dims(value, over);
  call.give(reduced, results);
}

void scan(const Operand* sources, size_t count, int dim, bool reverse, const Combiner& combiner, Value* results,
          const SourceLocation& location) {
  CombinerCall call("tw::associative_scan", sources, count, combiner, location);
  int64_t along = call.builder.reduced_dims("tw::associative_scan", {dim}, call.values[0])[0];
  call.give(call.builder.scan(call.values, along, reverse, call), results);
}

} // namespace detail
} // namespace tilewright
