// Candidates compiled and measured in this process.
#pragma once

#include "autotune/candidate.h"
#include "autotune/clock.h"
#include "driver/arguments.h"
#include "driver/pipeline.h"

namespace tilewright {

class InProcessRunner final : public CandidateRunner {
public:
  /// Runs the spec's default config on copies of the arguments, as the baseline that candidates must agree with. Throws
  /// Error where even that cannot be compiled.
  InProcessRunner(const Specialisation& specialisation, const ProgramArguments& arguments);

  std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure> compile(const CandidateJob& job) override;
  std::expected<Measurement, CandidateFailure> measure(CompiledCandidate& candidate, double best) override;
  std::expected<double, CandidateFailure> measure_again(CompiledCandidate& candidate) override;

private:
  std::string disagreement(const std::vector<Array>& found) const;

  const Specialisation& specialisation_;
  const ProgramArguments& arguments_;
  ProgramArguments work_;       // what candidates run on
  std::vector<Array> baseline_; // what the default config wrote
  SteadyClock clock_;
};

/// How far two right results of one kernel may be apart, relative to the largest value: rounding errors of sums grow
/// with the square root of the number of terms (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
/// section 2.6).
double tolerance(DType dtype, int64_t terms);

/// Compiles the kernel in a context of this thread.
CompiledKernel compile_config(const std::string& tile_ir, const Config& config);

} // namespace tilewright
