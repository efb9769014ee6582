// The functions of tilewright/control.h.
#include "frontend/dsl_record.h"

#include "support/error.h"
#include "tilewright/control.h"

#include <limits>

namespace tilewright {

using detail::Recording;

namespace detail {

void record_if(const Operand& condition, const Body& then, const Body& otherwise, const SourceLocation& location) {
  Recording::require(location, "tw::if_").record_if(condition, then, otherwise, location);
}

void record_while(const ConditionBody& condition, const Body& body, const SourceLocation& location) {
  Recording::require(location, "tw::while_").record_while(condition, body, location);
}

} // namespace detail

StaticRange static_range(const Size& end, SourceLocation location) { return static_range(0, end, 1, location); }

StaticRange static_range(const Size& begin, const Size& end, const Size& step, SourceLocation location) {
  if (step.value() == 0) fail(location, "tw::static_range with a step of 0");
  for (const Size* bound : {&begin, &end, &step})
    if (bound->value() != static_cast<int>(bound->value()))
      fail(location, "tw::static_range makes a copy of its body for each number; {} is too many", bound->value());
  return StaticRange(static_cast<int>(begin.value()), static_cast<int>(end.value()), static_cast<int>(step.value()));
}

void barrier(SourceLocation location) { Recording::require(location, "tw::barrier").barrier(location); }

void print(const char* text, const Operand& value, SourceLocation location) {
  Recording& recording = Recording::require(location, "tw::print");
  Builder& builder = recording.device(location, "tw::print");
  Term term = recording.term(value);
  builder.print(text, &term);
}

void print(const char* text, SourceLocation location) {
  Recording::require(location, "tw::print").device(location, "tw::print").print(text, nullptr);
}

} // namespace tilewright
