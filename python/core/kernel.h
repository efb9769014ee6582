// Kernels as Python calls them: a record callback, and the specialisations that calls made of it.
#pragma once

#include "python/core/call_arguments.h"

#include "driver/compiled_call.h"
#include "tilewright/settings.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tilewright::python {

/// What the record callback gives back.
struct Recorded {
  enum class Finish : uint8_t { none, one, tuple, call };

  std::vector<Tensor> results;
  Finish finish = Finish::none;
  nb::object function; // of Finish::call
};

/// A specialisation. `making` is held while it is compiled, without the interpreter lock; all else is read and written
/// with that lock.
struct Specialised {
  std::mutex making;
  std::shared_ptr<const CompiledCall> compiled; // null until it is
  nb::object device;                            // where it allocates
  Recorded::Finish finish = Recorded::Finish::none;
  nb::object function;

  /// An array that the host plan allocates.
  struct Allocation {
    bool is_returned = false; // then made by torch, with these:
    nb::object sizes, dtype;
  };
  std::vector<Allocation> allocations;
  bool stores_to_arguments = false;
};

class Kernel {
public:
  struct Options {
    std::vector<bool> constants;
    nb::object record, prepare;
    bool prepare_always = false;
  };

  Kernel(KernelDefinition definition, Options options, Settings settings);

  /// A call; `kwargs` may be null. What is thrown is for Python: nb::python_error or Error.
  nb::object call(PyObject* args, PyObject* kwargs);

  const KernelDefinition& definition() const { return shared_->definition; }
  const Settings& settings() const { return settings_; }
  /// Shares the specialisations.
  Kernel with(Settings settings) const;
  void reset();

  /// Looks at a call's arguments, prepared where they need it. `held` keeps the objects that prepare() made. Anything
  /// but all_simple: a hook has to be called with the original arguments.
  Found look_at(PyObject* args, PyObject* kwargs, CallArguments& arguments, nb::object& held) const;
  /// Runs the record callback for the compiler, with parameters for these arguments. Takes the interpreter lock.
  Recorded record(const CompilerArguments& arguments, std::span<const CallArgument> given,
                  detail::Recording& recording) const;

  Options options;
  nb::object autograd, dispatched; // hooks; None
private:
  struct Shared {
    KernelDefinition definition;
    std::unordered_map<std::string, std::shared_ptr<Specialised>> specialised;
    uint64_t epoch = 0; // of reset()
  };

  std::shared_ptr<Specialised> find(const CallArguments& arguments);
  void compile(Specialised& entry, const CallArguments& arguments);
  nb::object launch_and_finish(Specialised& entry, const CallArguments& arguments, PyObject* objects);

  std::shared_ptr<Shared> shared_;
  Settings settings_;
  std::string settings_key_;
  // What the last call used, which is likely what the next one does.
  std::string last_key_;
  std::shared_ptr<Specialised> last_;
  uint64_t last_epoch_ = 0;
};

/// Makes Tilewright's number of threads the smaller of its limit and torch's own number.
void follow_torch_threads();
/// Sets the limit, which at first is Tilewright's number of threads. Throws Error where `count` can be none.
void limit_threads(int count);

} // namespace tilewright::python
