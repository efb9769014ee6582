// Candidates compiled and measured in worker processes: one that crashes, hangs, exhausts memory or breaks the device's
// context costs that candidate and the restart of a worker.
//
// There are several workers that compile and one that measures, each for the whole run. Messages are JSON objects. A
// worker first says {"ready": true}. A candidate has a folder, into which the job is written:
//
//   to a compiling worker   {"do": "compile", "folder": F}       {"outcome": "compiled"}
//   to the measuring one    {"do": "baseline", "folder": F}      {"outcome": "measured"}: F's result is the right one
//                           {"do": "measure", "folder": F, "best": microseconds or null}
//                                                  {"outcome": "measured", "microseconds": 12.5, "gave_up": false}
//                           {"do": "measure_again", "folder": F} {"outcome": "measured", "microseconds": 12.5}
//
// or, of any, {"outcome": "compile_failed" | "run_failed" | "wrong_result" | "out_of_memory" | "poisoned", "reason":
// "..."}. A measuring worker that answers "poisoned" is of no use any more, and is replaced.
#pragma once

#include "autotune/candidate.h"
#include "autotune/compile_limit.h"
#include "support/worker_process.h"

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tilewright {

class WorkerRunner final : public CandidateRunner {
public:
  struct Options {
    WorkerProcess::Options compiler, measurer;
    unsigned compilers = 1; // how many processes
    CompileLimit::Policy compile_limit = {};
    double start_seconds = 120;  // for a worker to be ready: it may have large libraries to load
    double measure_seconds = 10; // for one candidate
    /// Writes what the workers need of a job into its folder, which is there. May throw: the candidate's failure.
    std::function<void(const CandidateJob&, const std::filesystem::path& folder)> write_job;
    /// The result of this config's candidate is the right one; where it has none, the first candidate's that has.
    Config baseline;
  };

  /// Starts the workers and does not wait for them. Throws Error where they cannot be started.
  explicit WorkerRunner(Options options);
  ~WorkerRunner() override;

  unsigned compile_threads() const override { return options_.compilers; }
  bool measures_beside_compiling() const override { return true; }
  void stop_compiling() override;

  std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure> compile(const CandidateJob& job) override;
  std::expected<Measurement, CandidateFailure> measure(CompiledCandidate& candidate, double best_microseconds) override;
  std::expected<double, CandidateFailure> measure_again(CompiledCandidate& candidate) override;

  /// Where a candidate's files are, as long as it lives.
  static const std::filesystem::path& folder_of(const CompiledCandidate& candidate);

private:
  struct Compiler;
  struct Candidate;

  std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure> compile_candidate(const CandidateJob& job);
  Compiler* take_compiler();
  std::shared_ptr<WorkerProcess> process_of(Compiler& compiler);
  std::expected<void, CandidateFailure> compile_in(Compiler& compiler, const std::filesystem::path& folder);
  std::expected<void, CandidateFailure> ready_to_measure(Candidate& candidate);
  std::expected<Measurement, CandidateFailure> ask_measurer(const std::string& message);

  const Options options_;
  std::filesystem::path folder_; // of the candidates' folders
  CompileLimit limit_;

  std::mutex mutex_; // guards these
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Compiler>> compilers_;
  std::vector<Compiler*> free_;
  bool baseline_is_compiling_ = false;
  std::shared_ptr<Candidate> baseline_; // whose result is the right one
  bool is_stopping_ = false;
  size_t next_number_ = 0;

  // The measuring thread's.
  std::unique_ptr<WorkerProcess> measurer_; // null: to be started
  bool measurer_is_ready_ = false, measurer_has_baseline_ = false;
};

} // namespace tilewright
