// Candidates on a GPU: written here, compiled and measured by Python (tilewright/gpu_tuning.py).
#pragma once

#include "driver/tune_candidates.h"

#include <nanobind/nanobind.h>

namespace tilewright::python {

/// `tuner` is a gpu_tuning.Tuner. Called without the interpreter lock, which is taken for each step.
class GpuRunner final : public CandidateRunner {
public:
  explicit GpuRunner(nanobind::object tuner) : tuner_(std::move(tuner)) {}

  std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure> compile(const CandidateJob& job) override;
  std::expected<Measurement, CandidateFailure> measure(CompiledCandidate& candidate, double best_microseconds) override;
  std::expected<double, CandidateFailure> measure_again(CompiledCandidate& candidate) override;

private:
  nanobind::object tuner_; // let go of with the lock
};

} // namespace tilewright::python
