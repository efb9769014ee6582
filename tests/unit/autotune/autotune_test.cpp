// A tuning run from end to end, on a machine of our own: time passes on a fake clock, one compile thread.
#include "autotune/autotune.h"

#include "autotune/differential_evolution.h"
#include "autotune/random_search.h"
#include "autotune/synthetic_kernel.h"
#include "support/error_of.h"

#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

class Autotune : public testing::Test {
protected:
  TuningResult tune(Search& search) {
    options.clock = &clock;
    options.log = [this](std::string_view line) { lines.emplace_back(line); };
    return autotune(search, runner, {"kernel(float32[8])", "tile ir", "arguments"}, synthetic_spec(), options);
  }
  TuningResult tune() {
    DifferentialEvolutionSearch search(synthetic_spec(), {});
    return tune(search);
  }
  /// A few configs in this order.
  TuningResult tune_random(size_t count) {
    RandomSearch search(synthetic_spec(), {.count = count});
    return tune(search);
  }

  FakeClock clock;
  FakeRunner runner{clock};
  TuneOptions options{.budget_seconds = 1000, .compile_threads = 1};
  std::vector<std::string> lines;
};

TEST_F(Autotune, finds_the_best_config) {
  const TuningResult result = tune();
  EXPECT_LE(result.microseconds, 100.001);
  EXPECT_EQ(result.microseconds, synthetic_time(result.best));
  EXPECT_EQ(result.default_microseconds, synthetic_time(default_config(synthetic_spec())));
  EXPECT_EQ(result.stop_reason, StopReason::search_finished);
  EXPECT_EQ(result.history.size(), 840u);
  EXPECT_EQ(result.counts.at(Outcome::measured), 840u);
  EXPECT_TRUE(result.failures.empty());
}

TEST_F(Autotune, logs_a_line_a_generation_and_the_line_to_paste) {
  const TuningResult result = tune();
  ASSERT_EQ(lines.size(), 4u + 21 + 4);
  EXPECT_EQ(lines[0], "tuning kernel(float32[8]) for at most 1000 s; Ctrl-C keeps the best so far");
  EXPECT_EQ(lines[1], "DifferentialEvolutionSearch: population 40, generations 20, crossover rate 0.8, seed 0");
  EXPECT_EQ(lines[2], "313632 configs to choose from; compiling on 1 thread, measuring alone");
  EXPECT_TRUE(lines[3].starts_with(R"(default config: {"block_sizes": [32, 32], )")) << lines[3];
  EXPECT_TRUE(lines[4].starts_with("[   0.8 s] first population: failed  0, replaced  0; fastest ")) << lines[4];
  EXPECT_TRUE(lines[5].starts_with("[   1.6 s] generation 1:     failed  0, replaced ")) << lines[5];
  EXPECT_TRUE(lines[24].starts_with("[  16.8 s] generation 20: ")) << lines[24];
  EXPECT_TRUE(lines[24].find(R"(; best {"block_sizes": [128, 256])") != std::string::npos) << lines[24];
  EXPECT_TRUE(lines[25].find("kernel(float32[8]) takes 100 us with the best config and ") != std::string::npos);
  EXPECT_EQ(lines[26],
            "840 configs searched: 840 measured, 0 too slow, 0 failed; stopped because 20 generations are done");
  EXPECT_EQ(lines[28], "  " + result.best.to_cpp());
}

TEST_F(Autotune, the_line_to_paste_is_the_callers) {
  options.paste = [](const Config& config) { return "kernel.run(" + config.to_cpp() + ")"; };
  const TuningResult result = tune_random(4);
  EXPECT_EQ(lines.back(), "  kernel.run(" + result.best.to_cpp() + ")");
}

TEST_F(Autotune, gives_the_runner_whole_jobs_and_the_best_time_so_far) {
  double least = INFINITY;
  runner.measured = [&](const Config& config, double best) {
    EXPECT_EQ(best, least);
    least = std::min(least, synthetic_time(config));
    return Measurement{synthetic_time(config)};
  };
  tune_random(50);
}

TEST_F(Autotune, keeps_the_budget_inside_a_generation) {
  options.budget_seconds = 0.5; // of 0.02 s a candidate, and a tenth is kept for the leaders
  const TuningResult result = tune();
  EXPECT_EQ(result.stop_reason, StopReason::budget_used);
  EXPECT_GE(result.history.size(), 18u);
  EXPECT_LE(result.history.size(), 25u);
  EXPECT_LE(result.seconds, 0.52);
  EXPECT_EQ(lines.rbegin()[2].substr(lines.rbegin()[2].find("; stopped")),
            "; stopped because the budget of 0.5 s is used");
}

TEST_F(Autotune, tries_the_default_even_without_any_budget) {
  options.budget_seconds = 0;
  const TuningResult result = tune();
  EXPECT_EQ(runner.compiled, 1);
  EXPECT_EQ(result.history.size(), 1u);
  EXPECT_EQ(result.best, default_config(synthetic_spec()));
  EXPECT_EQ(result.microseconds, result.default_microseconds);
}

TEST_F(Autotune, counts_failures_by_kind_and_reason_and_goes_on) {
  int count = 0;
  runner.fails_to_compile = [&](const Config&) -> std::optional<CandidateFailure> {
    ++count;
    if (count % 10 == 1) return CandidateFailure{Outcome::compile_failed, "out of registers"};
    if (count % 10 == 2) throw std::runtime_error("a bug");
    if (count % 10 == 3) throw 3;
    return std::nullopt;
  };
  int measured = 0;
  runner.measured = [&](const Config& config, double) -> std::expected<Measurement, CandidateFailure> {
    ++measured;
    if (measured % 7 == 1) return std::unexpected(CandidateFailure{Outcome::wrong_result, "off by 1"});
    if (measured % 7 == 2) throw std::runtime_error("boom");
    if (measured % 7 == 3) return Measurement{1e6, true};
    return Measurement{synthetic_time(config)};
  };
  const TuningResult result = tune_random(100);
  EXPECT_EQ(result.history.size(), 100u);
  EXPECT_EQ(result.counts, (std::map<Outcome, size_t>{{Outcome::measured, 40},
                                                      {Outcome::too_slow, 10},
                                                      {Outcome::compile_failed, 30},
                                                      {Outcome::run_failed, 10},
                                                      {Outcome::wrong_result, 10}}));
  EXPECT_EQ(result.failures.at({Outcome::compile_failed, "a bug"}), 10u);
  EXPECT_EQ(result.failures.at({Outcome::compile_failed, "something that is no std::exception was thrown"}), 10u);
  EXPECT_EQ(result.failures.at({Outcome::run_failed, "boom"}), 10u);
  EXPECT_EQ(result.failures.at({Outcome::wrong_result, "off by 1"}), 10u);
  EXPECT_EQ(result.microseconds, synthetic_time(result.best));
}

TEST_F(Autotune, a_time_given_up_is_never_the_best) {
  runner.measured = [](const Config& config, double best) {
    return best < INFINITY ? Measurement{1, true} : Measurement{synthetic_time(config), false};
  };
  EXPECT_EQ(tune().best, default_config(synthetic_spec()));
}

TEST_F(Autotune, when_all_fail_the_error_has_the_reasons_counted) {
  runner.measured = [](const Config& config, double) -> std::expected<Measurement, CandidateFailure> {
    const bool flat = config.get_string("pid_type") == "flat";
    return std::unexpected(CandidateFailure{Outcome::wrong_result, flat ? "off by 1" : "not a number"});
  };
  const std::string message = error_of([&] { tune_random(30); });
  EXPECT_TRUE(message.starts_with("tuning kernel(float32[8]): all 30 candidates failed\n  ")) << message;
  EXPECT_NE(message.find(" x wrong result: off by 1"), message.npos) << message;
  EXPECT_NE(message.find(" x wrong result: not a number"), message.npos) << message;
  EXPECT_TRUE(message.ends_with("one config is tried with .with(config).")) << message;
}

TEST_F(Autotune, compiles_a_chunk_then_measures_alone_and_frees_the_losers) {
  options.compile_threads = 4;
  options.leaders = 3;
  tune();
  EXPECT_FALSE(runner.overlapped);
  EXPECT_EQ(runner.alive, 0);
  EXPECT_LE(runner.most_alive, 4 * 4 + 3 + 1) << "a chunk of four for each thread, and the leaders";
}

TEST_F(Autotune, compares_the_leaders_in_turns_and_takes_the_one_that_stays_fastest) {
  // The search sees one lucky time; measured again, another config is faster.
  const std::vector<Config> configs = random_configs(synthetic_spec(), 3, 1);
  RandomSearch search(synthetic_spec(), {.count = 4, .first = configs});
  const std::map<std::string, double> first = {
      {configs[0].to_json(), 90}, {configs[1].to_json(), 95}, {configs[2].to_json(), 200}};
  const std::map<std::string, double> later = {{configs[0].to_json(), 100}, {configs[1].to_json(), 96}};
  runner.measured = [&](const Config& config, double) {
    auto at = first.find(config.to_json());
    return Measurement{at == first.end() ? 300 : at->second};
  };
  std::vector<Config> turns;
  runner.measured_again = [&](const Config& config) {
    turns.push_back(config);
    return later.at(config.to_json()) + (turns.size() == 5 ? 1000 : 0); // one disturbed sample changes nothing
  };
  const TuningResult result = tune(search);
  EXPECT_EQ(result.best, configs[1]);
  EXPECT_EQ(result.microseconds, 96);
  ASSERT_GE(turns.size(), 6u);
  for (size_t i = 0; i < turns.size(); ++i) EXPECT_EQ(turns[i], configs[i % 2]) << "in turns, and only what is close";
}

TEST_F(Autotune, the_default_stays_where_nothing_is_faster_by_more_than_chance) {
  const Config standard = default_config(synthetic_spec());
  double others_later = 99; // of 100
  runner.measured = [&](const Config& config, double) {
    return Measurement{config == standard ? 110 : 90 + 1e-9 * (config.hash() % 1000)}; // all others were lucky
  };
  runner.measured_again = [&](const Config& config) { return config == standard ? 100 : others_later; };
  const TuningResult kept = tune_random(20);
  EXPECT_EQ(kept.best, standard);
  EXPECT_EQ(kept.microseconds, 100);

  others_later = 95;
  const TuningResult changed = tune_random(20);
  EXPECT_NE(changed.best, standard);
  EXPECT_EQ(changed.microseconds, 95);
  EXPECT_EQ(changed.default_microseconds, 100);
}

TEST_F(Autotune, a_leader_that_fails_when_measured_again_is_not_the_best) {
  runner.measured = [](const Config& config, double) {
    return Measurement{config == default_config(synthetic_spec()) ? 100.0 : 90 + 1e-9 * (config.hash() % 1000)};
  };
  Config fails;
  runner.measured_again = [&](const Config& config) -> double {
    if (fails.empty()) fails = config;
    if (config == fails) throw std::runtime_error("only once");
    return 91;
  };
  const TuningResult result = tune_random(10);
  EXPECT_NE(result.best, fails);
  EXPECT_EQ(result.failures.at({Outcome::run_failed, "only once"}), 1u);
}

TEST_F(Autotune, a_stop_request_keeps_the_best_so_far) {
  std::stop_source source;
  options.cancel = source.get_token();
  int measured = 0;
  runner.measured = [&](const Config& config, double) {
    if (++measured == 10) source.request_stop();
    return Measurement{synthetic_time(config)};
  };
  const TuningResult result = tune();
  EXPECT_EQ(result.stop_reason, StopReason::interrupted);
  EXPECT_EQ(result.history.size(), 10u);
  EXPECT_EQ(result.microseconds, synthetic_time(result.best));
  EXPECT_LE(result.microseconds, result.default_microseconds);
}

TEST_F(Autotune, ctrl_c_keeps_the_best_so_far) {
  int measured = 0;
  runner.measured = [&](const Config& config, double) {
    if (++measured == 10) std::raise(SIGINT);
    return Measurement{synthetic_time(config)};
  };
  const TuningResult result = tune();
  EXPECT_EQ(result.stop_reason, StopReason::interrupted);
  EXPECT_EQ(result.history.size(), 10u);
  EXPECT_LT(result.microseconds, INFINITY);
}

TEST_F(Autotune, stopped_before_anything_was_measured_it_takes_the_default) {
  std::stop_source source;
  source.request_stop();
  options.cancel = source.get_token();
  const TuningResult result = tune();
  EXPECT_EQ(result.best, default_config(synthetic_spec()));
  EXPECT_EQ(result.microseconds, INFINITY);
  EXPECT_EQ(runner.compiled, 0);
}

TEST_F(Autotune, the_history_tells_every_candidate_in_order) {
  const TuningResult result = tune_random(20);
  ASSERT_EQ(result.history.size(), 20u);
  EXPECT_EQ(result.history[0].trial.config, default_config(synthetic_spec()));
  EXPECT_TRUE(std::ranges::is_sorted(result.history, {}, &TrialRecord::seconds));
  for (const TrialRecord& record : result.history)
    EXPECT_EQ(record.trial.microseconds, synthetic_time(record.trial.config));
}

} // namespace
} // namespace tilewright
