// Candidates compiled and measured in this process.
#pragma once

#include "autotune/candidate.h"
#include "autotune/clock.h"
#include "driver/arguments.h"
#include "driver/pipeline.h"
#include "driver/variants.h"

#include <memory>
#include <optional>
#include <vector>

namespace tilewright {

class InProcessRunner final : public CandidateRunner {
public:
  /// Runs the spec's default config on copies of the arguments, as the baseline that candidates must agree with. Throws
  /// Error where even that cannot be compiled.
  InProcessRunner(Variants& variants, const detail::Call& call);

  std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure> compile(const CandidateJob& job) override;
  std::expected<Measurement, CandidateFailure> measure(CompiledCandidate& candidate, double best) override;
  std::expected<double, CandidateFailure> measure_again(CompiledCandidate& candidate) override;

private:
  std::string disagreement(const std::vector<Array>& found) const;
  /// Makes arguments for a candidate of another recording, which may have other allocations.
  void work_for(const std::shared_ptr<const Specialisation>& specialisation);
  std::vector<Array> compared() const;

  Variants& variants_;
  const detail::Call& call_;
  llvm::SmallVector<int64_t> sizes_;                     // s0, s1, ... of the call
  std::shared_ptr<const Specialisation> specialisation_; // that `arguments_` and `work_` are for
  std::optional<ProgramArguments> arguments_;            // the call's
  std::optional<ProgramArguments> work_;                 // what candidates run on
  std::vector<Array> baseline_;                          // what the default config wrote
  SteadyClock clock_;
};

/// How far two right results of one kernel may be apart, relative to the largest value: rounding errors of sums grow
/// with the square root of the number of terms (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
/// section 2.6).
double tolerance(DType dtype, int64_t terms);

/// Compiles the kernel in a context of this thread.
CompiledKernel compile_config(const std::string& tile_ir, const Config& config);

} // namespace tilewright
