// Kernels as Python calls them: a record callback, and the specialisations that calls made of it.
#pragma once

#include "python/core/call_arguments.h"
#include "python/core/specialised.h"

#include "tilewright/settings.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tilewright::python {

class Kernel {
public:
  struct Options {
    std::vector<bool> constants;
    nb::object record, prepare;
    bool prepare_always = false;
    bool triton = false; // for tensors on the CPU too, where Triton's interpreter runs it
  };

  Kernel(KernelDefinition definition, Options options, Settings settings);

  /// A call; `kwargs` may be null. What is thrown is for Python: nb::python_error or Error.
  nb::object call(PyObject* args, PyObject* kwargs);

  const KernelDefinition& definition() const { return shared_->definition; }
  const Settings& settings() const { return settings_; }
  bool runs_on_gpu(DeviceIndex device) const { return options.triton || device.kind == DeviceIndex::kCuda; }
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

  std::shared_ptr<Shared> shared_;
  Settings settings_;
  std::string settings_key_;
  // What the last call used, which is likely what the next one does.
  std::string last_key_;
  std::shared_ptr<Specialised> last_;
  uint64_t last_epoch_ = 0;
};

/// Where the tensors are of the call that this thread records: "cpu" or "cuda:0".
std::string recording_device();

/// Makes Tilewright's number of threads the smaller of its limit and torch's own number.
void follow_torch_threads();
/// Sets the limit, which at first is Tilewright's number of threads. Throws Error where `count` can be none.
void limit_threads(int count);

} // namespace tilewright::python
