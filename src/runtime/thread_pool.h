// The threads that kernels and the runtime's own loops share. Small and our own because of what a launch may cost
// (a few microseconds): idle workers spin for 50 us, so that launches in a row find them awake, and then sleep.
//
// Safe to use from any number of threads at once, while the process exits, and in the child of a fork (which starts
// threads of its own). The number of threads is num_threads(), <tilewright/device.h>.
#pragma once

#include "support/function_ref.h"

#include <cstdint>

namespace tilewright {

using ParallelBody = FunctionRef<void(int64_t begin, int64_t end, int worker)>;

// Calls `body` on disjoint ranges that together are [0, count), on the calling thread and on others, and returns when
// all is done. `worker` is below min(max_workers, num_threads()); no two calls at a time have the same one, and a
// thread keeps its own within the job. Which ranges and workers there are differs from run to run. Ranges are large at
// first and small at the end, for balance.
//
// One item, one worker, and a call from inside a body run on the calling thread alone. The first exception a body
// throws is thrown to the caller, when all workers have left; ranges not yet begun are dropped.
void parallel_for(int64_t count, int max_workers, ParallelBody body);

// Memory of the calling thread, aligned to 64 bytes, of at least `bytes`; kept until the thread ends or asks for more,
// so that a launch allocates nothing. The next call on this thread may return the same memory or free it.
void* thread_scratch(int64_t bytes);

// How many of the pool's threads there are, and how many are asleep now; for tests and measurements.
int pool_thread_count();
int sleeping_thread_count();

} // namespace tilewright
