// Times of things that are to be compared, on a machine that others use too: a sample of each in turn, round after
// round, so that what disturbs one disturbs all, and then each one's median.
#pragma once

#include "autotune/clock.h"

#include <functional>
#include <span>
#include <vector>

namespace tilewright {

struct Timing {
  double microseconds = 0; // the median of the samples
  double least_microseconds = 0;
  int samples = 0;
  std::vector<double> rounds = {}; // microseconds of each sample
};

struct TurnPolicy {
  double sample_seconds = 0.005; // launches are repeated to fill a sample
  int least_rounds = 11;
  double enough_seconds = 0.5;     // of samples; more rounds are made until there are so many
  double most_seconds = 10;        // in all; then the least is 3 rounds
  std::function<void()> rest = {}; // before each sample, if any
};

/// Each sample begins with a launch that does not count, for the caches and the clock's rise.
std::vector<Timing> time_in_turns(std::span<const std::function<void()>> contestants, Clock& clock,
                                  const TurnPolicy& policy = {});

/// The median over the rounds of a's time over b's, for two that were timed together. What a shared machine does to
/// neighbours in a round it does to both: so this is steadier than the ratio of their medians.
double median_ratio(const Timing& a, const Timing& b);

} // namespace tilewright
