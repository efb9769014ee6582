#include "runtime/thread_pool.h"

#include "runtime/num_threads.h"
#include "support/error_of.h"
#include "tilewright/device.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tilewright {
namespace {

// More threads than CPUs, so that every interleaving has its chance.
class ThreadPool : public testing::Test {
protected:
  ThreadPool() { set_num_threads(4); }
  ~ThreadPool() override { set_num_threads(before_); }

private:
  int before_ = num_threads();
};

TEST_F(ThreadPool, covers_every_index_once) {
  for (int64_t count : {0, 1, 2, 3, 5, 64, 1000, 100003})
    for (int max_workers : {1, 2, 4, 1000}) {
      std::vector<std::atomic<int>> visits(count);
      parallel_for(count, max_workers, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) ++visits[i];
      });
      for (auto& each : visits) ASSERT_EQ(each, 1);
    }
}

TEST_F(ThreadPool, workers_are_numbered_and_exclusive) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> inside[4] = {};
    std::atomic<bool> shared = false, out_of_range = false, moved = false;
    std::vector<std::atomic<std::thread::id>> threads(4);
    parallel_for(500, 3, [&](int64_t, int64_t, int worker) {
      if (worker < 0 || worker >= 3) return out_of_range.store(true);
      if (inside[worker]++ != 0) shared = true;
      std::thread::id nobody;
      if (!threads[worker].compare_exchange_strong(nobody, std::this_thread::get_id()) &&
          nobody != std::this_thread::get_id())
        moved = true;
      --inside[worker];
    });
    ASSERT_FALSE(shared);
    ASSERT_FALSE(out_of_range);
    ASSERT_FALSE(moved);
  }
}

TEST_F(ThreadPool, several_threads_take_part) {
  // Each of two ranges waits for the other to begin.
  std::atomic<int> begun = 0;
  std::set<std::thread::id> threads;
  std::mutex mutex;
  parallel_for(2, 2, [&](int64_t, int64_t, int) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 2u);
  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
}

TEST_F(ThreadPool, sleeping_threads_wake_for_a_job) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> begun = 0;
    parallel_for(4, 4, [&](int64_t, int64_t, int) {
      ++begun;
      while (begun < 4) std::this_thread::yield();
    });
    while (sleeping_thread_count() < pool_thread_count()) std::this_thread::yield();
  }
}

TEST_F(ThreadPool, runs_inline_for_one_item_and_one_worker) {
  auto caller = std::this_thread::get_id();
  for (auto [count, workers] : {std::pair(1, 4), std::pair(100, 1)}) {
    int calls = 0;
    parallel_for(count, workers, [&](int64_t begin, int64_t end, int worker) {
      ++calls;
      EXPECT_EQ(begin, 0);
      EXPECT_EQ(end, count);
      EXPECT_EQ(worker, 0);
      EXPECT_EQ(std::this_thread::get_id(), caller);
    });
    EXPECT_EQ(calls, 1);
  }
}

TEST_F(ThreadPool, a_call_from_inside_runs_on_its_thread) {
  std::atomic<int64_t> sum = 0;
  std::atomic<bool> elsewhere = false;
  parallel_for(50, 4, [&](int64_t begin, int64_t end, int) {
    auto thread = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i)
      parallel_for(100, 4, [&](int64_t inner_begin, int64_t inner_end, int worker) {
        if (std::this_thread::get_id() != thread || worker != 0) elsewhere = true;
        sum += inner_end - inner_begin;
      });
  });
  EXPECT_EQ(sum, 5000);
  EXPECT_FALSE(elsewhere);
}

TEST_F(ThreadPool, many_callers_at_once_each_get_their_result) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 24; ++caller) // more than there are slots
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 100; ++round) {
        std::vector<int64_t> values(1000);
        parallel_for(1000, 4, [&](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) values[i] = i * caller;
        });
        wrong += std::accumulate(values.begin(), values.end(), int64_t(0)) != 499500 * caller;
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ThreadPool, exceptions_reach_the_caller_when_all_have_left) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> inside = 0;
    std::string what;
    try {
      parallel_for(1000, 4, [&](int64_t begin, int64_t end, int) {
        ++inside;
        bool here = begin <= 300 && 300 < end;
        --inside;
        if (here) throw std::runtime_error("item 300");
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
      EXPECT_EQ(inside, 0);
    }
    ASSERT_EQ(what, "item 300");
  }
  // The pool is as it was.
  std::atomic<int64_t> sum = 0;
  parallel_for(100, 4, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
  EXPECT_EQ(sum, 100);
}

TEST_F(ThreadPool, exceptions_pass_through_inline_and_nested_calls) {
  EXPECT_THROW(parallel_for(1, 4, [](int64_t, int64_t, int) { throw std::logic_error(""); }), std::logic_error);
  EXPECT_THROW(parallel_for(8, 4,
                            [](int64_t, int64_t, int) {
                              parallel_for(8, 4, [](int64_t, int64_t, int) { throw std::logic_error(""); });
                            }),
               std::logic_error);
}

TEST_F(ThreadPool, follows_set_num_threads) {
  auto largest_worker = [] {
    std::atomic<int> largest = 0;
    parallel_for(200, 1000, [&](int64_t, int64_t, int worker) {
      for (int seen = largest; worker > seen && !largest.compare_exchange_weak(seen, worker);) {
      }
    });
    return largest.load();
  };
  for (int count : {1, 3, 2, 6, 1, 4})
    for (int round = 0; round < 20; ++round) {
      set_num_threads(count);
      EXPECT_EQ(num_threads(), count);
      ASSERT_LT(largest_worker(), count);
    }
}

TEST_F(ThreadPool, the_child_of_a_fork_has_threads_of_its_own) {
  auto works = [] {
    std::atomic<int64_t> sum = 0;
    std::atomic<int> begun = 0;
    parallel_for(2, 2, [&](int64_t begin, int64_t end, int) {
      ++begun;
      while (begun < 2) std::this_thread::yield(); // so it takes two threads
      sum += end - begin;
    });
    return sum == 2;
  };
  EXPECT_TRUE(works());
  for (int round = 0; round < 5; ++round) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(works() ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 0);
    EXPECT_TRUE(works());
  }
}

using ThreadPoolDeathTest = ThreadPool;

TEST_F(ThreadPoolDeathTest, the_process_may_exit_while_threads_spin_or_work) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        set_num_threads(4);
        parallel_for(100, 4, [](int64_t, int64_t, int) {});
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        set_num_threads(4);
        std::thread([] {
          for (;;) parallel_for(100, 4, [](int64_t, int64_t, int) {});
        }).detach();
        parallel_for(100, 4, [](int64_t, int64_t, int) {});
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(NumThreads, is_read_from_text) {
  EXPECT_EQ(parse_num_threads("1"), 1);
  EXPECT_EQ(parse_num_threads("1024"), 1024);
  for (std::string text : {"0", "-1", "1025", "two", "2x", " 2", "", "99999999999999999999"})
    EXPECT_EQ(error_of([&] { parse_num_threads(text); }),
              "TILEWRIGHT_NUM_THREADS is \"" + text + "\"; expected a whole number from 1 to 1024");
}

TEST(NumThreads, is_at_first_the_number_of_cpus_that_the_process_may_run_on) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  EXPECT_EQ(available_cpu_count(), CPU_COUNT(&mask));
}

TEST(SetNumThreads, refuses_what_is_no_number_of_threads) {
  EXPECT_EQ(error_of([] { set_num_threads(0); }), "set_num_threads(0): expected a number from 1 to 1024");
  EXPECT_EQ(error_of([] { set_num_threads(1025); }), "set_num_threads(1025): expected a number from 1 to 1024");
}

TEST(ThreadScratch, is_kept_and_grows) {
  void* small = thread_scratch(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(small) % 64, 0u);
  EXPECT_EQ(thread_scratch(50), small);
  auto* large = static_cast<char*>(thread_scratch(1 << 20));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % 64, 0u);
  large[(1 << 20) - 1] = 1;
  EXPECT_EQ(thread_scratch(1 << 20), large);
  void* other = nullptr;
  std::thread([&] { other = thread_scratch(1 << 20); }).join();
  EXPECT_NE(other, large);
}

} // namespace
} // namespace tilewright
