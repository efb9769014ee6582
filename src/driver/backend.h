// The backends that a kernel can be made for.
#pragma once

#include "config/backend_limits.h"

#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

enum class Backend { Cpu, Triton };

/// From "cpu", "triton".
std::optional<Backend> parse_backend(std::string_view name);

/// Of this machine's CPU, or of the GPU that text is made for.
BackendLimits limits_of(Backend backend);

/// What times are comparable on: part of the tuning database's key.
std::string hardware_of(Backend backend);

} // namespace tilewright
