#include "runtime/launch_plan.h"

#include "runtime/thread_pool.h"

#include <algorithm>

namespace tilewright {

void launch(const LaunchPlan& plan, void* const* arguments) {
  int64_t programs = plan.program_count;
  if (plan.persistent)
    programs = std::min<int64_t>(programs, std::min(plan.max_workers, num_threads()) * plan.programs_per_worker);
  auto run = [&](int64_t first, int64_t count) {
    parallel_for(count, plan.max_workers, [&](int64_t begin, int64_t end, int) {
      plan.function(arguments, first + begin, first + end, programs, thread_scratch(plan.scratch_bytes), plan.table);
    });
  };
  if (plan.phases.empty()) return run(0, programs);
  int64_t first = 0;
  for (int64_t count : plan.phases) {
    run(first, count);
    first += count;
  }
}

} // namespace tilewright
