#include "autotune/measure_runtime.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright {

static constexpr int kMostLaunchesInSample = 10000;

Measurement measure_runtime(const LaunchOnce& launch, Clock& clock, const MeasurePolicy& policy,
                            double best_microseconds) {
  const double give_up = policy.give_up * best_microseconds;
  double least = std::numeric_limits<double>::infinity();
  double total_seconds = 0;
  int launches = 1; // in a sample
  for (int samples = 0; samples < policy.most_samples;) {
    const double start = clock.seconds();
    for (int i = 0; i < launches; ++i)
      if (!launch(give_up)) return {(clock.seconds() - start) * 1e6, true};
    const double seconds = clock.seconds() - start;
    total_seconds += seconds;

    // Too short for the clock: the sample only tells how many launches make a good one.
    if (seconds < policy.sample_seconds && total_seconds < policy.enough_seconds && launches < kMostLaunchesInSample) {
      const double wanted = launches * policy.sample_seconds / std::max(seconds, policy.sample_seconds / 100);
      launches = std::clamp(static_cast<int>(std::ceil(wanted * 1.1)), launches + 1, kMostLaunchesInSample);
      continue;
    }
    ++samples;
    least = std::min(least, seconds / launches * 1e6);
    if (samples >= policy.least_samples && total_seconds >= policy.enough_seconds) break;
    if (least > policy.slow_after_one * best_microseconds) break;
    if (samples >= 2 && least > policy.slow_after_two * best_microseconds) break;
  }
  return {least, false};
}

} // namespace tilewright
