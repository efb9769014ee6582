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

// What is not set is taken from the environment (TILEWRIGHT_AUTOTUNE_EFFORT, TILEWRIGHT_AUTOTUNE_BUDGET_SECONDS,
// TILEWRIGHT_STATIC_SHAPES, which is read once), and else has the default that is named here.
struct Settings {
  std::optional<Config> config;                  // use this one; default: the best known, tuned for at the first call
  std::optional<AutotuneEffort> autotune_effort; // default: quick
  std::optional<double> autotune_budget_seconds; // default: 10
  // Whether each set of sizes and strides is compiled for itself, the default. If not, one specialisation serves many:
  // it knows dtypes, ranks, which sizes are 1, which strides are 1, and 16-byte alignment; sizes are run-time numbers.
  std::optional<bool> static_shapes;
};

} // namespace tilewright
