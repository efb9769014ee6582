// How a function of the DSL is recorded.
#pragma once

#include "frontend/recording.h"

namespace tilewright::detail {

/// Runs `build` on the builder at the user's line, with the operands as terms, and makes its result a value.
template <class Build, class... Operands>
Value record(const SourceLocation& location, const char* what, Build&& build, const Operands&... operands) {
  Recording& recording = Recording::require(location, what);
  Builder& builder = recording.device(location, what);
  Term terms[] = {recording.term(operands)...}; // in order
  return Value(recording.new_variable(build(builder, terms)));
}

/// The same for a pair of results.
template <class Build>
std::pair<Value, Value> record_pair(const SourceLocation& location, const char* what, Build&& build, const Operand& x) {
  Recording& recording = Recording::require(location, what);
  Builder& builder = recording.device(location, what);
  Term term = recording.term(x);
  auto [first, second] = build(builder, term);
  Value a(recording.new_variable(first));
  return {a, Value(recording.new_variable(second))};
}

inline llvm::ArrayRef<int> list_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

} // namespace tilewright::detail
