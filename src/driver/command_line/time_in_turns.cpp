#include "driver/command_line/time_in_turns.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewright {
namespace {

constexpr int kMostLaunches = 100000;
constexpr int kLeastRoundsWhenSlow = 3;
constexpr int kMostRounds = 1001;

int launches_per_sample(const std::function<void()>& launch, Clock& clock, double sample_seconds) {
  launch(); // the first is not like the others
  for (int launches = 1;; launches *= 10) {
    double start = clock.seconds();
    for (int i = 0; i < launches; ++i) launch();
    double seconds = clock.seconds() - start;
    // A tenth of a sample is long enough to tell how many launches fill it.
    if (seconds * 10 < sample_seconds && launches * 10 <= kMostLaunches) continue;
    if (seconds <= 0) return launches;
    return std::clamp(static_cast<int>(std::lround(launches * sample_seconds / seconds)), 1, kMostLaunches);
  }
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

} // namespace

std::vector<Timing> time_in_turns(std::span<const std::function<void()>> contestants, Clock& clock,
                                  const TurnPolicy& policy) {
  std::vector<int> launches;
  for (const auto& launch : contestants) launches.push_back(launches_per_sample(launch, clock, policy.sample_seconds));

  std::vector<std::vector<double>> samples(contestants.size());
  double start = clock.seconds(), sampled_seconds = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    if (round >= policy.least_rounds && sampled_seconds >= policy.enough_seconds) break;
    if (round >= kLeastRoundsWhenSlow && clock.seconds() - start >= policy.most_seconds) break;
    for (size_t i = 0; i < contestants.size(); ++i) {
      if (policy.rest) policy.rest();
      contestants[i]();
      double begin = clock.seconds();
      for (int launch = 0; launch < launches[i]; ++launch) contestants[i]();
      double seconds = clock.seconds() - begin;
      sampled_seconds += seconds;
      samples[i].push_back(seconds / launches[i] * 1e6);
    }
  }
  std::vector<Timing> timings;
  for (std::vector<double>& each : samples)
    timings.push_back({median(each), *std::ranges::min_element(each), static_cast<int>(each.size()), std::move(each)});
  return timings;
}

double median_ratio(const Timing& a, const Timing& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.rounds.size(), b.rounds.size()); ++i) ratios.push_back(a.rounds[i] / b.rounds[i]);
  return median(std::move(ratios));
}

} // namespace tilewright
