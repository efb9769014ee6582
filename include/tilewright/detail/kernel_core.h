// What stands between a kernel's templates, which know its lambda, and the compiler, which knows none of its types.
#pragma once

#include "tilewright/array.h"
#include "tilewright/dtype.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

struct Settings;

// What is known of a kernel before it is called.
struct KernelDefinition {
  std::string name;
  SourceLocation location;                 // of tw::kernel(...)
  std::vector<std::string> argument_names; // may be empty
  // "x", or "argument 0" where it has no name.
  std::string argument_name(size_t index) const;
};

namespace detail {

// One argument of a call. It refers to what the caller holds.
struct Argument {
  enum class Kind : uint8_t {
    array,    // data: const Array*
    number,   // a run-time number; data: its value, of C++'s type for dtype
    constant, // known to the recording; data: its `size` bytes, type: an address that is the C++ type's own
  };
  Kind kind;
  DType dtype = float32; // of a number
  uint32_t size = 0;
  const void* data = nullptr;
  const void* type = nullptr;

  const Array& array() const { return *static_cast<const Array*>(data); }
};

// A kernel's recording, from the lambda's side: where its parameters come from and its results go to.
class Recording;
Tensor tensor_parameter(Recording& recording, size_t index);
Handle number_parameter(Recording& recording, size_t index);
void set_results(Recording& recording, const Tensor* results, size_t count);

// One call of a kernel: everything that is needed to find, record, compile and launch its specialisation. Nothing in it
// outlives the call.
struct Call {
  std::span<const Argument> arguments;
  // Runs the lambda `function` on the parameters of the recording.
  void (*record)(const void* function, std::span<const Argument> arguments, Recording& recording);
  const void* function;
  size_t result_count;
  const Settings* settings;
  SourceLocation location; // of the call; unknown for a kernel without parameters
};

// The compiler's side of a kernel: its specialisations, and how they are found, tuned and launched. Copies of a
// tw::Kernel share one. Safe to call from many threads.
class KernelCore {
public:
  virtual ~KernelCore() = default;

  virtual const KernelDefinition& definition() const = 0;
  // Writes `call.result_count` arrays. Throws Error, and then nothing has been written to any argument, where the call
  // can be known to be wrong before the launch.
  virtual void run(const Call& call, Array* results) = 0;
  // How many specialisations have been compiled.
  virtual size_t specialisation_count() const = 0;
};

std::shared_ptr<KernelCore> make_kernel_core(KernelDefinition definition);

// core.run(), after a check that no kernel is being recorded in this thread.
void run_kernel(KernelCore& core, const Call& call, Array* results);

} // namespace detail

// A kernel and the arguments of one call, without their types: what the command line lists, tunes, shows and runs.
class BoundCall {
public:
  BoundCall() = default;
  BoundCall(std::shared_ptr<detail::KernelCore> core, const detail::Call& call, std::shared_ptr<const void> owner)
      : core_(std::move(core)), call_(call), owner_(std::move(owner)) {}

  std::vector<Array> run() const;
  // The same call with other settings.
  BoundCall with(const Settings& settings) const;

  detail::KernelCore& core() const { return *core_; }
  // Valid as long as this or a copy of it.
  const detail::Call& call() const { return call_; }

private:
  std::shared_ptr<detail::KernelCore> core_;
  detail::Call call_{};
  std::shared_ptr<const void> owner_; // of what call_ refers to
};

// An argument for a call whose types are not known in C++: an array or a number.
class AnyArgument {
public:
  AnyArgument(Array array) : array_(std::move(array)) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  AnyArgument(T value) : number_(value) {}

  bool is_array() const { return array_.defined(); }
  const Array& array() const { return array_; }
  const Number& number() const { return number_; }

private:
  Array array_;
  Number number_ = 0;
};

namespace detail {

// Throw Error, naming the kernel's line.
void check_argument_count(const KernelDefinition& definition, size_t expected, size_t found);
const Array& array_argument(const KernelDefinition& definition, size_t index, const AnyArgument& argument);
const Number& number_argument(const KernelDefinition& definition, size_t index, const AnyArgument& argument);
[[noreturn]] void refuse_argument(const KernelDefinition& definition, size_t index);
// A kernel with a parameter of type auto, whose type only a call in C++ says.
[[noreturn]] void refuse_generic(const KernelDefinition& definition);

} // namespace detail
} // namespace tilewright
