#include "driver/in_process_runner.h"

#include "autotune/measure_runtime.h"
#include "driver/compile_context.h"
#include "runtime/thread_pool.h"
#include "support/error.h"
#include "tilewright/device.h"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

struct InProcessCandidate final : CompiledCandidate {
  CompiledKernel kernel;
  std::shared_ptr<const Specialisation> specialisation; // what it was compiled from
};

InProcessCandidate& own(CompiledCandidate& candidate) { return static_cast<InProcessCandidate&>(candidate); }

double unit_roundoff(DType dtype) {
  if (dtype == float64) return std::ldexp(1, -53);
  if (dtype == float16) return std::ldexp(1, -11);
  if (dtype == bfloat16) return std::ldexp(1, -8);
  if (dtype == float8_e4m3fn) return std::ldexp(1, -4);
  if (dtype == float8_e5m2) return std::ldexp(1, -3);
  return dtype == float32 ? std::ldexp(1, -24) : 0;
}

} // namespace

CompiledKernel compile_config(const std::string& tile_ir, const Config& config) {
  CompiledKernel compiled;
  with_kernel(tile_ir, [&](KernelOp kernel) { compiled = compile_kernel(kernel, config, cpu::host_target()); });
  return compiled;
}

double tolerance(DType dtype, int64_t terms) {
  return 32 * unit_roundoff(dtype) * std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1)));
}

InProcessRunner::InProcessRunner(Variants& variants, const detail::Call& call) : variants_(variants), call_(call) {
  append_sizes(call.arguments, sizes_);
  Variants::Choice choice = variants.fit(default_config(variants.base().spec));
  work_for(choice.specialisation);
  CompiledKernel kernel = compile_config(specialisation_->tile_ir, choice.config);
  launch(kernel.plan, work_->sizes(), work_->pointers());
  baseline_ = compared();
  for (Array& array : baseline_) array = array.clone();
}

void InProcessRunner::work_for(const std::shared_ptr<const Specialisation>& specialisation) {
  if (specialisation_ == specialisation) return;
  work_.reset(); // before the next one takes memory
  specialisation_ = specialisation;
  arguments_.emplace(*specialisation, call_);
  work_.emplace(arguments_->copy());
}

std::vector<Array> InProcessRunner::compared() const {
  return variants_.depend_on_config() ? work_->outputs() : work_->written();
}

std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure> InProcessRunner::compile(const CandidateJob& job) {
  auto candidate = std::make_shared<InProcessCandidate>();
  candidate->specialisation = variants_.fit(job.config).specialisation;
  candidate->kernel = compile_config(job.tile_ir, job.config);
  candidate->kernel.plan = plan_for_sizes(std::move(candidate->kernel.plan), sizes_);
  return candidate;
}

std::string InProcessRunner::disagreement(const std::vector<Array>& found) const {
  // The longest dimension stands for the number of terms of the kernel's sums.
  int64_t terms = 1;
  for (const Array& array : found)
    for (int64_t size : array.sizes()) terms = std::max(terms, size);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].numel() == 0) continue;
    // A result whose size is the config's can be compared with that of no other one.
    if (!std::ranges::equal(found[i].sizes(), baseline_[i].sizes())) continue;
    double error = max_relative_error(found[i], baseline_[i]), allowed = tolerance(found[i].dtype(), terms);
    if (!(error <= allowed))
      return fmt::format("differs from the default config's result by {:.2e} of its largest value, where {:.2e} is "
                         "rounding",
                         error, allowed);
  }
  return {};
}

// Runs all programs, a slice at a time so that a hopeless candidate need not be waited for. Returns the microseconds it
// took, or that it would take at the pace it had when `limit` was passed.
static Measurement launch_within(const LaunchPlan& plan, void* const* arguments, Clock& clock, double limit) {
  constexpr int64_t kSlices = 16;
  double start = clock.seconds();
  auto elapsed = [&] { return (clock.seconds() - start) * 1e6; };
  bool in_one_go = plan.persistent || !plan.phases.empty();
  if (in_one_go || plan.program_count < kSlices * num_threads()) { // too few programs to slice
    launch(plan, arguments);
    return {elapsed(), false};
  }
  for (int64_t slice = 0; slice < kSlices; ++slice) {
    int64_t first = plan.program_count * slice / kSlices, last = plan.program_count * (slice + 1) / kSlices;
    parallel_for(last - first, plan.max_workers, [&](int64_t begin, int64_t end, int) {
      plan.function(arguments, first + begin, first + end, plan.program_count, thread_scratch(plan.scratch_bytes),
                    plan.table);
    });
    if (slice + 1 < kSlices && elapsed() > limit) return {elapsed() * kSlices / (slice + 1), true};
  }
  return {elapsed(), false};
}

std::expected<Measurement, CandidateFailure> InProcessRunner::measure(CompiledCandidate& candidate, double best) {
  work_for(own(candidate).specialisation);
  work_->restore(*arguments_);
  const LaunchPlan& plan = own(candidate).kernel.plan;
  Measurement first = launch_within(plan, work_->pointers(), clock_, MeasurePolicy().give_up * best);
  if (first.gave_up) return first;
  if (std::string reason = disagreement(compared()); !reason.empty())
    return std::unexpected(CandidateFailure{Outcome::wrong_result, reason});
  auto once = [&](double) {
    launch(plan, work_->pointers());
    return true;
  };
  return measure_runtime(once, clock_, MeasurePolicy(), best);
}

std::expected<double, CandidateFailure> InProcessRunner::measure_again(CompiledCandidate& candidate) {
  work_for(own(candidate).specialisation);
  const LaunchPlan& plan = own(candidate).kernel.plan;
  auto once = [&](double) {
    launch(plan, work_->pointers());
    return true;
  };
  MeasurePolicy brief;
  brief.enough_seconds = 0.005;
  brief.most_samples = 5;
  return measure_runtime(once, clock_, brief, INFINITY).microseconds;
}

} // namespace tilewright
