// A kernel's tile IR as text, for tests and people.
#pragma once

#include "tilewright/detail/kernel_core.h"

#include <string>

namespace tilewright {

/// Records the call and returns what trace() gives, as text without locations. Throws Error at the user's line.
std::string trace_to_text(const BoundCall& call);

} // namespace tilewright
