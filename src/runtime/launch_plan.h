// How to run one compiled CPU kernel. A plan is made once per specialisation and launched any number of times, from any
// number of threads at once.
#pragma once

#include "runtime/kernel_abi.h"
#include "runtime/size_formula.h"
#include "tilewright/device.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tilewright {

/// The programs of one phase of a launch, where they depend on sizes: those of its loops, one after the other. A loop
/// has so many as its tiles, the product of those along each dimension.
struct SizedPhase {
  struct Dimension {
    SizeFormula length; // counts as 0 where it is negative
    int64_t block;
  };
  std::vector<std::vector<Dimension>> loops;
  int64_t programs(std::span<const int64_t> sizes) const;
};

struct LaunchPlan {
  CpuKernelFunction function = nullptr;
  const RuntimeTable* table = &runtime_table();

  // Programs to run. For a persistent kernel: the most that have something to do.
  int64_t program_count = 0;
  // Where not empty: how many of the programs, in order, make up each phase. A phase begins when the one before has
  // ended. Not for persistent kernels.
  std::vector<int64_t> phases;
  // Where not empty: what the two above follow from, one for each phase.
  std::vector<SizedPhase> sized_phases;
  // A persistent kernel runs as so many programs per worker, each of which loops over its share of the tiles.
  bool persistent = false;
  int programs_per_worker = 1; // of a persistent one
  // Threads to use, of those that num_threads() allows.
  int max_workers = kMaxThreads;
  // Scratch memory for each worker.
  int64_t scratch_bytes = 0;

  std::shared_ptr<void> code; // whatever keeps `function` callable
};

// Runs all programs and returns when they are done. The calling thread takes part; a single program, or a single
// worker, runs on it alone. `arguments` as the kernel's function wants them (kernel_abi.h); `sizes` are s0, s1, ...,
// which only plans with sized phases look at. Allocates nothing once the threads have their scratch memory.
void launch(const LaunchPlan& plan, std::span<const int64_t> sizes, void* const* arguments);
inline void launch(const LaunchPlan& plan, void* const* arguments) { launch(plan, {}, arguments); }

// The same plan for these sizes alone: with the number of programs that there are then.
LaunchPlan plan_for_sizes(LaunchPlan plan, std::span<const int64_t> sizes);

} // namespace tilewright
