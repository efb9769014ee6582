// For tests of what a recorded kernel means: it is interpreted, without a config or a backend.
#pragma once

#include "tilewright/detail/kernel_core.h"

#include <cstdint>
#include <vector>

namespace tilewright::testing {

/// Records the call and interprets it with every block size that a config would choose set to `block`. Returns what the
/// kernel returns.
std::vector<Array> interpret(const BoundCall& call, int64_t block = 4);

} // namespace tilewright::testing
