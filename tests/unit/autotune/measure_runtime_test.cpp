// How often a candidate is run. Time passes on a fake clock only.
#include "autotune/measure_runtime.h"

#include "autotune/synthetic_kernel.h"

#include <gtest/gtest.h>
#include <vector>

namespace tilewright {
namespace {

constexpr double kNoBest = INFINITY;

struct Measured {
  Measurement measurement;
  int launches;
};

/// Launches take the given times one after the other, the last one from then on.
Measured measure(std::vector<double> microseconds, double best, MeasurePolicy policy = {}) {
  FakeClock clock;
  int launches = 0;
  auto launch = [&](double give_up) {
    const double takes = microseconds[std::min<size_t>(launches++, microseconds.size() - 1)];
    clock.pass(std::min(takes, give_up) * 1e-6);
    return takes <= give_up;
  };
  const Measurement measurement = measure_runtime(launch, clock, policy, best);
  return {measurement, launches};
}

TEST(MeasureRuntime, takes_the_least_of_the_samples) {
  const Measured run = measure({1200, 1000, 1500, 1100}, kNoBest);
  EXPECT_NEAR(run.measurement.microseconds, 1000, 1e-3);
  EXPECT_FALSE(run.measurement.gave_up);
}

TEST(MeasureRuntime, measures_until_there_is_enough) {
  EXPECT_NEAR(measure({1000}, kNoBest).launches, 20, 1); // 20 ms in all
  EXPECT_EQ(measure({100000}, kNoBest).launches, 3);     // the least samples
  EXPECT_EQ(measure({100}, kNoBest).launches, 50);       // the most
}

TEST(MeasureRuntime, gathers_short_launches_into_samples_that_the_clock_can_tell) {
  const Measured run = measure({2}, kNoBest);
  EXPECT_NEAR(run.measurement.microseconds, 2, 1e-6);
  EXPECT_NEAR(run.launches, 50 * 28, 100);
  EXPECT_EQ(measure({0}, kNoBest).measurement.microseconds, 0) << "even a launch too short for any clock ends";
}

TEST(MeasureRuntime, leaves_a_candidate_that_is_clearly_slower) {
  EXPECT_EQ(measure({2500}, 1000).launches, 1);
  EXPECT_EQ(measure({1400}, 1000).launches, 2);
  EXPECT_NEAR(measure({1100}, 1000).launches, 20, 2) << "close to the best is measured well";
  EXPECT_NEAR(measure({1900, 990}, 1000).measurement.microseconds, 990, 1e-3) << "a slow first one is forgiven";
}

TEST(MeasureRuntime, gives_up_half_way_what_takes_for_ever) {
  const Measured run = measure({1e9}, 1000);
  EXPECT_TRUE(run.measurement.gave_up);
  EXPECT_EQ(run.launches, 1);
  EXPECT_NEAR(run.measurement.microseconds, 4000, 1e-3) << "a lower bound";
}

TEST(MeasureRuntime, lets_exceptions_of_the_launch_through) {
  FakeClock clock;
  EXPECT_THROW(measure_runtime([](double) -> bool { throw std::runtime_error("boom"); }, clock, {}, kNoBest),
               std::runtime_error);
}

} // namespace
} // namespace tilewright
