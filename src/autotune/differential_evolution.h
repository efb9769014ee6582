// Differential evolution (Storn and Price, Journal of Global Optimization 11, 1997) over the points of a config spec.
//
// A population of configs is measured; then each generation proposes one trial per member, made of the differences
// between other members, and a trial that is no slower takes its member's place. What the textbook leaves open:
//   - The first population holds the default config and the given first configs; the rest is half random, half a few
//     steps away from one of those, which are sensible configs already. Where the given ones alone are more than a
//     population, a few others are tried beside them, and the best stay.
//   - Budgets here are a few hundred trials, not thousands. So half of the trials are a few random steps from the best
//     member instead, and half of the differences are added to the best member.
//   - A config is never proposed twice. A trial seen before makes way for a few steps from any member, then for a
//   random
//     config, so that a converged population searches on.
#pragma once

#include "autotune/search.h"
#include "config/config_point.h"

#include <unordered_set>

namespace tilewright {

struct DifferentialEvolutionOptions {
  size_t population = 40;
  size_t generations = 20; // after the first population
  double crossover_rate = 0.8;
  uint64_t seed = 0;
  std::vector<Config> first = {}; // normalised configs to try beside the default: known from before or from neighbours
};

class DifferentialEvolutionSearch final : public Search {
public:
  DifferentialEvolutionSearch(ConfigSpec spec, DifferentialEvolutionOptions options);

  std::string description() const override;
  std::vector<Config> propose() override;
  void learn(std::span<const Trial> trials) override;
  SearchProgress progress() const override;
  std::string why_finished() const override;

private:
  struct Member {
    ConfigPoint point; // what differences are taken of: for a config given from outside only the nearest point
    Trial trial;
  };

  void propose_first_population();
  const ConfigPoint& one_of(const std::vector<ConfigPoint>& points);
  void propose_generation();
  bool propose(const Config& config, ConfigPoint point, size_t parent);
  ConfigPoint difference_trial(const ConfigPoint& parent);

  const ConfigSpec spec_;
  const DifferentialEvolutionOptions options_;
  Random random_;

  std::vector<Member> population_; // best first
  std::unordered_set<Config> proposed_;

  struct Proposal {
    Config config;
    ConfigPoint point;
    size_t parent; // index in population_
  };
  std::vector<Proposal> batch_;

  size_t generation_ = 0; // 0: the first population
  size_t replaced_ = 0;
  bool exhausted_ = false;
};

} // namespace tilewright
