// Threads that compile candidates. They live as long as the pool, so that what a compiler keeps per thread is kept.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewright {

class CompilePool {
public:
  explicit CompilePool(unsigned thread_count);
  ~CompilePool();

  /// Calls `work(0)` to `work(count - 1)`, one per free thread at a time, in this order, and waits for all of them.
  /// Between calls the threads sleep. `work` must not throw.
  void run(size_t count, std::function<void(size_t)> work);

  /// The same in two steps: start() comes back at once, and wait() when all is done. One wait() for each start().
  void start(size_t count, std::function<void(size_t)> work);
  void wait();

private:
  void work_until_stopped(std::stop_token stop);

  std::mutex mutex_;
  std::condition_variable_any work_added_;
  std::condition_variable work_done_;
  std::function<void(size_t)> work_;
  size_t next_ = 0, count_ = 0, running_ = 0;
  std::vector<std::jthread> threads_; // last: stopped and joined before the rest goes
};

} // namespace tilewright
