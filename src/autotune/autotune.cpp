#include "autotune/autotune.h"

#include "autotune/compile_pool.h"
#include "autotune/interrupt.h"
#include "autotune/tuning_log.h"
#include "support/error.h"
#include "support/log.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

namespace tilewright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Compiled candidates that wait for being measured, per compile thread: enough to keep the threads busy, few enough
// that a chunk is a small part of a budget.
constexpr size_t kChunkPerThread = 4;

// The part of the budget that is kept for comparing the leaders, and how that is done.
constexpr double kFinaleShare = 0.1, kMostFinaleSeconds = 2.0;
constexpr double kLeaderFactor = 1.2; // slower ones than the best by this are no leaders
// The default config stands again as long as it is not this much slower, and stays where what beats it does so by less
// than a share that measuring again can be wrong by: the fastest of many noisy times is partly the luckiest.
constexpr double kDefaultFactor = 1.5, kWorthAChange = 0.02;
constexpr int kFinaleRounds = 11;

// How often it is asked whether the time is up while nothing comes to be measured.
constexpr std::chrono::milliseconds kPatience(20);

using Compiled = std::shared_ptr<CompiledCandidate>;
using CompileResult = std::expected<Compiled, CandidateFailure>;
using Job = std::expected<CandidateJob, CandidateFailure>;

/// Exceptions are failures of the candidate, whatever they are.
template <class Function> auto guarded(Outcome kind, Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& error) {
    return std::unexpected(CandidateFailure{kind, error.what()});
  } catch (...) {
    return std::unexpected(CandidateFailure{kind, "something that is no std::exception was thrown"});
  }
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? kInfinity : values[values.size() / 2];
}

class TuningRun {
public:
  TuningRun(Search& search, CandidateRunner& runner, const TuningSubject& subject, const ConfigSpec& spec,
            const TuneOptions& options)
      : search_(search), runner_(runner), subject_(subject), options_(options),
        clock_(options.clock ? *options.clock : steady_clock_), threads_(thread_count(options, runner)),
        pool_(threads_), default_(default_config(spec)), start_(clock_.seconds()) {
    if (options.catch_interrupt) interrupt_.emplace();
    result_.best = default_;
    result_.microseconds = result_.default_microseconds = kInfinity;
    log(start_text(subject_, options_.budget_seconds));
    log(search_.description());
    log(space_text(space_size(spec), threads_, runner.measures_beside_compiling()));
    log(default_text(default_));
  }

  TuningResult run() {
    const double finale_seconds = std::min(kFinaleShare * options_.budget_seconds, kMostFinaleSeconds);
    search_deadline_ = start_ + options_.budget_seconds - finale_seconds;
    while (!stopped()) {
      const std::vector<Config> batch = search_.propose();
      search_is_finished_ = batch.empty();
      if (search_is_finished_) break;
      try_batch(batch);
    }
    if (leaders_.empty() && !result_.history.empty() && result_.counts[Outcome::too_slow] == 0)
      fail(subject_.location, "{}", all_failed_text(subject_, result_));
    compare_leaders();
    finish();
    return std::move(result_);
  }

private:
  struct Leader {
    Config config;
    Compiled compiled;
    double microseconds;
    std::vector<double> again = {};
  };

  static unsigned thread_count(const TuneOptions& options, const CandidateRunner& runner) {
    if (options.compile_threads) return options.compile_threads;
    return runner.compile_threads() ? runner.compile_threads() : std::max(1u, std::thread::hardware_concurrency());
  }

  void log(const std::string& line) const {
    if (options_.log)
      options_.log(line);
    else
      log_info("{}", line);
  }

  double now() {
    std::lock_guard lock(clock_mutex_); // a clock need not be safe to ask from several threads
    return clock_.seconds();
  }
  double elapsed() { return now() - start_; }
  bool cancelled() const { return options_.cancel.stop_requested() || (interrupt_ && interrupt_->requested()); }

  /// The first candidate of all is tried whatever the budget: it is what comes of a run that has no time.
  bool stopped() { return cancelled() || (first_was_taken_ && now() >= search_deadline_); }

  void try_batch(const std::vector<Config>& batch) {
    std::vector<Trial> trials;
    for (const Config& config : batch) trials.push_back({config});
    if (runner_.measures_beside_compiling())
      try_as_they_come(trials);
    else
      try_in_chunks(trials);
    const size_t failed = std::ranges::count_if(trials, [](const Trial& trial) { return is_failure(trial.outcome); });
    search_.learn(trials);
    const bool tried = std::ranges::any_of(trials, [](const Trial& t) { return t.outcome != Outcome::skipped; });
    if (tried) log(step_text(elapsed(), search_.progress(), failed, result_.best, default_));
  }

  std::vector<Job> jobs_for(std::span<const Trial> trials) const {
    std::vector<Job> jobs;
    for (const Trial& trial : trials)
      jobs.push_back(guarded(Outcome::compile_failed, [&]() -> Job {
        if (subject_.job_for) return subject_.job_for(trial.config);
        return CandidateJob{subject_.tile_ir, subject_.arguments, trial.config};
      }));
    return jobs;
  }

  void try_in_chunks(std::span<Trial> trials) {
    const size_t chunk = kChunkPerThread * threads_;
    for (size_t begin = 0; begin < trials.size() && !stopped(); begin += chunk) {
      std::span<Trial> some = trials.subspan(begin, std::min(chunk, trials.size() - begin));
      std::vector<std::optional<CompileResult>> compiled(some.size());
      const bool is_first_chunk = result_.history.empty();
      const std::vector<Job> jobs = jobs_for(some);
      pool_.run(some.size(), [&](size_t i) { compiled[i] = compile(jobs[i], is_first_chunk && i == 0); });
      for (size_t i = 0; i < some.size() && !stopped(); ++i)
        if (compiled[i]) {
          try_candidate(some[i], std::move(*compiled[i]));
          compiled[i].reset(); // a loser's code is freed at once
        }
    }
  }

  /// Each as soon as it is compiled. When the time is up, what is under way is told to stop.
  void try_as_they_come(std::span<Trial> trials) {
    struct Ready {
      size_t index;
      std::optional<CompileResult> compiled;
    };
    std::mutex mutex;
    std::condition_variable added;
    std::deque<Ready> ready;
    const bool is_first_batch = result_.history.empty();
    const std::vector<Job> jobs = jobs_for(trials);
    pool_.start(trials.size(), [&](size_t i) {
      std::optional<CompileResult> compiled = compile(jobs[i], is_first_batch && i == 0);
      std::lock_guard lock(mutex);
      ready.push_back({i, std::move(compiled)});
      added.notify_one();
    });
    bool is_stopping = false;
    for (size_t count = 0; count < trials.size(); ++count) {
      std::unique_lock lock(mutex);
      while (!added.wait_for(lock, kPatience, [&] { return !ready.empty(); }))
        if (!is_stopping && stopped()) {
          is_stopping = true;
          runner_.stop_compiling();
        }
      Ready next = std::move(ready.front());
      ready.pop_front();
      lock.unlock();
      if (next.compiled && !is_stopping && !stopped()) try_candidate(trials[next.index], std::move(*next.compiled));
    }
    pool_.wait();
  }

  /// Called by several threads. Nothing where there is no time for it; the first candidate is compiled all the same.
  std::optional<CompileResult> compile(const Job& job, bool is_first) {
    if (!is_first && (cancelled() || now() >= search_deadline_)) return std::nullopt;
    return guarded(Outcome::compile_failed, [&]() -> CompileResult {
      if (!job) return std::unexpected(job.error());
      return runner_.compile(*job);
    });
  }

  void try_candidate(Trial& trial, CompileResult compiled) {
    std::string reason;
    std::expected<Measurement, CandidateFailure> measured = std::unexpected(CandidateFailure{});
    if (compiled)
      measured = guarded(Outcome::run_failed, [&] { return runner_.measure(**compiled, result_.microseconds); });
    else
      measured = std::unexpected(compiled.error());
    first_was_taken_ = true;
    if (measured) {
      trial.outcome = measured->gave_up ? Outcome::too_slow : Outcome::measured;
      trial.microseconds = measured->microseconds;
    } else {
      trial.outcome = measured.error().kind;
      reason = measured.error().reason;
      ++result_.failures[{trial.outcome, reason}];
    }
    ++result_.counts[trial.outcome];
    result_.history.push_back({trial, elapsed(), reason});
    if (trial.outcome == Outcome::measured) learn_time(trial, *compiled);
  }

  void learn_time(const Trial& trial, const Compiled& compiled) {
    if (trial.config == default_) result_.default_microseconds = trial.microseconds;
    auto place = std::ranges::upper_bound(leaders_, trial.microseconds, {}, &Leader::microseconds);
    leaders_.insert(place, Leader{trial.config, compiled, trial.microseconds});
    if (leaders_.size() > std::max<size_t>(1, options_.leaders)) {
      if (leaders_.back().config == default_) beaten_default_ = std::move(leaders_.back());
      leaders_.pop_back();
    }
    take_best(leaders_.front().config, leaders_.front().microseconds);
  }

  void take_best(const Config& config, double microseconds) {
    result_.best = config;
    result_.microseconds = microseconds;
    if (config == default_) result_.default_microseconds = microseconds;
  }

  /// Measures those close to the best again, in turns, so that what slows the machine for a moment slows all alike.
  void compare_leaders() {
    if (beaten_default_) leaders_.push_back(std::move(*beaten_default_));
    std::erase_if(leaders_, [&](const Leader& l) {
      return l.microseconds > (l.config == default_ ? kDefaultFactor : kLeaderFactor) * result_.microseconds;
    });
    const double deadline = start_ + options_.budget_seconds;
    for (int round = 0; round < kFinaleRounds && leaders_.size() > 1; ++round)
      for (size_t i = 0; i < leaders_.size();) {
        if (cancelled() || now() >= deadline) return take_fastest_again(round);
        if (auto again = guarded(Outcome::run_failed, [&] { return runner_.measure_again(*leaders_[i].compiled); })) {
          leaders_[i].again.push_back(*again);
          ++i;
        } else {
          ++result_.failures[{again.error().kind, again.error().reason}];
          leaders_.erase(leaders_.begin() + i);
          if (!leaders_.empty()) take_best(leaders_.front().config, leaders_.front().microseconds);
        }
      }
    take_fastest_again(kFinaleRounds);
  }

  /// One round says no more than the search did; it takes three to call a leader faster than another.
  void take_fastest_again(int whole_rounds) {
    if (leaders_.empty() || whole_rounds < 3) return;
    for (Leader& leader : leaders_)
      if (!leader.again.empty()) leader.microseconds = median(leader.again);
    auto best = std::ranges::min_element(leaders_, {}, &Leader::microseconds);
    auto standing = std::ranges::find(leaders_, default_, &Leader::config);
    if (standing != leaders_.end() && !standing->again.empty()) {
      result_.default_microseconds = standing->microseconds;
      if (best->microseconds > (1 - kWorthAChange) * standing->microseconds) best = standing;
    }
    take_best(best->config, best->microseconds);
  }

  void finish() {
    result_.seconds = elapsed();
    if (auto best = std::ranges::find(leaders_, result_.best, &Leader::config); best != leaders_.end())
      result_.compiled = best->compiled;
    if (cancelled())
      result_.stop_reason = StopReason::interrupted;
    else if (!search_is_finished_)
      result_.stop_reason = StopReason::budget_used;
    const std::string paste = options_.paste ? options_.paste(result_.best) : result_.best.to_cpp();
    for (const std::string& line : end_texts(subject_, result_, options_.budget_seconds, search_.why_finished(), paste))
      log(line);
  }

  Search& search_;
  CandidateRunner& runner_;
  const TuningSubject& subject_;
  const TuneOptions& options_;
  SteadyClock steady_clock_;
  Clock& clock_;
  std::mutex clock_mutex_;
  const unsigned threads_;
  CompilePool pool_;
  std::optional<InterruptScope> interrupt_;

  const Config default_;
  const double start_;
  double search_deadline_ = 0;
  bool first_was_taken_ = false;
  bool search_is_finished_ = false;
  std::vector<Leader> leaders_;          // fastest first
  std::optional<Leader> beaten_default_; // the default config, where it is no longer among them
  TuningResult result_;
};

} // namespace

TuningResult autotune(Search& search, CandidateRunner& runner, const TuningSubject& subject, const ConfigSpec& spec,
                      const TuneOptions& options) {
  return TuningRun(search, runner, subject, spec, options).run();
}

} // namespace tilewright
