// How often a candidate is run to know its time: as often as it deserves.
//
// The time is the least of the samples. Whatever else the machine does only ever adds to a sample, so on a shared
// machine the least is what repeats best. Which of several close leaders is fastest is decided later, in turns.
#pragma once

#include "autotune/candidate.h"
#include "autotune/clock.h"

#include <functional>

namespace tilewright {

struct MeasurePolicy {
  double enough_seconds = 0.02;  // stop when so much was measured in all ...
  int least_samples = 3;         // ... and so many samples were taken,
  int most_samples = 50;         // or when so many were
  double sample_seconds = 50e-6; // a sample of a shorter kernel is the mean of several launches: clocks are not exact

  // A candidate slower than the best by this factor after its first sample is not measured further; after the second
  // sample a smaller factor will do.
  double slow_after_one = 2.0;
  double slow_after_two = 1.25;
  // A single launch that takes this much longer than the best may be given up half way.
  double give_up = 4.0;
};

/// Runs the kernel once. It may stop half way when `give_up_microseconds` have passed, and then returns false.
using LaunchOnce = std::function<bool(double give_up_microseconds)>;

/// `launch` was run before, to check its result: nothing here is a warm-up.
Measurement measure_runtime(const LaunchOnce& launch, Clock& clock, const MeasurePolicy& policy,
                            double best_microseconds);

} // namespace tilewright
