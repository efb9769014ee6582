// One thing to try: a kernel with its inputs and a config.
#pragma once

#include "fuzz/check_call.h"
#include "fuzz/fuzz_kernel.h"
#include "fuzz/record_kernel.h"

#include "config/config_spec.h"
#include "tilewright/config.h"

#include <optional>
#include <string>

namespace tilewright::fuzz {

struct FuzzCase {
  FuzzKernel kernel;
  Config config;
};

/// With the kernel's default config; nothing where the kernel is refused.
std::optional<FuzzCase> with_default_config(const FuzzKernel& kernel);

/// Checks the larger arguments of a kernel with run-time sizes, with what was recorded for the call. Nothing where
/// there are none, or where they are another specialisation.
std::optional<CheckReport> check_larger(const FuzzKernel& kernel, const RecordedCall& call, const CallChecker& checker,
                                        const Config& config);

/// Whether this is what a kernel says that needs a length while it is compiled.
bool needs_static_shapes(const FuzzKernel& kernel, const std::exception& error);

/// Runs it in this process. A kernel that the DSL or the config spec refuses fails in the stage "record".
CheckReport run_case(const FuzzCase& fuzz_case);

/// The same in a process of its own, so that whatever happens there is an outcome: the stage is "crash" where it ends
/// by a signal or takes more than so much time of the processor.
CheckReport run_isolated(const FuzzCase& fuzz_case, unsigned most_seconds = 60);

/// The loop variables that have an entry in block_sizes, in order.
std::vector<int> block_variables(const FuzzKernel& kernel);

/// `config`, as it was for `before`, made to fit another version of the kernel: blocks go with their loop variables,
/// other lists are cut to length. Nothing where that is not legal.
std::optional<Config> adapt_config(const Config& config, const FuzzKernel& before, const FuzzKernel& after,
                                   const ConfigSpec& spec);

} // namespace tilewright::fuzz
