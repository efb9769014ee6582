#include "runtime/machine_limits.h"

#include "runtime/cpu_info.h"
#include "tilewright/device.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(MachineLimits, are_measured) {
  MachineLimits limits = measure_machine_limits();
  EXPECT_EQ(limits.threads, num_threads());
  // Any machine that builds this does more than one operation, and copies more than one byte, per nanosecond.
  EXPECT_GT(limits.float32_gflops, 1);
  EXPECT_GT(limits.float64_gflops, 1);
  EXPECT_GT(limits.copy_gbps, 0.1);
}

TEST(MachineLimits, work_can_be_run_again_and_again) {
  for (const LimitWork& work : {float32_work(), float64_work(), copy_work()}) {
    EXPECT_GT(work.amount, 0);
    work.run();
    work.run();
  }
}

TEST(CpuInfo, says_what_the_system_says) {
  const CpuInfo& info = cpu_info();
  EXPECT_GE(info.logical_cpus, 1);
  EXPECT_GE(info.physical_cores, 1);
  EXPECT_LE(info.physical_cores, info.logical_cpus);
  EXPECT_FALSE(info.model.empty());
  for (size_t i = 0; i < info.caches.size(); ++i) {
    EXPECT_GT(info.caches[i].bytes, 0);
    EXPECT_GE(info.caches[i].sharing_cpus, 1);
    EXPECT_GE(info.caches[i].level, info.caches[i > 0 ? i - 1 : 0].level);
  }
}

} // namespace
} // namespace tilewright
