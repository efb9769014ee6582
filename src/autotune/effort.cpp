#include "autotune/effort.h"

#include "autotune/differential_evolution.h"

namespace tilewright {

std::optional<Effort> parse_effort(std::string_view text) {
  if (text == "none") return Effort::none;
  if (text == "quick") return Effort::quick;
  if (text == "full") return Effort::full;
  return std::nullopt;
}

std::unique_ptr<Search> make_search(Effort effort, const ConfigSpec& spec, std::vector<Config> first, uint64_t seed) {
  DifferentialEvolutionOptions options{.seed = seed, .first = std::move(first)};
  if (effort == Effort::quick) options.population = 20;
  return std::make_unique<DifferentialEvolutionSearch>(spec, std::move(options));
}

} // namespace tilewright
