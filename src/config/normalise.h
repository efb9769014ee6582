// A user's config made complete for one kernel, or refused.
//   - An option that is not given, and the missing end of a short list, take their defaults (block_sizes must be
//   whole).
//   - A size below its minimum is raised to it, one above the block it walks in is lowered to that, with a warning.
//   - An option that has no meaning for this kernel or backend is left out, with a warning; one that has none beside
//   what else the config says is put back to its default, with a warning.
//   - Anything else that is not legal throws Error, which says the option, what was found and what is legal.
#pragma once

#include "config/config_spec.h"
#include "tilewright/error.h"

#include <string>
#include <vector>

namespace tilewright {

struct NormalisedConfig {
  Config config; // every option of the spec, with every entry
  std::vector<std::string> warnings;
};

/// Normalising its own result changes nothing. `where` is the place that errors name: the kernel's.
NormalisedConfig normalise(const ConfigSpec& spec, const Config& config, const SourceLocation& where = {});

/// What of a config made for another spec of the same kernel has a meaning in this one; the rest are defaults. To be
/// normalised.
Config fit(const ConfigSpec& spec, const Config& config);

} // namespace tilewright
