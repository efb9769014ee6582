// Candidates: how the autotuner has one config of a kernel compiled and measured, wherever that happens.
#pragma once

#include "tilewright/config.h"
#include "tilewright/error.h"

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tilewright {

struct CandidateJob;

/// What is tuned: the same for every candidate.
struct TuningSubject {
  std::string kernel;    // its name and arguments, for people: "matmul(float32[1024, 1024], float32[1024, 1024])"
  std::string tile_ir;   // as text
  std::string arguments; // what a runner needs to make or find them: dtypes, sizes, strides, alignment
  SourceLocation location = {}; // of the kernel, for errors
  /// Where the kernel itself depends on the config: the candidate that a proposed one stands for. Called in the thread
  /// of autotune(), while nothing is compiled or measured; an exception costs the candidate.
  std::function<CandidateJob(const Config&)> job_for = {};
};

/// One candidate, complete: a process that knows nothing else can compile and measure it.
struct CandidateJob {
  std::string tile_ir;
  std::string arguments;
  Config config;

  std::string to_json() const;
  /// Throws Error on what is no job.
  static CandidateJob from_json(std::string_view text);
};

/// What became of a candidate.
enum class Outcome : uint8_t {
  measured,       // its time is known and its result is right
  too_slow,       // given up while it ran: at least so slow, its result not checked
  compile_failed, // refused or failed on the way to native code
  run_failed,     // it or its check threw
  wrong_result,   // differs from the baseline
  timed_out,      // did not come back in time, to compile or to run
  crashed,        // took its worker with it
  out_of_memory,  // wanted more memory than a worker may have
  poisoned,       // broke the device's context: an illegal access, say
  skipped,        // not tried: the run was stopped before
};

constexpr bool is_failure(Outcome outcome) {
  return outcome != Outcome::measured && outcome != Outcome::too_slow && outcome != Outcome::skipped;
}

/// For people: "wrong result".
std::string_view name(Outcome outcome);

struct CandidateFailure {
  Outcome kind; // one for which is_failure() holds
  std::string reason;
};

struct Measurement {
  double microseconds = 0;
  bool gave_up = false; // the candidate takes at least so long; it was not run to its end
};

/// What compile() returns; destroying it frees the candidate's code.
class CompiledCandidate {
public:
  virtual ~CompiledCandidate() = default;
};

/// Compiles and measures candidates: in this process, or through workers that may crash without harm.
/// An exception thrown by any of these counts as a failure of the candidate.
class CandidateRunner {
public:
  virtual ~CandidateRunner() = default;

  /// How many compile() calls at once are of use; 0: one for each core.
  virtual unsigned compile_threads() const { return 0; }
  /// Whether compiling leaves alone what is measured: candidates are then measured as they come, while others compile.
  virtual bool measures_beside_compiling() const { return false; }
  /// The search has ended: compile() calls under way come back soon, with the outcome `skipped` or any other. None
  /// follow.
  virtual void stop_compiling() {}

  /// Called from several threads at once.
  virtual std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure> compile(const CandidateJob& job) = 0;

  /// Runs the candidate, compares its result with the baseline's and measures it. Never called while anything is
  /// measured, nor while anything is compiled unless measures_beside_compiling(). What takes clearly longer than
  /// `best_microseconds` (infinite at first) need not be measured well, and may be given up half way. measure_runtime.h
  /// has the policy.
  virtual std::expected<Measurement, CandidateFailure> measure(CompiledCandidate& candidate,
                                                               double best_microseconds) = 0;

  /// One more time in microseconds of a candidate that measure() found right, for comparing the leaders in turns; as
  /// short as gives a stable time.
  virtual std::expected<double, CandidateFailure> measure_again(CompiledCandidate& candidate) = 0;
};

} // namespace tilewright
