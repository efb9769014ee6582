// One kernel, one config: the interpreter on tile IR, the interpreter on the program that the config makes, and the CPU
// backend in guarded memory must agree.
//
// Numbers agree that are within the running error bound of the first (ir/interpreter_bounds.h), which is 0 where all is
// exact: integers, and floating point on small whole numbers. Elements whose bound is infinite are counted and not
// compared. No fixed tolerance is in here.
#pragma once

#include "driver/arguments.h"
#include "driver/specialisation.h"
#include "tilewright/config.h"
#include "tilewright/detail/kernel_core.h"
#include "tilewright/settings.h"

#include <string>

namespace tilewright::fuzz {

struct CheckReport {
  enum class Outcome {
    agreed,
    not_defined, // the kernel has no defined result: an integer out of range, say
    failed,
  } outcome = Outcome::agreed;
  std::string stage;   // of a failure: "schedule", "program", "compile", "run", "memory", "interpreter"
  std::string message; // of a failure
  int64_t elements = 0, exact = 0, incomparable = 0;
};

class CallChecker {
public:
  /// Records the kernel. Throws Error where it is refused.
  CallChecker(const KernelDefinition& definition, const detail::Call& call);
  /// A specialisation with run-time sizes and another call that it serves.
  CallChecker(const Specialisation& specialisation, const detail::Call& call);

  const Specialisation& specialisation() const { return specialisation_; }
  /// `config` is complete (config/normalise.h). `seed` orders the programs.
  CheckReport check(const Config& config, uint64_t seed) const;

private:
  struct Expected;
  void interpret(KernelOp kernel, const Config& config, Expected& expected) const;
  void check_program(KernelOp kernel, const Config& config, const Expected& expected, CheckReport& report) const;
  void check_code(KernelOp kernel, const Config& config, const Expected& expected, uint64_t seed,
                  CheckReport& report) const;

  Specialisation specialisation_;
  ProgramArguments arguments_;
  std::vector<Array> arrays_; // per parameter: as called
};

/// Whether what was recorded for one call is the specialisation of another one too, where sizes are run-time numbers.
bool serves_too(const Specialisation& specialisation, const detail::Call& recorded, const detail::Call& other);

/// For tests: empty, or what differs. `config` as a user writes it.
std::string check(const BoundCall& call, const Config& config);
/// The same of another call, with what was recorded for the first; empty where that does not serve it.
std::string check_other(const BoundCall& recorded, const BoundCall& other, const Config& config);
Settings run_time_sizes();

} // namespace tilewright::fuzz
