#include "driver/command_line/time_in_turns.h"

#include <gtest/gtest.h>

#include <string>

using namespace tilewright;

namespace {

struct FakeClock final : Clock {
  double now = 0;
  double seconds() override { return now; }
};

TEST(TimeInTurns, gives_the_median_of_each) {
  FakeClock clock;
  int launches = 0;
  std::vector<std::function<void()>> contestants = {
      [&] { clock.now += 0.010; },
      [&] { clock.now += ++launches % 8 == 0 ? 1.0 : 0.020; }, // now and then something else takes the machine
  };
  std::vector<Timing> timings = time_in_turns(contestants, clock);
  ASSERT_EQ(timings.size(), 2u);
  EXPECT_NEAR(timings[0].microseconds, 10000, 1);
  EXPECT_NEAR(timings[1].microseconds, 20000, 1);
  EXPECT_NEAR(timings[1].least_microseconds, 20000, 1);
  EXPECT_EQ(timings[0].samples, timings[1].samples);
}

TEST(TimeInTurns, takes_samples_in_turns_after_a_rest) {
  FakeClock clock;
  std::string order;
  std::vector<std::function<void()>> contestants = {
      [&] { order += 'a', clock.now += 1; },
      [&] { order += 'b', clock.now += 1; },
  };
  TurnPolicy policy;
  policy.rest = [&] { order += '-'; };
  policy.least_rounds = 3;
  time_in_turns(contestants, clock, policy);
  // Two launches of each to learn their length; then in every sample one that does not count.
  EXPECT_EQ(order, "aabb-aa-bb-aa-bb-aa-bb");
}

TEST(TimeInTurns, fills_samples_with_short_launches) {
  FakeClock clock;
  int launches = 0;
  std::function<void()> contestant = [&] { ++launches, clock.now += 1e-6; };
  TurnPolicy policy;
  policy.least_rounds = 3;
  policy.enough_seconds = 0;
  Timing timing = time_in_turns({&contestant, 1}, clock, policy)[0];
  EXPECT_NEAR(timing.microseconds, 1, 1e-3);
  EXPECT_EQ(timing.samples, 3);
  EXPECT_GT(launches, 3 * 4900);
}

TEST(TimeInTurns, ends_early_where_a_launch_takes_long) {
  FakeClock clock;
  std::function<void()> contestant = [&] { clock.now += 100; };
  EXPECT_EQ(time_in_turns({&contestant, 1}, clock)[0].samples, 3);
}

TEST(TimeInTurns, median_ratio_compares_neighbours) {
  FakeClock clock;
  int round = 0;
  // The machine is now fast, now slow; what two that follow each other have in common does not count.
  std::vector<std::function<void()>> contestants = {
      [&] { clock.now += 0.010 * (1 + round % 3); },
      [&] { clock.now += 0.020 * (1 + round % 3); },
  };
  TurnPolicy policy;
  int rests = 0;
  policy.rest = [&] { round = rests++ / 2; };
  std::vector<Timing> timings = time_in_turns(contestants, clock, policy);
  EXPECT_NEAR(median_ratio(timings[0], timings[1]), 0.5, 1e-9);
  EXPECT_NEAR(median_ratio(timings[1], timings[0]), 2, 1e-9);
  EXPECT_EQ(timings[0].rounds.size(), static_cast<size_t>(timings[0].samples));
}

} // namespace
