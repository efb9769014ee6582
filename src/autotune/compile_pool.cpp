#include "autotune/compile_pool.h"

#include <algorithm>

namespace tilewright {

CompilePool::CompilePool(unsigned thread_count) {
  for (unsigned i = 0; i < std::max(1u, thread_count); ++i)
    threads_.emplace_back([this](std::stop_token stop) { work_until_stopped(stop); });
}

CompilePool::~CompilePool() = default;

void CompilePool::run(size_t count, std::function<void(size_t)> work) {
  start(count, std::move(work));
  wait();
}

void CompilePool::start(size_t count, std::function<void(size_t)> work) {
  std::lock_guard lock(mutex_);
  work_ = std::move(work);
  next_ = 0;
  count_ = count;
  work_added_.notify_all();
}

void CompilePool::wait() {
  std::unique_lock lock(mutex_);
  work_done_.wait(lock, [this] { return next_ == count_ && running_ == 0; });
  work_ = nullptr;
}

void CompilePool::work_until_stopped(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (work_added_.wait(lock, stop, [this] { return next_ < count_; })) {
    const size_t index = next_++;
    ++running_;
    lock.unlock();
    work_(index);
    lock.lock();
    --running_;
    if (next_ == count_ && running_ == 0) work_done_.notify_one();
  }
}

} // namespace tilewright
