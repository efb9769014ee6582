// How hard to search: what the user says in one word, and the search it stands for.
#pragma once

#include "autotune/search.h"
#include "config/config_spec.h"

#include <memory>
#include <optional>
#include <string_view>

namespace tilewright {

enum class Effort : uint8_t {
  none,  // take the default config
  quick, // a small population: good after some hundred candidates
  full,  // differential evolution's defaults
};

/// From "none", "quick" or "full".
std::optional<Effort> parse_effort(std::string_view text);

/// The search for an effort other than none, which has none. `first`: normalised configs to try beside the default.
std::unique_ptr<Search> make_search(Effort effort, const ConfigSpec& spec, std::vector<Config> first, uint64_t seed);

} // namespace tilewright
