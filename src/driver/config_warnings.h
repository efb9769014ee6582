// Warnings about configs.
#pragma once

#include <span>
#include <string>

namespace tilewright {

/// Writes to the log what was said of a kernel's config, each line once in the life of the process: the same config is
/// looked at for every specialisation.
void warn_of_config(const std::string& kernel, std::span<const std::string> warnings);

} // namespace tilewright
