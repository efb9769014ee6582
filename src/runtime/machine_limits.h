// What this machine can do at most, measured now: the yardstick of every figure (time on a CPU means little without
// one taken in the same process just before).
#pragma once

#include <functional>

namespace tilewright {

struct MachineLimits {
  // Fused multiply-adds, two operations each, in registers alone, on the widest vectors the CPU has.
  double float32_gflops = 0;
  double float64_gflops = 0;
  // A copy with streaming stores between blocks larger than the last cache, bytes read once plus written once.
  double copy_gbps = 0;
  // The threads that took part: num_threads().
  int threads = 0;
};

// Work that only this machine's limit bounds, on num_threads() threads, for a few milliseconds: to be run beside what
// is to be judged, in turns, since what a shared machine can do changes from one second to the next.
struct LimitWork {
  std::function<void()> run;
  double amount = 0; // operations of a run, or bytes
};

LimitWork float32_work();
LimitWork float64_work();
LimitWork copy_work();

// The median of several runs of each, in less than half a second on an idle machine.
MachineLimits measure_machine_limits();

} // namespace tilewright
