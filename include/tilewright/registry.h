// The kernels that the command line knows. What a program registers, its `list`, `tune`, `run`, `bench` and `show` work
// on (tw::command_line):
//
//   TILEWRIGHT_REGISTER(add) = {
//     .summary = "element-wise sum of two vectors",
//     .arguments = {"x: T[n]", "y: T[n]"},
//     .dtypes = {tw::float32, tw::bfloat16},
//     .cases = {{"large", {{"n", 16777216}}}},
//     .flops = [](const tw::Instance& i) { return double(i["n"]); },
//     .reference = [](std::span<const tw::AnyArgument> in) { return std::vector{in_double(in[0].array(), ...)}; },
//   };
#pragma once

#include "tilewright/kernel.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright {

struct RegisteredKernel;

// One set of sizes, and the dtype that T stands for.
class Instance {
public:
  Instance(std::vector<std::pair<std::string, int64_t>> sizes, DType dtype) : sizes_(std::move(sizes)), dtype_(dtype) {}

  // The size of that name. Throw Error, with the names there are, where there is none.
  int64_t operator[](std::string_view name) const;
  void set(std::string_view name, int64_t value);

  const std::vector<std::pair<std::string, int64_t>>& sizes() const { return sizes_; }
  DType dtype() const { return dtype_; }
  void set_dtype(DType dtype) { dtype_ = dtype; }

private:
  std::vector<std::pair<std::string, int64_t>> sizes_;
  DType dtype_;
};

// An argument as it is registered: "x: T[m, k]", "mask: bool[m, 64]" or, for a number, "scale: float32 = 0.125".
struct ArgumentSpec {
  std::string name;
  std::optional<DType> dtype;                    // none: T
  std::optional<std::vector<std::string>> sizes; // of an array: names and numbers; none: a number
  double value = 0;                              // of a number

  // Throws Error, saying what is wrong with the text.
  static ArgumentSpec parse(std::string_view text);
};

struct KernelCase {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> sizes; // all that the arguments name
};

struct RegisteredKernel {
  std::string name = {};                   // on the command line; by default the kernel's own
  std::string summary = {};                // one line for people
  std::vector<std::string> arguments = {}; // as in ArgumentSpec
  std::vector<DType> dtypes = {float32};   // what T may be; the first is the default
  std::vector<KernelCase> cases = {};      // what `bench` measures; the first is the default of the other commands

  // The work of one call: floating-point operations, and bytes that must be moved. By default no operations are
  // counted, and the bytes are those of all arguments, read once, and all results, written once.
  std::function<double(const Instance&)> flops = {};
  std::function<double(const Instance&)> bytes = {};

  // Writes into the arguments what random numbers are not: indices in range, offsets in order. By default nothing.
  std::function<void(std::span<const AnyArgument>, const Instance&)> prepare = {};

  // What the results should be, computed in double precision. All arrays are contiguous. Those of floating point, and
  // those of T whatever it is, come and go as float64; others come as they are.
  std::function<std::vector<Array>(std::span<const AnyArgument>)> reference = {};

  // A library's routine for the same work that `bench` and the demo can compare with: "gemm", or none.
  std::string peer = {};

  // Makes a call from arguments as listed; by default, the kernel's own. For a kernel that also takes callables, it
  // says which.
  std::function<BoundCall(std::span<const AnyArgument>)> bind = {};

  std::vector<ArgumentSpec> specs() const;
  // The first case with the first dtype.
  Instance default_instance() const;
  // Arguments for an instance: normal random floating point, random integers from 0 to 99, random bools, and the
  // numbers as registered; then what prepare() writes. The same for the same seed.
  std::vector<AnyArgument> make_arguments(const Instance& instance, uint64_t seed = 0) const;
  // Throws Error where the arguments' count, dtypes, ranks or sizes are not as listed.
  void check_arguments(std::span<const AnyArgument> arguments) const;
};

// In order of their names.
std::vector<const RegisteredKernel*> registered_kernels();
// Null where there is none of that name.
const RegisteredKernel* find_registered_kernel(std::string_view name);

// Throws Error where the name is taken or a text cannot be understood.
void register_kernel(RegisteredKernel kernel);

namespace detail {

// What TILEWRIGHT_REGISTER(kernel) = {...} assigns to.
template <class F> class Registrar {
public:
  explicit Registrar(const Kernel<F>& kernel) : kernel_(kernel) {}
  Registrar& operator=(RegisteredKernel registered) {
    if (registered.name.empty()) registered.name = kernel_.definition().name;
    if (!registered.bind)
      registered.bind = [kernel = kernel_](std::span<const AnyArgument> arguments) {
        return kernel.bind_any(arguments);
      };
    register_kernel(std::move(registered));
    return *this;
  }

private:
  const Kernel<F>& kernel_;
};

} // namespace detail

// Registers a kernel, a variable of this file, when the program starts.
#define TILEWRIGHT_REGISTER(kernel)                                                                                    \
  static const auto tilewright_registration_of_##kernel = ::tilewright::detail::Registrar(kernel)

} // namespace tilewright
