// How a user's combiner, a callable over tw::Value, is recorded: what reduce() and associative_scan() are made of.
#pragma once

#include "tilewright/value.h"

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tilewright::detail {

// One value, or several as a std::tuple, std::pair or std::array: how many there are, and a pack of so many Values.
template <class X> struct ValuePack {
  static_assert(std::convertible_to<const X&, Operand>,
                "what is reduced or scanned is a tw::Value, or a std::tuple, std::pair or std::array of them");
  static constexpr size_t count = 1;
  using type = Value;
  static type from(const Value* values) { return values[0]; }
  static void list(const X& x, Operand* operands, const SourceLocation& location) {
    operands[0] = Operand(x, location);
  }
};

template <class X, class Pack> struct ValuePackOf {
  static constexpr size_t count = std::tuple_size_v<X>;
  using type = Pack;
  static type from(const Value* values) {
    return
        [&]<size_t... I>(std::index_sequence<I...>) { return type{values[I]...}; }(std::make_index_sequence<count>());
  }
  static void list(const X& x, Operand* operands, const SourceLocation& location) {
    std::apply([&](const auto&... each) { ((*operands++ = Operand(each, location)), ...); }, x);
  }
};
template <class... X>
struct ValuePack<std::tuple<X...>> : ValuePackOf<std::tuple<X...>, std::tuple<typename ValuePack<X>::type...>> {};
template <class A, class B>
struct ValuePack<std::pair<A, B>> : ValuePackOf<std::pair<A, B>, std::pair<Value, Value>> {};
template <class X, size_t N>
struct ValuePack<std::array<X, N>> : ValuePackOf<std::array<X, N>, std::array<Value, N>> {};

// Calls a combiner of `count` values: `arguments` are those on the left, then those on the right.
struct Combiner {
  void (*call)(const void* function, const Value* arguments, Operand* results, const SourceLocation& location);
  const void* function;
};

template <class F, size_t... I> constexpr bool takes_values(std::index_sequence<I...>) {
  return std::is_invocable_v<const F&, decltype((I, std::declval<const Value&>()))...>;
}

// fn(a, b) of values or of packs, or fn(a0, a1, ..., b0, b1, ...) of the values in two packs.
template <class Pack, class F> auto call_combiner(const F& fn, const Value* arguments) {
  using Numbers = std::make_index_sequence<2 * Pack::count>;
  if constexpr (Pack::count > 1 && takes_values<F>(Numbers())) {
    return [&]<size_t... I>(std::index_sequence<I...>) { return fn(arguments[I]...); }(Numbers());
  } else {
    static_assert(std::is_invocable_v<const F&, typename Pack::type, typename Pack::type>,
                  "a combiner takes what two elements hold, fn(a, b); of a tuple also as fn(a0, a1, b0, b1)");
    return fn(Pack::from(arguments), Pack::from(arguments + Pack::count));
  }
}

template <class X, class F> Combiner combiner_of(const F& function) {
  auto call = [](const void* opaque, const Value* arguments, Operand* results, const SourceLocation& location) {
    using Pack = ValuePack<X>;
    auto result = call_combiner<Pack>(*reinterpret_cast<const F*>(opaque), arguments); // F may be a plain function
    using Result = ValuePack<std::remove_cvref_t<decltype(result)>>;
    static_assert(Result::count == Pack::count, "a combiner gives back as many values as it combines");
    Result::list(result, results, location);
  };
  return {call, reinterpret_cast<const void*>(&function)};
}

// Write `count` values.
void reduce(const Operand* sources, size_t count, const Dims& dims, const Operand* other, bool keepdim,
            const Combiner& combiner, Value* results, const SourceLocation& location);
void scan(const Operand* sources, size_t count, int dim, bool reverse, const Combiner& combiner, Value* results,
          const SourceLocation& location);

} // namespace tilewright::detail
