#include "runtime/launch_plan.h"

#include "runtime/thread_pool.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace tilewright {
namespace {

// A kernel by hand: out[program] += the number of programs of the launch, times the run-time number in slot 1.
void count_programs(void* const* arguments, int64_t begin, int64_t end, int64_t worker_count, void*,
                    const RuntimeTable*) {
  auto* out = static_cast<int64_t*>(arguments[0]);
  int64_t factor = *static_cast<const int64_t*>(arguments[1]);
  for (int64_t program = begin; program < end; ++program) out[program] += worker_count * factor;
}

class Launch : public testing::Test {
protected:
  Launch() { set_num_threads(4); }
  ~Launch() override { set_num_threads(before_); }

private:
  int before_ = num_threads();
};

std::vector<int64_t> launch_counting(const LaunchPlan& plan, int64_t factor) {
  std::vector<int64_t> out(20);
  void* arguments[] = {out.data(), &factor};
  launch(plan, arguments);
  return out;
}

TEST_F(Launch, runs_every_program_once) {
  LaunchPlan plan;
  plan.function = count_programs;
  for (int64_t count : {0, 1, 7, 20}) {
    plan.program_count = count;
    std::vector<int64_t> out = launch_counting(plan, 3);
    for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(out[i], i < count ? count * 3 : 0);
  }
}

TEST_F(Launch, persistent_programs_are_as_many_as_workers) {
  LaunchPlan plan;
  plan.function = count_programs;
  plan.persistent = true;
  auto programs = [&](int64_t tiles, int max_workers) {
    plan.program_count = tiles;
    plan.max_workers = max_workers;
    return launch_counting(plan, 1)[0];
  };
  EXPECT_EQ(programs(1000, kMaxThreads), 4);
  EXPECT_EQ(programs(1000, 2), 2);
  EXPECT_EQ(programs(3, kMaxThreads), 3);
  plan.programs_per_worker = 4;
  EXPECT_EQ(programs(1000, kMaxThreads), 16);
  EXPECT_EQ(programs(1000, 2), 8);
  EXPECT_EQ(programs(5, kMaxThreads), 5);
}

TEST_F(Launch, gives_each_worker_scratch_of_its_own) {
  LaunchPlan plan;
  // Fills its scratch with the program's number, and counts the bytes that are still there afterwards.
  plan.function = [](void* const* arguments, int64_t begin, int64_t end, int64_t, void* scratch, const RuntimeTable*) {
    auto* out = static_cast<int64_t*>(arguments[0]);
    auto* bytes = static_cast<volatile unsigned char*>(scratch);
    for (int64_t program = begin; program < end; ++program) {
      for (int i = 0; i < 5000; ++i) bytes[i] = (unsigned char)program;
      for (int i = 0; i < 5000; ++i) out[program] += bytes[i] == (unsigned char)program;
      if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0) out[program] = -1;
    }
  };
  plan.program_count = 200;
  plan.scratch_bytes = 5000;
  std::vector<int64_t> out(200);
  void* arguments[] = {out.data()};
  launch(plan, arguments);
  EXPECT_EQ(out, std::vector<int64_t>(200, 5000));
}

TEST_F(Launch, gives_the_runtime_table) {
  LaunchPlan plan;
  plan.function = [](void* const* arguments, int64_t, int64_t, int64_t, void*, const RuntimeTable* table) {
    auto* out = static_cast<float*>(arguments[0]);
    *out = table->unary_float32[int(RuntimeFunction::cbrt)](27.0f);
  };
  plan.program_count = 1;
  float out = 0;
  void* arguments[] = {&out};
  launch(plan, arguments);
  EXPECT_EQ(out, 3);
}

TEST_F(Launch, may_be_called_from_many_threads) {
  LaunchPlan plan;
  plan.function = count_programs;
  plan.program_count = 20;
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 500; ++round)
        wrong += launch_counting(plan, caller) != std::vector<int64_t>(20, 20 * caller);
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Launch, the_plan_keeps_its_code) {
  auto code = std::make_shared<int>();
  std::weak_ptr<int> watched = code;
  {
    LaunchPlan plan;
    plan.code = std::move(code);
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

} // namespace
} // namespace tilewright
