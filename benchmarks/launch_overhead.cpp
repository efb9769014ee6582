// What it costs to launch a kernel that does nothing: on the calling thread alone, on workers that still spin from the
// launch before, and on workers that have gone to sleep. And what a whole call costs beside it, of a kernel that adds a
// few numbers: with static shapes, where the sizes are its key, and with run-time sizes, where the host evaluates them.
#include "runtime/launch_plan.h"
#include "runtime/thread_pool.h"
#include "tilewright/tilewright.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace tilewright;

void do_nothing(void* const*, int64_t, int64_t, int64_t, void*, const RuntimeTable*) {}

// A launch of `programs` programs, each a range of its own where there are as many workers.
LaunchPlan empty_plan(int64_t programs) {
  LaunchPlan plan;
  plan.function = do_nothing;
  plan.program_count = programs;
  plan.max_workers = int(programs);
  plan.scratch_bytes = 4096;
  return plan;
}

// Returns when all workers have been asleep for a while, so that the system has taken their CPUs away.
void wait_until_asleep() {
  while (sleeping_thread_count() < pool_thread_count()) std::this_thread::yield();
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
  while (std::chrono::steady_clock::now() < end) {
  }
}

void launch_inline(benchmark::State& state) {
  LaunchPlan plan = empty_plan(1);
  for (auto _ : state) launch(plan, nullptr);
}
BENCHMARK(launch_inline);

void launch_inline_with_output(benchmark::State& state) {
  LaunchPlan plan = empty_plan(1);
  for (auto _ : state) {
    Array out = Array::empty({32, 32});
    void* arguments[] = {out.data()};
    launch(plan, arguments);
  }
}
BENCHMARK(launch_inline_with_output);

void launch_two_programs_spinning(benchmark::State& state) {
  LaunchPlan plan = empty_plan(2);
  for (auto _ : state) launch(plan, nullptr);
}
BENCHMARK(launch_two_programs_spinning)->UseRealTime();

// Both threads must take part: each program waits for the other. What a launch costs before the work is shared.
void launch_and_meet(benchmark::State& state, bool asleep) {
  LaunchPlan plan = empty_plan(2);
  plan.function = [](void* const* arguments, int64_t begin, int64_t end, int64_t, void*, const RuntimeTable*) {
    auto* arrived = static_cast<std::atomic<int64_t>*>(arguments[0]);
    arrived->fetch_add(end - begin);
    while (arrived->load() < 2) {
    }
  };
  for (auto _ : state) {
    if (asleep) wait_until_asleep();
    std::atomic<int64_t> arrived = 0;
    void* arguments[] = {&arrived};
    auto start = std::chrono::steady_clock::now();
    launch(plan, arguments);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}
BENCHMARK_CAPTURE(launch_and_meet, spinning, false)->UseManualTime();
BENCHMARK_CAPTURE(launch_and_meet, sleeping, true)->UseManualTime();

// Empty programs on sleeping workers: the caller wakes them, and need not wait for those that come too late.
void launch_two_programs_sleeping(benchmark::State& state) {
  LaunchPlan plan = empty_plan(2);
  for (auto _ : state) {
    wait_until_asleep();
    auto start = std::chrono::steady_clock::now();
    launch(plan, nullptr);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}
BENCHMARK(launch_two_programs_sleeping)->UseManualTime();

void call(benchmark::State& state, bool static_shapes) {
  auto add = kernel("add", [](Tensor x, Tensor y) {
    auto [m, n] = x.sizes<2>();
    auto out = empty({m, n}, x.dtype());
    for (auto [tile_m, tile_n] : tile({m, n})) out[tile_m, tile_n] = x[tile_m, tile_n] + y[tile_m, tile_n];
    return out;
  });
  Settings settings;
  settings.autotune_effort = AutotuneEffort::none;
  settings.static_shapes = static_shapes;
  auto configured = add.with(settings);
  Array x = Array::ones({8, 32}), y = Array::ones({8, 32});
  for (auto _ : state) benchmark::DoNotOptimize(configured(x, y).data());
}
BENCHMARK_CAPTURE(call, static_shapes, true);
BENCHMARK_CAPTURE(call, run_time_sizes, false);

} // namespace

BENCHMARK_MAIN();
