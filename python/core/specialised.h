// A specialisation of a Python kernel, and how it is launched.
#pragma once

#include "python/core/call_arguments.h"
#include "python/core/new_tensors.h"

#include "driver/compiled_call.h"
#include "driver/triton_call.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <vector>

namespace tilewright::python {

struct GpuPlan;

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
  // One of these, once it is compiled:
  std::shared_ptr<const CompiledCall> cpu;
  std::shared_ptr<const TritonCall> gpu;
  nb::object program; // of gpu: a TritonProgram (tilewright/triton_program.py)
  nb::object plan;    // of gpu: a GpuPlan for its later launches, or None; not valid before the first one
  const GpuPlan* gpu_plan = nullptr; // the same in C++; null where there is none
  Recorded::Finish finish = Recorded::Finish::none;
  nb::object function;

  /// An array that the host plan allocates.
  struct Allocation {
    bool is_returned = false; // then torch's always
    NewTensor as_tensor;
  };
  std::vector<Allocation> allocations;
  std::vector<NewTensor> scratch; // of plan's launches that want it, in order
  bool stores_to_arguments = false;

  bool is_compiled() const { return cpu || gpu; }
  const Specialisation& specialisation() const { return cpu ? cpu->specialisation : gpu->specialisation; }
};

/// What a call launches with, in order of the specialisation's parameters.
struct LaunchArguments {
  const CallArguments& arguments;
  PyObject* objects; // the tuple of the call's objects

  /// Python's kernels capture no arrays: what they see of outside is an argument.
  const CallArgument& of(const Specialisation::Parameter& parameter) const {
    return arguments.list()[parameter.argument];
  }
};

/// Launches, and gives what the call gives back. Need the interpreter lock, which they give away while the kernel runs.
nb::object launch_on_cpu(const std::shared_ptr<Specialised>& entry, const LaunchArguments& arguments);
nb::object launch_on_gpu(const std::shared_ptr<Specialised>& entry, const LaunchArguments& arguments);

/// Throws Error where an argument that is stored to overlaps another.
void check_stores(const Specialised& entry, const LaunchArguments& arguments);

/// The call's result, where `made` are the arrays of the host plan's allocations that are returned.
nb::object finish_call(const Specialised& entry, const LaunchArguments& arguments, const FewOf<nb::object>& made);

} // namespace tilewright::python
