// How a kernel is to be tuned and run: kernel.with(settings).
#pragma once

#include "tilewright/config.h"

#include <cstdint>
#include <optional>

namespace tilewright {

enum class AutotuneEffort : uint8_t {
  none,  // never tune: take the default config
  quick, // a small search
  full,  // the whole search
};

// What is not set is taken from the environment (TILEWRIGHT_AUTOTUNE_EFFORT, TILEWRIGHT_AUTOTUNE_BUDGET_SECONDS), and
// else has the default that is named here.
struct Settings {
  std::optional<Config> config;                  // use this one; default: the best known, tuned for at the first call
  std::optional<AutotuneEffort> autotune_effort; // default: quick
  std::optional<double> autotune_budget_seconds; // default: 10
};

} // namespace tilewright
