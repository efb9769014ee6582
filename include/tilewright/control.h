// Control flow on the device, and what else is a statement: branches, loops on a condition, barriers, printing.
//
// A plain C++ if on what is known while recording (sizes, dtypes, C++ numbers) works as written. These are for
// conditions on device scalars. Their bodies are lambdas that capture by reference ([&]), recorded once each.
#pragma once

#include "tilewright/size.h"
#include "tilewright/value.h"

#include <concepts>
#include <memory>

namespace tilewright {

namespace detail {

// A callable that is called once, while it is recorded.
struct Body {
  void (*call)(void* function);
  void* function; // null: none
};
template <class F> Body body_of(F& function) {
  return {[](void* opaque) { (*static_cast<F*>(opaque))(); },
          const_cast<void*>(static_cast<const void*>(std::addressof(function)))};
}
struct ConditionBody {
  Operand (*call)(void* function, const SourceLocation& location);
  void* function;
};

void record_if(const Operand& condition, const Body& then, const Body& otherwise, const SourceLocation& location);
void record_while(const ConditionBody& condition, const Body& body, const SourceLocation& location);

} // namespace detail

// tw::if_(x > 0, [&] { y = a; }, [&] { y = b; }): runs one of the two where the scalar is true or false. What a branch
// assigns to values from outside holds after it, and must keep their dtype and shape (of a value that has none yet,
// both branches' must be the same). Branches may store, loop and print. A bool of C++ is settled while recording.
template <std::invocable Then>
void if_(const Operand& condition, Then&& then, SourceLocation location = std::source_location::current()) {
  detail::record_if(condition, detail::body_of(then), {nullptr, nullptr}, location);
}
template <std::invocable Then, std::invocable Else>
void if_(const Operand& condition, Then&& then, Else&& otherwise,
         SourceLocation location = std::source_location::current()) {
  detail::record_if(condition, detail::body_of(then), detail::body_of(otherwise), location);
}
template <std::same_as<Condition> C, class... Bodies> void if_(const C&, Bodies&&...) {
  static_assert(detail::kNever<C>, "sizes are known while the kernel is recorded: write a plain if");
}

// tw::while_([&] { return i < n; }, [&] { i += 1; }): runs the body as long as the scalar that the first lambda returns
// is true. What the body assigns to values from outside is carried on, and must keep its dtype and shape.
template <std::invocable ConditionLambda, std::invocable BodyLambda>
void while_(ConditionLambda&& condition, BodyLambda&& body, SourceLocation location = std::source_location::current()) {
  using F = std::remove_reference_t<ConditionLambda>;
  static_assert(std::convertible_to<std::invoke_result_t<F&>, Operand>, "the condition's lambda returns a scalar");
  auto call = [](void* function, const SourceLocation& where) {
    return Operand((*static_cast<F*>(function))(), where);
  };
  void* object = const_cast<void*>(static_cast<const void*>(std::addressof(condition)));
  detail::record_while({call, object}, detail::body_of(body), location);
}

// for (int i : tw::static_range(4)): plain C++ numbers, a copy of the body each.
class StaticRange {
public:
  StaticRange(int begin, int end, int step) : begin_(begin), end_(end), step_(step) {}

  class Iterator {
  public:
    Iterator(int value, int end, int step) : value_(value), end_(end), step_(step) {}
    int operator*() const { return value_; }
    Iterator& operator++() {
      value_ += step_;
      return *this;
    }
    bool operator!=(const Iterator&) const { return step_ > 0 ? value_ < end_ : value_ > end_; }

  private:
    int value_, end_, step_;
  };
  Iterator begin() const { return {begin_, end_, step_}; }
  Iterator end() const { return {end_, end_, step_}; }

private:
  int begin_, end_, step_;
};
// Throw Error where the step is 0 or a bound does not fit int.
StaticRange static_range(const Size& end, SourceLocation location = std::source_location::current());
StaticRange static_range(const Size& begin, const Size& end, const Size& step = 1,
                         SourceLocation location = std::source_location::current());

// Between two outermost tile loops: all of the first is done before any of the second begins. Without it no order holds
// between them, and none may touch what the other one writes. Nothing else may stand between outermost loops.
void barrier(SourceLocation location = std::source_location::current());

// In a tile loop: a line for each element, with the program's number, the element's indices and its number.
void print(const char* text, const Operand& value, SourceLocation location = std::source_location::current());
void print(const char* text, SourceLocation location = std::source_location::current());

} // namespace tilewright
