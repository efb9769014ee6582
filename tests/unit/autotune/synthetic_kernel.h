// A search space with a known best, and a machine to measure it on on which time passes only when we say so.
#pragma once

#include "autotune/candidate.h"
#include "autotune/clock.h"
#include "config/config_spec.h"

#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>

namespace tilewright {

/// About 10^5 configs.
inline ConfigSpec synthetic_spec() {
  ConfigSpec spec;
  spec.options = {
      {.name = "block_sizes",
       .summary = "",
       .may_be_short = false,
       .entries = {SizeEntry{.min = 1, .max = 1024, .default_value = 32},
                   SizeEntry{.min = 1, .max = 1024, .default_value = 32}}},
      {.name = "loop_orders", .summary = "", .entries = {PermutationEntry{.rank = 3}}},
      {.name = "reduction_loops", .summary = "", .entries = {RolledEntry{.min = 8, .max = 1024, .extent = 1000}}},
      {.name = "pid_type",
       .summary = "",
       .is_list = false,
       .entries = {ChoiceEntry{.choices = {"flat", "xyz", "persistent_blocked"}, .default_value = "flat"}}},
      {.name = "unroll",
       .summary = "",
       .entries = {ChoiceEntry{.choices = {1, 2, 4, 8}, .default_value = 1, .ordered = true},
                   ChoiceEntry{.choices = {1, 2, 4, 8}, .default_value = 1, .ordered = true}}},
  };
  return spec;
}

/// In microseconds: 100 at best, for blocks 128 x 256, order [1, 0, 2], the reduction whole, persistent programs, and
/// unrolling by 4 and 2. The default takes some 400.
inline double synthetic_time(const Config& config) {
  auto off = [](int64_t value, double best) { return std::abs(std::log2(value / best)); };
  const auto blocks = config.get_ints("block_sizes");
  const auto unroll = config.get_ints("unroll");
  double time = 100;
  time *= 1 + 0.1 * std::pow(off(blocks[0], 128), 2);
  time *= 1 + 0.1 * std::pow(off(blocks[1], 256), 2);
  if (blocks[0] * blocks[1] > 65536) time *= 1.5; // a cache overflows
  time *= config.get_int_lists("loop_orders")[0] == std::vector<int64_t>{1, 0, 2} ? 1 : 1.1;
  time *= config.get_optional_ints("reduction_loops")[0] ? 1.1 : 1;
  time *= config.get_string("pid_type") == "persistent_blocked" ? 1 : 1.05;
  return time * (1 + 0.05 * off(unroll[0], 4)) * (1 + 0.05 * off(unroll[1], 2));
}

class FakeClock final : public Clock {
public:
  double seconds() override {
    std::lock_guard lock(mutex_);
    return now_;
  }
  void pass(double seconds) {
    std::lock_guard lock(mutex_);
    now_ += seconds;
  }

private:
  std::mutex mutex_;
  double now_ = 1000;
};

using CompileOutcome = std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure>;

/// Every step takes its time on the clock and can be replaced.
class FakeRunner : public CandidateRunner {
public:
  explicit FakeRunner(FakeClock& clock) : clock_(clock) {}

  std::function<std::optional<CandidateFailure>(const Config&)> fails_to_compile = [](const Config&) {
    return std::nullopt;
  };
  std::function<std::expected<Measurement, CandidateFailure>(const Config&, double best)> measured =
      [](const Config& config, double) { return Measurement{synthetic_time(config)}; };
  std::function<std::expected<double, CandidateFailure>(const Config&)> measured_again = [](const Config& config) {
    return synthetic_time(config);
  };

  double compile_seconds = 0.01, measure_seconds = 0.01;
  std::atomic<int> compiled = 0, alive = 0, most_alive = 0;
  std::atomic<bool> compiling = false, overlapped = false;

  CompileOutcome compile(const CandidateJob& job) override {
    compiling = true;
    clock_.pass(compile_seconds);
    ++compiled;
    if (auto failure = fails_to_compile(job.config)) return std::unexpected(*failure);
    auto result = std::make_shared<Code>(*this, job.config);
    compiling = false;
    return result;
  }

  std::expected<Measurement, CandidateFailure> measure(CompiledCandidate& candidate, double best) override {
    if (compiling) overlapped = true;
    clock_.pass(measure_seconds);
    return measured(static_cast<Code&>(candidate).config, best);
  }

  std::expected<double, CandidateFailure> measure_again(CompiledCandidate& candidate) override {
    clock_.pass(measure_seconds);
    return measured_again(static_cast<Code&>(candidate).config);
  }

private:
  struct Code final : CompiledCandidate {
    Code(FakeRunner& runner, Config config) : runner(runner), config(std::move(config)) {
      const int now = ++runner.alive;
      int most = runner.most_alive;
      while (most < now && !runner.most_alive.compare_exchange_weak(most, now)) {
      }
    }
    ~Code() override { --runner.alive; }
    FakeRunner& runner;
    const Config config;
  };

  FakeClock& clock_;
};

} // namespace tilewright
