// One kernel for one kind of arguments: everything that is decided before a config is.
#pragma once

#include "autotune/candidate.h"
#include "autotune/tuning_database.h"
#include "config/config_spec.h"
#include "driver/backend.h"
#include "schedule/host_plan.h"
#include "tilewright/detail/kernel_core.h"

#include <string>
#include <vector>

namespace tilewright {

struct Specialisation {
  std::string kernel;      // its name
  std::string description; // for people: "matmul(x: float32[1024, 1024], y: float32[1024, 1024])"
  SourceLocation location; // of tw::kernel(...)
  std::string tile_ir;     // the prepared kernel (driver/compile_context.h)
  HostPlan host;
  ConfigSpec spec;
  TuningKey key;

  /// One argument of the kernel's tile IR.
  struct Parameter {
    size_t argument; // which of the call's it is
    std::string name;
    bool is_array;
    DType dtype;
    bool is_written; // the kernel stores to it
  };
  std::vector<Parameter> parameters;
};

/// Records, pins and analyses the call's kernel. Throws Error on the user's line.
Specialisation specialise(const KernelDefinition& definition, const detail::Call& call, Backend backend = Backend::Cpu);

} // namespace tilewright
