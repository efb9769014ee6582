#include "autotune/random_search.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace tilewright {
namespace {

// A draw that was seen before is drawn again, so often in a row before the space counts as exhausted.
constexpr int kMostRepeats = 1000;

/// Adds random configs until there are `count`.
void fill_with_random(const ConfigSpec& spec, size_t count, uint64_t seed, std::vector<Config>& configs) {
  std::unordered_set<Config> seen(configs.begin(), configs.end());
  Random random(seed);
  for (int repeats = 0; configs.size() < count && repeats < kMostRepeats; ++repeats)
    if (Config config = decode(spec, random_point(spec, random)); seen.insert(config).second) {
      configs.push_back(std::move(config));
      repeats = 0;
    }
}

} // namespace

std::vector<Config> random_configs(const ConfigSpec& spec, size_t count, uint64_t seed) {
  std::vector<Config> configs;
  fill_with_random(spec, count, seed, configs);
  return configs;
}

RandomSearch::RandomSearch(ConfigSpec spec, RandomSearchOptions options) : options_(std::move(options)) {
  configs_.push_back(default_config(spec));
  for (const Config& config : options_.first)
    if (std::ranges::find(configs_, config) == configs_.end()) configs_.push_back(config);
  fill_with_random(spec, options_.count, options_.seed, configs_);
}

std::string RandomSearch::description() const {
  return fmt::format("RandomSearch: count {}, seed {}", options_.count, options_.seed);
}

std::vector<Config> RandomSearch::propose() {
  const size_t end = std::min(configs_.size(), next_ + options_.batch);
  std::vector<Config> batch(configs_.begin() + next_, configs_.begin() + end);
  next_ = end;
  return batch;
}

void RandomSearch::learn(std::span<const Trial> trials) {
  for (const Trial& trial : trials)
    if (trial.outcome == Outcome::measured) times_.push_back(trial.microseconds);
}

SearchProgress RandomSearch::progress() const {
  return {.step = fmt::format("{} configs", next_), .replaced = 0, .times = times_};
}

std::string RandomSearch::why_finished() const { return fmt::format("{} configs were tried", next_); }

} // namespace tilewright
