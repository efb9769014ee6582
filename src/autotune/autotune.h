// Tuning: have a search's candidates compiled and measured within a budget, and say which is fastest.
//
// Candidates are taken in small chunks: a chunk is compiled on all threads, then measured alone, one candidate after
// the other, so that the two never disturb each other and the budget holds inside a generation too. Where the runner
// measures elsewhere than it compiles, each is measured as soon as it is compiled, while others are. In the end the
// leaders and the default config are measured again in turns, for a best that is only lucky on a shared machine.
#pragma once

#include "autotune/candidate.h"
#include "autotune/clock.h"
#include "autotune/search.h"
#include "config/config_spec.h"

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright {

struct TuneOptions {
  double budget_seconds = 10;   // for everything; what is under way when it ends is finished
  unsigned compile_threads = 0; // 0: as many as the runner wants
  size_t leaders = 5;           // so many of the fastest are compared again in the end
  bool catch_interrupt = true;  // Ctrl-C ends the search and keeps the best so far
  std::stop_token cancel = {};  // so does a stop request

  /// Takes the log's lines, without line ends; by default they go to stderr.
  std::function<void(std::string_view line)> log = {};
  /// The C++ text that gives the kernel a config, for the log's last line; by default the config alone.
  std::function<std::string(const Config&)> paste = {};
  Clock* clock = nullptr; // by default the real one
};

enum class StopReason : uint8_t { search_finished, budget_used, interrupted };

struct TrialRecord {
  Trial trial;
  double seconds = 0;      // since the start, when its outcome was known
  std::string reason = {}; // of a failure
};

struct TuningResult {
  Config best;
  double microseconds = 0;         // infinite if it was stopped before anything was measured: best is then the default
  double default_microseconds = 0; // of the spec's default config; infinite if that was not measured
  StopReason stop_reason = StopReason::search_finished;
  double seconds = 0;                          // the whole run
  std::shared_ptr<CompiledCandidate> compiled; // the best config's; null where nothing was measured

  std::vector<TrialRecord> history;                           // in the order measured; no skipped ones
  std::map<Outcome, size_t> counts;                           // by outcome
  std::map<std::pair<Outcome, std::string>, size_t> failures; // by kind and reason
};

/// A candidate's failure or exception costs that candidate. Throws Error when all that were tried failed, with the
/// reasons counted.
TuningResult autotune(Search& search, CandidateRunner& runner, const TuningSubject& subject, const ConfigSpec& spec,
                      const TuneOptions& options = {});

} // namespace tilewright
