// The tuning log as it is read.
#include "autotune/tuning_log.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

const TuningSubject kSubject{"matmul(float32[1024, 1024])", "", ""};

TEST(TuningLog, times_have_three_digits_and_a_unit) {
  EXPECT_EQ(time_text(0.123), "0.12 us");
  EXPECT_EQ(time_text(1.234), "1.23 us");
  EXPECT_EQ(time_text(9.999), "10.0 us");
  EXPECT_EQ(time_text(45.67), "45.7 us");
  EXPECT_EQ(time_text(99.96), "100 us");
  EXPECT_EQ(time_text(999.4), "999 us");
  EXPECT_EQ(time_text(999.6), "1.00 ms");
  EXPECT_EQ(time_text(13249), "13.2 ms");
  EXPECT_EQ(time_text(999499), "999 ms");
  EXPECT_EQ(time_text(999600), "1.00 s");
  EXPECT_EQ(time_text(61.5e6), "61.5 s");
}

TEST(TuningLog, begins_with_what_is_tuned_how_long_and_how_to_stop) {
  EXPECT_EQ(start_text(kSubject, 25),
            "tuning matmul(float32[1024, 1024]) for at most 25 s; Ctrl-C keeps the best so far");
  EXPECT_EQ(space_text(883200, 2, false), "883200 configs to choose from; compiling on 2 threads, measuring alone");
  EXPECT_EQ(space_text(1.5e9, 1, false), "1.5e+09 configs to choose from; compiling on 1 thread, measuring alone");
  EXPECT_EQ(space_text(6000, 15, true), "6000 configs to choose from; compiling in 15 processes, measuring meanwhile");
}

TEST(TuningLog, has_a_line_for_every_generation_with_what_the_best_config_has_of_its_own) {
  const Config usual{{"block_sizes", {48, 64}}, {"pid_type", "flat"}};
  EXPECT_EQ(default_text(usual),
            R"(default config: {"block_sizes": [48, 64], "pid_type": "flat"}; below, what differs from it)");
  const Config best{{"block_sizes", {48, 128}}, {"pid_type", "flat"}};
  EXPECT_EQ(step_text(2.14, {"first population", 0, {31000, 13200, 210000}}, 3, best, usual),
            R"([   2.1 s] first population: failed  3, replaced  0; fastest 13.2 ms, median 31.0 ms, slowest  210 ms; )"
            R"(best {"block_sizes": [48, 128]})");
  EXPECT_EQ(step_text(4.0, {"generation 1", 12, {1}}, 0, usual, usual),
            R"([   4.0 s] generation 1:     failed  0, replaced 12; fastest 1.00 us, median 1.00 us, slowest 1.00 us; )"
            R"(best {})");
  EXPECT_EQ(step_text(123.4, {"generation 14", 0, {}}, 40, usual, usual),
            "[ 123.4 s] generation 14:    failed 40, replaced  0; nothing measured");
}

TuningResult example_result() {
  TuningResult result;
  result.best = {{"block_sizes", {64, 128}}};
  result.microseconds = 12100;
  result.default_microseconds = 41300;
  result.stop_reason = StopReason::budget_used;
  result.seconds = 25.02;
  result.history.resize(312);
  result.counts = {
      {Outcome::measured, 298}, {Outcome::too_slow, 10}, {Outcome::compile_failed, 1}, {Outcome::wrong_result, 3}};
  result.failures = {{{Outcome::compile_failed, "out of registers"}, 1}, {{Outcome::wrong_result, "off by 0.5"}, 3}};
  return result;
}

TEST(TuningLog, ends_with_the_result_the_reasons_and_the_line_to_paste) {
  const TuningResult result = example_result();
  EXPECT_EQ(end_texts(kSubject, result, 25, "", result.best.to_cpp()),
            (std::vector<std::string>{
                "[  25.0 s] matmul(float32[1024, 1024]) takes 12.1 ms with the best config and 41.3 ms with the "
                "default one, 3.41 times as long",
                "312 configs searched: 298 measured, 10 too slow, 4 failed; stopped because the budget of 25 s is used",
                "  3 x wrong result: off by 0.5", "  1 x compile failed: out of registers",
                "To have this config without tuning:", R"(  tw::Config{{"block_sizes", {64, 128}}})"}));
}

TEST(TuningLog, gives_a_reason_one_line) {
  TuningResult result = example_result();
  result.failures = {{{Outcome::run_failed, "first line\nsecond line"}, 4}};
  EXPECT_EQ(end_texts(kSubject, result, 25, "", "")[2], "  4 x run failed: first line");
}

TEST(TuningLog, counts_reasons_together_that_differ_in_their_numbers_only) {
  TuningResult result = example_result();
  result.failures = {{{Outcome::wrong_result, "off by 0.25, more than 1e-6"}, 2},
                     {{Outcome::wrong_result, "off by 13.5, more than 1e-6"}, 1},
                     {{Outcome::wrong_result, "not a number"}, 4}};
  const std::vector<std::string> lines = end_texts(kSubject, result, 25, "", "");
  EXPECT_EQ(lines[2], "  4 x wrong result: not a number");
  EXPECT_EQ(lines[3], "  3 x wrong result: off by 0.25, more than 1e-6");
}

TEST(TuningLog, says_why_it_ended) {
  TuningResult result = example_result();
  auto second_line = [&] { return end_texts(kSubject, result, 25, "20 generations are done", "")[1]; };
  result.stop_reason = StopReason::interrupted;
  EXPECT_TRUE(second_line().ends_with("; stopped because it was interrupted"));
  result.stop_reason = StopReason::search_finished;
  EXPECT_TRUE(second_line().ends_with("; stopped because 20 generations are done"));
}

TEST(TuningLog, says_that_the_default_is_taken_when_nothing_was_measured) {
  TuningResult result;
  result.microseconds = result.default_microseconds = INFINITY;
  EXPECT_EQ(end_texts(kSubject, result, 25, "", "")[0],
            "[   0.0 s] matmul(float32[1024, 1024]): nothing was measured; the default config is taken");
}

TEST(TuningLog, stays_short_when_every_candidate_fails_in_its_own_way) {
  TuningResult result = example_result();
  result.failures.clear();
  for (int i = 0; i < 100; ++i) result.failures[{Outcome::run_failed, "reason " + std::string(i, 'x')}] = 1;
  const std::vector<std::string> lines = end_texts(kSubject, result, 25, "", "");
  EXPECT_EQ(lines.size(), 2u + 9 + 2);
  EXPECT_EQ(lines[10], "  and 92 other reasons");
}

} // namespace
} // namespace tilewright
