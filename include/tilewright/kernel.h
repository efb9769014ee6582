// Kernels: a lambda over tw::Tensor, called with tw::Array.
//
//   auto add = tw::kernel("add", [](tw::Tensor x, tw::Tensor y) { ...; return out; });
//   tw::Array c = add(a, b);
#pragma once

#include "tilewright/array.h"
#include "tilewright/detail/kernel_core.h"
#include "tilewright/settings.h"
#include "tilewright/tensor.h"
#include "tilewright/value.h"

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tilewright {

// A parameter that is a number at run time: `tw::Scalar<float> scale`. One specialisation serves all its values. On the
// device it is a number, as PyTorch's Python numbers are: it does not widen the other operand within its kind.
template <class T> class Scalar {
  static_assert(std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, int32_t> ||
                    std::same_as<T, int64_t> || std::same_as<T, bool>,
                "a tw::Scalar is a float, a double, an int32_t, an int64_t or a bool");

public:
  Scalar(T value) : value_(value) {}
  T value() const { return value_; } // outside of a kernel

  const detail::Handle& variable() const { return variable_; }
  explicit Scalar(detail::Handle variable) : variable_(variable) {}

private:
  T value_{};
  detail::Handle variable_;
};

template <class T>
Operand::Operand(const Scalar<T>& scalar, SourceLocation location)
    : kind_(Kind::value), handle_(scalar.variable()), location_(location) {}

namespace detail {

template <class T> inline constexpr char kTypeIdentity = 0; // its address is T's

// How a lambda's parameter of type P is called, described and recorded. A plain number, and anything else that is
// trivially copyable, such as a lambda, is a constant of the specialisation: it is known by its type and bytes.
template <class P> struct Parameter {
  static_assert(!std::is_pointer_v<P> || std::is_function_v<std::remove_pointer_t<P>>,
                "a kernel cannot take a pointer: pass data as tw::Array to a tw::Tensor parameter");
  static_assert(std::is_trivially_copyable_v<P>,
                "a kernel's parameter is a tw::Tensor, a tw::Scalar, a number, or something trivially copyable, such "
                "as a lambda that captures numbers");

  P value;
  SourceLocation location;

  template <std::convertible_to<P> T>
  Parameter(const T& value, SourceLocation location = std::source_location::current())
      : value(static_cast<P>(value)), location(location) {}
  Argument describe() const {
    Argument argument{Argument::Kind::constant};
    argument.size = std::is_empty_v<P> ? 0 : sizeof(P);
    argument.data = &value;
    argument.type = &kTypeIdentity<P>;
    return argument;
  }
  static const P& recorded(Recording&, const Argument& argument, size_t) {
    return *static_cast<const P*>(argument.data);
  }
  static Parameter from(const KernelDefinition& definition, size_t index, const AnyArgument& argument) {
    if constexpr (std::is_arithmetic_v<P>) {
      const Number& number = number_argument(definition, index, argument);
      return Parameter(std::is_floating_point_v<P> ? static_cast<P>(number.real()) : static_cast<P>(number.integer()));
    } else {
      refuse_argument(definition, index);
    }
  }
};

template <> struct Parameter<Tensor> {
  Array value;
  SourceLocation location;

  Parameter(const Array& array, SourceLocation location = std::source_location::current())
      : value(array), location(location) {}
  template <std::same_as<Tensor> T> Parameter(const T&) {
    static_assert(kNever<T>, "a kernel cannot call a kernel: write what they share as a function of tw::Value");
  }
  Argument describe() const {
    Argument argument{Argument::Kind::array};
    argument.data = &value;
    return argument;
  }
  static Tensor recorded(Recording& recording, const Argument&, size_t index) {
    return tensor_parameter(recording, index);
  }
  static Parameter from(const KernelDefinition& definition, size_t index, const AnyArgument& argument) {
    return array_argument(definition, index, argument);
  }
};

// A tensor that may be left out: std::nullopt. Whether it is there is part of the specialisation, so that the kernel
// may ask `if (bias)`.
template <> struct Parameter<std::optional<Tensor>> {
  std::optional<Array> value;
  SourceLocation location;

  Parameter(const Array& array, SourceLocation location = std::source_location::current())
      : value(array), location(location) {}
  Parameter(std::nullopt_t, SourceLocation location = std::source_location::current()) : location(location) {}
  Parameter(const std::optional<Array>& array, SourceLocation location = std::source_location::current())
      : value(array), location(location) {}
  Argument describe() const {
    Argument argument{value ? Argument::Kind::array : Argument::Kind::constant};
    argument.data = value ? &*value : nullptr;
    if (!value) argument.type = &kTypeIdentity<std::nullopt_t>;
    return argument;
  }
  static std::optional<Tensor> recorded(Recording& recording, const Argument& argument, size_t index) {
    if (argument.kind == Argument::Kind::constant) return std::nullopt;
    return tensor_parameter(recording, index);
  }
  static Parameter from(const KernelDefinition& definition, size_t index, const AnyArgument& argument) {
    return array_argument(definition, index, argument);
  }
};

template <class T> struct Parameter<Scalar<T>> {
  T value;
  SourceLocation location;

  Parameter(Scalar<T> scalar, SourceLocation location = std::source_location::current())
      : value(scalar.value()), location(location) {}
  template <class U>
    requires std::is_arithmetic_v<U>
  Parameter(U value, SourceLocation location = std::source_location::current())
      : value(static_cast<T>(value)), location(location) {}
  Argument describe() const {
    Argument argument{Argument::Kind::number};
    argument.dtype = dtype_of<T>;
    argument.size = sizeof(T);
    argument.data = &value;
    return argument;
  }
  static Scalar<T> recorded(Recording& recording, const Argument&, size_t index) {
    return Scalar<T>(number_parameter(recording, index));
  }
  static Parameter from(const KernelDefinition& definition, size_t index, const AnyArgument& argument) {
    const Number& number = number_argument(definition, index, argument);
    if constexpr (std::is_floating_point_v<T>)
      return Parameter(number.real());
    else
      return Parameter(number.integer());
  }
};

// What a lambda's parameter of type auto is, for an argument of type A.
template <class A> struct ParameterFor {
  using type = A;
};
template <> struct ParameterFor<Array> {
  using type = Tensor;
};
template <class R, class... A> struct ParameterFor<R(A...)> {
  using type = R (*)(A...); // a plain function
};
template <> struct ParameterFor<std::optional<Array>> {
  using type = std::optional<Tensor>;
};

// What a kernel gives back for what its lambda returns.
template <class R> struct Returned {
  static_assert(kNever<R>, "a kernel returns a tw::Tensor, a std::tuple of them, or nothing");
};
template <> struct Returned<void> {
  static constexpr size_t count = 0;
  static void from(const Array*) {}
};
template <> struct Returned<Tensor> {
  static constexpr size_t count = 1;
  static Array from(Array* arrays) { return std::move(arrays[0]); }
  static void record(Recording& recording, const Tensor& tensor) { set_results(recording, &tensor, 1); }
};
template <class... R>
  requires(std::same_as<R, Tensor> && ...)
struct Returned<std::tuple<R...>> {
  static constexpr size_t count = sizeof...(R);
  static auto from(Array* arrays) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::make_tuple(std::move(arrays[I])...);
    }(std::index_sequence_for<R...>());
  }
  static void record(Recording& recording, const std::tuple<R...>& tensors) {
    std::apply(
        [&](const R&... each) {
          const Tensor list[] = {each...};
          set_results(recording, list, count);
        },
        tensors);
  }
};
template <> struct Returned<std::pair<Tensor, Tensor>> : Returned<std::tuple<Tensor, Tensor>> {};

// Runs the lambda F, whose parameters are P, for the compiler.
template <class F, class... P>
void record(const void* function, std::span<const Argument> arguments, Recording& recording) {
  const F& lambda = *static_cast<const F*>(function);
  using R = std::invoke_result_t<const F&, P...>;
  [&]<size_t... I>(std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>)
      lambda(Parameter<P>::recorded(recording, arguments[I], I)...);
    else
      Returned<R>::record(recording, lambda(Parameter<P>::recorded(recording, arguments[I], I)...));
  }(std::index_sequence_for<P...>());
}

// A call of F with arguments for its parameters P.
template <class F, class... P> struct TypedCall {
  static_assert(std::invocable<const F&, P...>,
                "a kernel's lambda must not be mutable: it is run once for each specialisation");
  using Result = Returned<std::invoke_result_t<const F&, P...>>;
  static constexpr size_t kArguments = sizeof...(P);

  Argument arguments[kArguments == 0 ? 1 : kArguments];
  Call call;

  TypedCall(const F& function, const Settings& settings, const Parameter<P>&... parameters)
      : arguments{parameters.describe()...},
        call{{arguments, kArguments}, &record<F, P...>, &function,
             Result::count,           &settings,        first_location(parameters...)} {}
  TypedCall(const TypedCall&) = delete;

private:
  static SourceLocation first_location() { return {}; }
  static SourceLocation first_location(const auto& first, const auto&...) { return first.location; }
};

template <class F> struct KernelState {
  F function;
  std::shared_ptr<KernelCore> core;
  Settings settings;
};

template <class F, class... P> auto run(const KernelState<F>& state, const Parameter<P>&... parameters) {
  TypedCall<F, P...> typed(state.function, state.settings, parameters...);
  using Result = typename TypedCall<F, P...>::Result;
  Array results[Result::count == 0 ? 1 : Result::count];
  run_kernel(*state.core, typed.call, results);
  return Result::from(results);
}

template <class F, class... P> BoundCall bind(const KernelState<F>& state, const Parameter<P>&... parameters) {
  struct Owner {
    KernelState<F> state;
    std::tuple<Parameter<P>...> parameters;
    TypedCall<F, P...> typed;
    Owner(const KernelState<F>& state, const Parameter<P>&... given)
        : state(state), parameters(given...),
          typed(std::apply(
              [this](const Parameter<P>&... kept) {
                return TypedCall<F, P...>(this->state.function, this->state.settings, kept...);
              },
              parameters)) {}
  };
  auto owner = std::make_shared<const Owner>(state, parameters...);
  return BoundCall(state.core, owner->typed.call, owner);
}

// The ways to call a kernel. Parameters<P...>: the lambda says all their types.
template <class... P> struct Parameters {
  template <class F> struct Calls {
    KernelState<F> state;

    // Throws Error; see KernelCore::run.
    auto operator()(const Parameter<P>&... arguments) const { return run<F, P...>(state, arguments...); }
    // The same call, to be made later, or tuned or shown.
    BoundCall bind(const Parameter<P>&... arguments) const { return detail::bind<F, P...>(state, arguments...); }
    // From arguments whose types are known at run time only. Throws Error where they do not fit.
    BoundCall bind_any(std::span<const AnyArgument> arguments) const {
      const KernelDefinition& definition = state.core->definition();
      check_argument_count(definition, sizeof...(P), arguments.size());
      return [&]<size_t... I>(std::index_sequence<I...>) {
        return detail::bind<F, P...>(state, Parameter<P>::from(definition, I, arguments[I])...);
      }(std::index_sequence_for<P...>());
    }

    template <class... A>
      requires(sizeof...(A) != sizeof...(P))
    Array operator()(const A&...) const {
      static_assert(kNever<std::tuple<A...>>, "the kernel's lambda takes another number of arguments");
      return {};
    }
  };
};

// The lambda has parameters of type auto: an Array makes a Tensor, a callable or a number is itself, and a run-time
// number is passed as tw::Scalar.
struct GenericParameters {
  template <class F> struct Calls {
    KernelState<F> state;

    template <class... A> auto operator()(const Parameter<Tensor>& first, const A&... rest) const {
      return run<F, Tensor, typename ParameterFor<A>::type...>(state, first, rest...);
    }
    template <class... A> BoundCall bind(const Parameter<Tensor>& first, const A&... rest) const {
      return detail::bind<F, Tensor, typename ParameterFor<A>::type...>(state, first, rest...);
    }
    BoundCall bind_any(std::span<const AnyArgument>) const { refuse_generic(state.core->definition()); }
  };
};

template <class M> struct ParametersOf;
template <class R, class C, class... P> struct ParametersOf<R (C::*)(P...) const> {
  using type = Parameters<std::remove_cvref_t<P>...>;
};
template <class R, class C, class... P> struct ParametersOf<R (C::*)(P...)> {
  using type = Parameters<std::remove_cvref_t<P>...>;
};
template <class R, class... P> struct ParametersOf<R (*)(P...)> {
  using type = Parameters<std::remove_cvref_t<P>...>;
};

template <class F> auto parameters_of() {
  if constexpr (std::is_pointer_v<F>)
    return typename ParametersOf<F>::type();
  else if constexpr (requires { &F::operator(); })
    return typename ParametersOf<decltype(&F::operator())>::type();
  else
    return GenericParameters();
}

template <class F> using CallsOf = typename decltype(parameters_of<F>())::template Calls<F>;

} // namespace detail

// A kernel: called with an Array for each tw::Tensor of its lambda, and numbers for numbers. The lambda is run once for
// each specialisation, to record it; captured C++ values are constants of the recording, so capture by value. Copies
// share their specialisations. Safe to call from many threads.
template <class F> class Kernel : public detail::CallsOf<F> {
public:
  Kernel(F function, std::shared_ptr<detail::KernelCore> core)
      : detail::CallsOf<F>{{std::move(function), std::move(core), {}}} {}

  // The same kernel, run with this config or these settings.
  Kernel with(const Config& config) const {
    Settings settings = this->state.settings;
    settings.config = config;
    return with(settings);
  }
  Kernel with(const Settings& settings) const {
    Kernel other = *this;
    other.state.settings = settings;
    return other;
  }

  const KernelDefinition& definition() const { return this->state.core->definition(); }
  // How many specialisations of it have been compiled.
  size_t specialisation_count() const { return this->state.core->specialisation_count(); }
};

// Makes a kernel of a lambda. The name is for people: messages, the tuning log, the command line.
template <class F>
Kernel<F> kernel(const char* name, F function, SourceLocation location = std::source_location::current()) {
  return {std::move(function), detail::make_kernel_core({name, location, {}})};
}
// With names of its arguments, for messages: tw::kernel("add", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) { ... }).
template <class F>
Kernel<F> kernel(const char* name, std::initializer_list<const char*> argument_names, F function,
                 SourceLocation location = std::source_location::current()) {
  return {std::move(function),
          detail::make_kernel_core({name, location, {argument_names.begin(), argument_names.end()}})};
}

} // namespace tilewright
