#include "runtime/launch_plan.h"

#include "runtime/thread_pool.h"

#include <algorithm>

namespace tilewright {

void launch(const LaunchPlan& plan, void* const* arguments) {
  int64_t programs = plan.program_count;
  if (plan.persistent) programs = std::min<int64_t>({programs, plan.max_workers, num_threads()});
  parallel_for(programs, plan.max_workers, [&](int64_t begin, int64_t end, int) {
    plan.function(arguments, begin, end, programs, thread_scratch(plan.scratch_bytes), plan.table);
  });
}

} // namespace tilewright
