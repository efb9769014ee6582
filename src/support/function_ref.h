// A reference to a callable object, two words large and without an allocation. It must not outlive what it refers to,
// so it is for parameters only.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace tilewright {

template <class Signature> class FunctionRef;

template <class Result, class... Args> class FunctionRef<Result(Args...)> {
public:
  template <class Callable>
    requires(std::is_object_v<std::remove_reference_t<Callable>> &&
             !std::same_as<std::remove_cvref_t<Callable>, FunctionRef> &&
             std::is_invocable_r_v<Result, Callable&, Args...>)
  FunctionRef(Callable&& callable)
      : callable_(const_cast<void*>(static_cast<const void*>(&callable))), call_([](void* callable, Args... args) {
          return static_cast<Result>(
              (*static_cast<std::remove_reference_t<Callable>*>(callable))(std::forward<Args>(args)...));
        }) {}

  Result operator()(Args... args) const { return call_(callable_, std::forward<Args>(args)...); }

private:
  void* callable_;
  Result (*call_)(void*, Args...);
};

} // namespace tilewright
