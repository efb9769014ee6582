#include "runtime/launch_plan.h"

#include "runtime/thread_pool.h"

#include <algorithm>

namespace tilewright {

int64_t SizedPhase::programs(std::span<const int64_t> sizes) const {
  int64_t sum = 0;
  for (const std::vector<Dimension>& loop : loops) {
    int64_t product = 1;
    for (const Dimension& dimension : loop) {
      const int64_t length = std::max<int64_t>(dimension.length.evaluate(sizes), 0);
      product *= length / dimension.block + (length % dimension.block != 0);
    }
    sum += product;
  }
  return sum;
}

void launch(const LaunchPlan& plan, std::span<const int64_t> sizes, void* const* arguments) {
  int64_t first = 0, programs = plan.program_count;
  auto run = [&](int64_t count) {
    parallel_for(count, plan.max_workers, [&](int64_t begin, int64_t end, int) {
      plan.function(arguments, first + begin, first + end, programs, thread_scratch(plan.scratch_bytes), plan.table);
    });
    first += count;
  };
  if (plan.persistent) {
    programs = std::min<int64_t>(programs, std::min(plan.max_workers, num_threads()) * plan.programs_per_worker);
    return run(programs);
  }
  if (!plan.sized_phases.empty()) {
    programs = 0;
    for (const SizedPhase& phase : plan.sized_phases) programs += phase.programs(sizes);
    if (plan.sized_phases.size() == 1) return run(programs);
    for (const SizedPhase& phase : plan.sized_phases) run(phase.programs(sizes));
    return;
  }
  if (plan.phases.empty()) return run(programs);
  for (int64_t count : plan.phases) run(count);
}

LaunchPlan plan_for_sizes(LaunchPlan plan, std::span<const int64_t> sizes) {
  if (plan.sized_phases.empty()) return plan;
  plan.program_count = 0;
  for (const SizedPhase& phase : plan.sized_phases) {
    plan.phases.push_back(phase.programs(sizes));
    plan.program_count += plan.phases.back();
  }
  if (plan.phases.size() == 1) plan.phases.clear();
  plan.sized_phases.clear();
  return plan;
}

} // namespace tilewright
