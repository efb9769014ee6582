#include "autotune/differential_evolution.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {
namespace {

// Found by trying on models of a matmul's and a softmax's search space, for what is best after 200 trials of
// 10^6 configs: half of the trials near the best take the loss against the optimum from 20% to 5%.
constexpr double kNearBest = 0.5; // the share of trials that are a few steps from the best member
constexpr double kGreed = 0.5;    // the probability that a difference is added to the best member, not a random one
constexpr double kLeastWeight = 0.4, kLargestWeight = 1.0; // a difference's weight is drawn from this range

// How often a trial is drawn again when it has been seen before.
constexpr int kDraws = 24;

// Where the first configs fill a population, a part of one is tried beside them.
constexpr size_t kOthersBeside = 4;

/// Measured before given up before failed; then by time.
bool is_better(const Trial& a, const Trial& b) {
  auto rank = [](const Trial& trial) {
    return trial.outcome == Outcome::measured ? 0 : trial.outcome == Outcome::too_slow ? 1 : 2;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return rank(a) < 2 && a.microseconds < b.microseconds;
}

} // namespace

DifferentialEvolutionSearch::DifferentialEvolutionSearch(ConfigSpec spec, DifferentialEvolutionOptions options)
    : spec_(std::move(spec)), options_(std::move(options)), random_(options_.seed) {}

std::string DifferentialEvolutionSearch::description() const {
  return fmt::format("DifferentialEvolutionSearch: population {}, generations {}, crossover rate {}, seed {}",
                     options_.population, options_.generations, options_.crossover_rate, options_.seed);
}

std::vector<Config> DifferentialEvolutionSearch::propose() {
  batch_.clear();
  if (population_.empty())
    propose_first_population();
  else if (generation_ < options_.generations)
    propose_generation();
  std::vector<Config> configs;
  for (const Proposal& proposal : batch_) configs.push_back(proposal.config);
  return configs;
}

/// Adds to the batch what was not proposed before; whether it did.
bool DifferentialEvolutionSearch::propose(const Config& config, ConfigPoint point, size_t parent) {
  if (!proposed_.insert(config).second) return false;
  batch_.push_back({config, std::move(point), parent});
  return true;
}

void DifferentialEvolutionSearch::propose_first_population() {
  const ConfigPoint start = default_point(spec_);
  propose(decode(spec_, start), start, 0);
  std::vector<ConfigPoint> sensible = {start};
  for (const Config& config : options_.first) {
    sensible.push_back(encode(spec_, config));
    propose(config, sensible.back(), 0);
  }
  const size_t wanted = std::max(options_.population, batch_.size() + options_.population / kOthersBeside);
  const size_t most_draws = kDraws * options_.population; // a small space may hold fewer configs than are asked for
  for (size_t i = 0; i < most_draws && batch_.size() < wanted; ++i) {
    ConfigPoint point = i % 2 == 0 ? random_point(spec_, random_) : mutate(spec_, one_of(sensible), random_);
    propose(decode(spec_, point), point, 0);
  }
}

const ConfigPoint& DifferentialEvolutionSearch::one_of(const std::vector<ConfigPoint>& points) {
  return points.size() == 1 ? points.front() : points[random_.below(points.size())];
}

void DifferentialEvolutionSearch::propose_generation() {
  for (size_t parent = 0; parent < population_.size(); ++parent) {
    const bool near_best = random_.chance(kNearBest);
    for (int draw = 0; draw < kDraws; ++draw) {
      ConfigPoint point;
      if (draw >= 2 * kDraws / 3) // nothing new around the population
        point = random_point(spec_, random_);
      else if (draw >= kDraws / 3) // the population has converged: search on around all of it
        point = mutate(spec_, population_[random_.below(population_.size())].point, random_);
      else if (near_best)
        point = mutate(spec_, population_.front().point, random_);
      else
        point = difference_trial(population_[parent].point);
      if (propose(decode(spec_, point), point, parent)) break;
    }
  }
  exhausted_ = batch_.empty();
  if (!exhausted_) ++generation_;
}

ConfigPoint DifferentialEvolutionSearch::difference_trial(const ConfigPoint& parent) {
  // Failed members lie anywhere: they are replaced, but not learned from.
  const size_t usable =
      std::ranges::count_if(population_, [](const Member& m) { return !is_failure(m.trial.outcome); });
  if (usable < 2) return random_point(spec_, random_);
  const size_t a = random_.chance(kGreed) ? 0 : random_.below(usable);
  const size_t b = random_.below(usable);
  size_t c = random_.below(usable - 1);
  if (c >= b) ++c;
  const double weight = kLeastWeight + (kLargestWeight - kLeastWeight) * random_.unit();
  return evolve(spec_, parent, population_[a].point, population_[b].point, population_[c].point, weight,
                options_.crossover_rate, random_);
}

void DifferentialEvolutionSearch::learn(std::span<const Trial> trials) {
  replaced_ = 0;
  const bool first = generation_ == 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].outcome == Outcome::skipped) continue;
    Member member{batch_[i].point, trials[i]};
    if (first) {
      population_.push_back(std::move(member));
    } else if (Member& parent = population_[batch_[i].parent]; !is_better(parent.trial, member.trial)) {
      parent = std::move(member);
      ++replaced_;
    }
  }
  std::ranges::stable_sort(population_, is_better, &Member::trial);
  if (population_.size() > options_.population) population_.resize(options_.population);
}

SearchProgress DifferentialEvolutionSearch::progress() const {
  SearchProgress progress{.step = generation_ == 0 ? "first population" : fmt::format("generation {}", generation_),
                          .replaced = replaced_};
  for (const Member& member : population_)
    if (member.trial.outcome == Outcome::measured) progress.times.push_back(member.trial.microseconds);
  return progress;
}

std::string DifferentialEvolutionSearch::why_finished() const {
  if (exhausted_) return "no config is left that was not tried";
  return fmt::format("{} generations are done", options_.generations);
}

} // namespace tilewright
