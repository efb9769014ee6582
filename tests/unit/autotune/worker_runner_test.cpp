// Candidates in worker processes, and each fault injected: it costs the candidate, is counted by kind, and the run goes
// on.
#include "autotune/worker_runner.h"

#include "autotune/autotune.h"
#include "autotune/compile_limit.h"
#include "support/error.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace tilewright {
namespace {

/// A config that says in its only option what becomes of it.
Config says(const std::string& words) { return Config{{"job", words}}; }

WorkerRunner::Options options_with(const std::string& baseline, double limit_seconds = 60) {
  WorkerRunner::Options options;
  options.compiler = {.command = {TILEWRIGHT_FAULTY_WORKER}, .memory_bytes = uint64_t(1) << 32};
  options.measurer = {.command = {TILEWRIGHT_FAULTY_WORKER}, .memory_bytes = uint64_t(1) << 32};
  options.compilers = 2;
  options.compile_limit = {.least_seconds = limit_seconds, .most_seconds = limit_seconds};
  options.measure_seconds = limit_seconds;
  options.baseline = says(baseline);
  options.write_job = [](const CandidateJob& job, const std::filesystem::path& folder) {
    std::ofstream(folder / "job") << job.config.get_string("job");
  };
  return options;
}

struct Tried {
  Outcome outcome = Outcome::measured;
  double microseconds = 0;
  std::string reason = {};
};

Tried try_one(WorkerRunner& runner, const std::string& words) {
  auto compiled = runner.compile({"", "", says(words)});
  if (!compiled) return {compiled.error().kind, 0, compiled.error().reason};
  auto measured = runner.measure(**compiled, INFINITY);
  if (!measured) return {measured.error().kind, 0, measured.error().reason};
  return {Outcome::measured, measured->microseconds};
}

TEST(WorkerRunner, compiles_and_measures) {
  WorkerRunner runner(options_with("100"));
  EXPECT_EQ(try_one(runner, "100").microseconds, 100);
  EXPECT_EQ(try_one(runner, "12.5").microseconds, 12.5);
  auto compiled = runner.compile({"", "", says("7")});
  ASSERT_TRUE(compiled);
  EXPECT_EQ(runner.measure_again(**compiled), 7);
}

TEST(WorkerRunner, a_candidates_files_go_with_it) {
  WorkerRunner runner(options_with("100"));
  auto compiled = runner.compile({"", "", says("7")});
  ASSERT_TRUE(compiled);
  const std::filesystem::path folder = WorkerRunner::folder_of(**compiled);
  EXPECT_TRUE(exists(folder / "job"));
  compiled->reset();
  EXPECT_FALSE(exists(folder));
}

struct Fault {
  const char* words;
  Outcome outcome;
  const char* reason;
};

class WorkerFault : public testing::TestWithParam<Fault> {};

TEST_P(WorkerFault, costs_the_candidate_and_is_counted_by_kind) {
  WorkerRunner runner(options_with("100"));
  EXPECT_EQ(try_one(runner, "100").microseconds, 100);
  for (int i = 0; i < 3; ++i) { // more often than there are workers
    const Tried tried = try_one(runner, GetParam().words);
    EXPECT_EQ(tried.outcome, GetParam().outcome);
    EXPECT_NE(tried.reason.find(GetParam().reason), std::string::npos) << tried.reason;
    EXPECT_EQ(try_one(runner, "50").microseconds, 50) << "the run goes on";
  }
}

INSTANTIATE_TEST_SUITE_P(WorkerRunner, WorkerFault,
                         testing::Values(Fault{"compile-crash", Outcome::crashed, "signal 6 (Aborted)"},
                                         Fault{"compile-memory", Outcome::out_of_memory, "bad_alloc"},
                                         Fault{"compile-refuse", Outcome::compile_failed, "refuse"},
                                         Fault{"compile-nonsense", Outcome::crashed,
                                               "a worker answered what is no answer"},
                                         Fault{"run-crash", Outcome::crashed, "signal 6 (Aborted)"},
                                         Fault{"run-memory", Outcome::out_of_memory, "bad_alloc"},
                                         Fault{"run-fail", Outcome::run_failed, "fail"},
                                         Fault{"run-nonsense", Outcome::crashed, "a worker answered what is no answer"},
                                         Fault{"run-wrong", Outcome::wrong_result, "is off by 1"},
                                         Fault{"run-poison", Outcome::poisoned, "an illegal access"}),
                         [](const testing::TestParamInfo<Fault>& info) {
                           std::string name = info.param.words;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(WorkerRunner, where_no_process_can_be_started_anew_each_candidate_fails_and_none_waits) {
  const std::filesystem::path program = std::filesystem::path(testing::TempDir()) / "faulty_worker_for_a_while";
  std::filesystem::remove(program);
  std::filesystem::create_symlink(TILEWRIGHT_FAULTY_WORKER, program);
  WorkerRunner::Options options = options_with("100");
  options.compiler.command = {program.string()};
  options.compilers = 1;
  WorkerRunner runner(std::move(options));
  EXPECT_EQ(try_one(runner, "100").microseconds, 100);
  std::filesystem::remove(program);
  for (int i = 0; i < 2; ++i) EXPECT_THROW((void)runner.compile({"", "", says("compile-crash")}), Error);
}

TEST(WorkerRunner, what_hangs_is_ended_by_the_limit) {
  WorkerRunner compiling(options_with("100", 0.05));
  EXPECT_EQ(try_one(compiling, "compile-hang").outcome, Outcome::timed_out);
  WorkerRunner::Options options = options_with("100");
  options.measure_seconds = 0.05;
  WorkerRunner measuring(std::move(options));
  auto hanging = measuring.compile({"", "", says("run-hang")});
  ASSERT_TRUE(hanging);
  auto measured = measuring.measure(**hanging, INFINITY);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().kind, Outcome::timed_out);
}

TEST(WorkerRunner, where_the_baseline_cannot_be_run_the_first_candidate_that_can_is_one) {
  WorkerRunner runner(options_with("run-crash"));
  EXPECT_EQ(try_one(runner, "run-crash").outcome, Outcome::crashed);
  EXPECT_EQ(try_one(runner, "20").microseconds, 20);
  EXPECT_EQ(try_one(runner, "30").microseconds, 30);
}

TEST(WorkerRunner, compiles_under_way_end_with_the_search) {
  WorkerRunner runner(options_with("100"));
  std::vector<std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure>> results(4);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) threads.emplace_back([&] { result = runner.compile({"", "", says("compile-hang")}); });
    runner.stop_compiling();
  }
  for (auto& result : results) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, Outcome::skipped);
  }
}

TEST(WorkerRunner, programs_that_are_none_are_the_candidates_failures) {
  WorkerRunner::Options options = options_with("100");
  options.compiler.command = {"sh", "-c", "echo no module named so >&2; exit 1"};
  WorkerRunner runner(std::move(options));
  const Tried tried = try_one(runner, "100");
  EXPECT_EQ(tried.outcome, Outcome::crashed);
  EXPECT_EQ(tried.reason, "exit status 1: no module named so");
}

/// Proposes what it is given.
class ListSearch final : public Search {
public:
  explicit ListSearch(std::vector<Config> configs) : configs_(std::move(configs)) {}
  std::string description() const override { return "a list"; }
  std::vector<Config> propose() override { return std::exchange(configs_, {}); }
  void learn(std::span<const Trial>) override {}
  SearchProgress progress() const override { return {.step = "the list"}; }
  std::string why_finished() const override { return "the list is done"; }

private:
  std::vector<Config> configs_;
};

TEST(WorkerRunner, a_search_with_every_fault_finds_the_fastest_and_counts_the_rest) {
  std::vector<Config> configs;
  for (const char* words : {"100", "compile-crash", "compile-memory 1", "compile-refuse", "run-crash", "run-wrong 2",
                            "run-poison", "run-fail", "90", "run-crash 3", "80", "run-poison 4", "70"})
    configs.push_back(says(words));
  ConfigSpec spec;
  ChoiceEntry job{.choices = {}, .default_value = "100"};
  for (const Config& config : configs) job.choices.emplace_back(config.get_string("job"));
  spec.options = {{.name = "job", .is_list = false, .entries = {job}}};
  ListSearch search(configs);
  WorkerRunner runner(options_with("100"));
  TuneOptions options{.budget_seconds = 600};
  std::vector<std::string> lines;
  options.log = [&](std::string_view line) { lines.emplace_back(line); };
  const TuningResult result = autotune(search, runner, {"kernel", "", ""}, spec, options);
  EXPECT_EQ(result.best, says("70"));
  EXPECT_EQ(result.counts, (std::map<Outcome, size_t>{{Outcome::measured, 4},
                                                      {Outcome::compile_failed, 1},
                                                      {Outcome::run_failed, 1},
                                                      {Outcome::wrong_result, 1},
                                                      {Outcome::crashed, 3},
                                                      {Outcome::out_of_memory, 1},
                                                      {Outcome::poisoned, 2}}));
  EXPECT_NE(std::ranges::find(lines, "  2 x broke the device's context: an illegal access"), lines.end());
  EXPECT_EQ(lines[2], "13 configs to choose from; compiling in 2 processes, measuring meanwhile");
}

TEST(CompileLimit, is_a_multiple_of_the_median_between_two_bounds) {
  CompileLimit limit({.factor = 5, .least_seconds = 3, .most_seconds = 15, .enough_samples = 3});
  EXPECT_EQ(limit.seconds(), 15);
  for (double seconds : {0.1, 0.2, 0.1}) limit.learn(seconds);
  EXPECT_EQ(limit.seconds(), 3);
  for (int i = 0; i < 4; ++i) limit.learn(2);
  EXPECT_EQ(limit.seconds(), 10);
  for (int i = 0; i < 9; ++i) limit.learn(60);
  EXPECT_EQ(limit.seconds(), 15);
}

} // namespace
} // namespace tilewright
