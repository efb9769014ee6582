// Efforts by name; the rest of Config and Settings is theirs in C++ too.
#pragma once

#include "tilewright/settings.h"

#include <string>

namespace tilewright::python {

/// "none", "quick" or "full"; throws Error on others.
AutotuneEffort autotune_effort_of(const std::string& text);

} // namespace tilewright::python
