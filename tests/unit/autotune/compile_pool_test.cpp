#include "autotune/compile_pool.h"

#include <atomic>
#include <barrier>
#include <gtest/gtest.h>
#include <set>

namespace tilewright {
namespace {

TEST(CompilePool, does_all_work_once_and_waits_for_it) {
  for (unsigned threads : {0u, 1u, 2u, 7u}) {
    CompilePool pool(threads);
    for (size_t count : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> done(count);
      pool.run(count, [&](size_t i) { ++done[i]; });
      for (const auto& times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST(CompilePool, works_on_all_threads_at_once) {
  CompilePool pool(4);
  std::barrier all_four(4); // passed only if four pieces of work run at the same time
  std::mutex mutex;
  std::set<std::thread::id> threads;
  pool.run(4, [&](size_t) {
    all_four.arrive_and_wait();
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 4u);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

} // namespace
} // namespace tilewright
