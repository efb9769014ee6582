// One kernel for one kind of arguments: everything that is decided before a config is.
#pragma once

#include "autotune/candidate.h"
#include "autotune/tuning_database.h"
#include "config/config_spec.h"
#include "driver/backend.h"
#include "runtime/size_formula.h"
#include "schedule/host_plan.h"
#include "tilewright/detail/kernel_core.h"
#include "tilewright/settings.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

struct Specialisation {
  std::string kernel;      // its name
  std::string description; // for people: "matmul(x: float32[1024, 1024], y: float32[1024, 1024])"
  SourceLocation location; // of tw::kernel(...)
  std::string tile_ir;     // the prepared kernel (driver/compile_context.h)
  HostPlan host;
  std::vector<RunTimeNumber> run_time_numbers; // of a program; none where shapes are static
  std::vector<SizeCondition> guards; // what must hold of a call's sizes, besides the key; empty where shapes are static
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
  /// Arrays that the kernel's lambda holds: arguments that no call passes. Parameters refer to them by numbers past
  /// those of the call's arguments.
  std::vector<Array> captured;
  const Array& array_of(const Parameter& parameter, const detail::Call& call) const {
    const size_t count = call.arguments.size();
    return parameter.argument < count ? call.arguments[parameter.argument].array()
                                      : captured[parameter.argument - count];
  }

  /// A value of the config that the host part asked for: all of this holds for it alone.
  struct Asked {
    std::string option;
    std::optional<size_t> entry; // none: the option has one value
    int64_t value;
    std::optional<int64_t> if_missing; // the value of a config that does not say; none: that fits as well
  };
  std::vector<Asked> asked;
  uint32_t recording = 0; // the number of the recording that it was made of, for those who recorded it
};

/// Whether this is what the call records to with the config.
bool holds_for(const Specialisation& specialisation, const Config& config);

/// Records, pins and analyses the call's kernel. `config` is what the host part may ask for (trace()); null: defaults.
/// Throws Error on the user's line.
Specialisation specialise(const KernelDefinition& definition, const detail::Call& call, Backend backend = Backend::Cpu,
                          const Config* config = nullptr);

/// Whether this serves a call of the same key whose arrays have the sizes s0, s1, ...
inline bool serves(const Specialisation& specialisation, std::span<const int64_t> sizes) {
  for (const SizeCondition& guard : specialisation.guards)
    if (!guard.holds(sizes)) return false;
  return true;
}

/// Whether calls with these settings have static shapes.
bool has_static_shapes(const Settings& settings);

} // namespace tilewright
