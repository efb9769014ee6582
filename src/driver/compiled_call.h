// A call of a kernel with everything decided and compiled, for those who launch it themselves, with arguments and
// allocations of their own: the kernel's core, and Python. Nothing of LLVM is seen here.
#pragma once

#include "driver/specialisation.h"
#include "runtime/launch_plan.h"
#include "tilewright/config.h"

#include <memory>
#include <span>

namespace tilewright {

/// Never changes once it is made, so any number of threads may launch it at once.
struct CompiledCall {
  Specialisation specialisation;
  Config config;
  LaunchPlan plan; // its arguments are the specialisation's parameters, then the host plan's allocations
};

/// Records the call's kernel, chooses its config (driver/tune.h), and compiles it. Throws Error on the user's line, and
/// where arguments that the kernel stores to overlap others.
std::shared_ptr<const CompiledCall> compile_call(const KernelDefinition& definition, const detail::Call& call);

/// Throws Error, naming the arguments, where one that the kernel stores to overlaps another or has several indices for
/// one element. `arrays` has one for each parameter, undefined for numbers; `where` is the line of the call, if known.
void check_stored_arguments(const Specialisation& specialisation, const SourceLocation& where,
                            std::span<const Array> arrays);

} // namespace tilewright
