#include "runtime/thread_pool.h"

#include "runtime/aligned_memory.h"
#include "tilewright/device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>

namespace tilewright {

namespace {

constexpr auto kSpinTime = std::chrono::microseconds(50);

void relax_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Calls `done` until it returns true, for at most kSpinTime. Returns whether it did.
template <class Done> bool spin_until(Done&& done) {
  auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      relax_cpu();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

thread_local bool inside_body = false;

// One running parallel_for. Slots belong to the pool and are never freed, so that a thread that comes late may look at
// one whose job has ended.
class alignas(64) JobSlot {
public:
  bool try_reserve() { return !reserved_.load(std::memory_order_relaxed) && !reserved_.exchange(true); }
  void release() { reserved_.store(false, std::memory_order_release); }

  void open(int64_t count, int workers, const ParallelBody& body) {
    count_ = count;
    workers_ = workers;
    body_ = &body;
    failed_.store(false, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    state_.store(uint32_t(workers - 1) * kPlace, std::memory_order_release);
  }

  // Takes part in the job if it is open and has a place left.
  void try_join() {
    uint32_t state = state_.load(std::memory_order_relaxed);
    do {
      if (state < kPlace) return;
    } while (
        !state_.compare_exchange_weak(state, state - kPlace + 1, std::memory_order_acquire, std::memory_order_relaxed));
    run(workers_ - int(state / kPlace));
    // The caller sleeps only when it has closed the job, and then waits for the state to become 0.
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == 1) state_.notify_one();
  }

  // Claims ranges until none is left.
  void run(int worker) {
    inside_body = true;
    int64_t begin = next_.load(std::memory_order_relaxed);
    while (begin < count_) {
      int64_t end = begin + std::max<int64_t>(1, (count_ - begin) / (2 * workers_));
      if (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed)) continue;
      try {
        (*body_)(begin, end, worker);
      } catch (...) {
        if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
        next_.store(count_, std::memory_order_relaxed);
      }
      begin = next_.load(std::memory_order_relaxed);
    }
    inside_body = false;
  }

  // Lets nobody else in, waits until those inside have left, and returns what a body threw.
  std::exception_ptr close() {
    state_.fetch_and(kPlace - 1, std::memory_order_acq_rel);
    auto empty = [&] { return state_.load(std::memory_order_acquire) == 0; };
    if (!spin_until(empty))
      for (uint32_t state; (state = state_.load(std::memory_order_acquire)) != 0;) state_.wait(state);
    return std::exchange(error_, nullptr);
  }

private:
  // Places left for workers, in units of kPlace, plus the number of workers inside (the caller is not counted). A
  // closed job has no places, so 0 is a job that is over.
  static constexpr uint32_t kPlace = 1 << 16;
  std::atomic<uint32_t> state_ = 0;
  std::atomic<bool> reserved_ = false;
  std::atomic<bool> failed_ = false;
  int workers_ = 0;
  int64_t count_ = 0;
  const ParallelBody* body_ = nullptr;
  std::exception_ptr error_;
  alignas(64) std::atomic<int64_t> next_ = 0;
};

class ThreadPool {
public:
  void run(int64_t count, int workers, const ParallelBody& body) {
    JobSlot* slot = reserve_slot();
    if (!slot) return body(0, count, 0); // as many callers at once as slots: the CPUs have enough to do
    start_threads(workers - 1);
    slot->open(count, workers, body);
    epoch_.fetch_add(1);
    wake_sleepers(workers - 1);
    slot->run(0);
    std::exception_ptr error = slot->close();
    slot->release();
    if (error) std::rethrow_exception(error);
  }

  int thread_count() const { return started_.load(); }
  int sleeping() const { return sleeping_.load(); }

private:
  JobSlot* reserve_slot() {
    for (JobSlot& slot : slots_)
      if (slot.try_reserve()) return &slot;
    return nullptr;
  }

  // A thread sleeps only if, after it has been counted as sleeping, the epoch is still the one whose jobs it has
  // looked at. Both sides being sequentially consistent, either it sees the new epoch or the caller sees the sleeper.
  void wake_sleepers(int wanted) {
    int sleeping = sleeping_.load();
    if (sleeping == 0) return;
    // Threads beyond num_threads() sleep too, and waking one of those instead of another would lose a worker.
    if (wanted >= sleeping || started_.load(std::memory_order_relaxed) >= num_threads()) return epoch_.notify_all();
    for (int i = 0; i < wanted; ++i) epoch_.notify_one();
  }

  void start_threads(int wanted) {
    if (started_.load(std::memory_order_acquire) >= wanted) return;
    std::lock_guard lock(starting_);
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (int index = started_.load(); index < wanted; ++index) {
        std::thread([this, index] { work(index); }).detach();
        started_.store(index + 1, std::memory_order_release);
      }
    } catch (const std::system_error&) {
      // The system gives no more threads: those that there are do the work.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void work(int index) {
    pthread_setname_np(pthread_self(), "tilewright");
    uint32_t seen = epoch_.load();
    for (;;) {
      bool wanted = index < num_threads() - 1;
      if (wanted)
        for (JobSlot& slot : slots_) slot.try_join();
      auto changed = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
      if (!wanted || !spin_until(changed)) {
        sleeping_.fetch_add(1);
        epoch_.wait(seen);
        sleeping_.fetch_sub(1);
      }
      seen = epoch_.load();
    }
  }

  static constexpr int kSlots = 16;
  JobSlot slots_[kSlots];
  alignas(64) std::atomic<uint32_t> epoch_ = 0; // grows with each job
  alignas(64) std::atomic<int> sleeping_ = 0;
  std::atomic<int> started_ = 0;
  std::mutex starting_;
};

// Never destroyed, since its threads use it until the process ends. A fork's child has none of its parent's threads,
// and so leaves the parent's pool behind and makes its own.
std::atomic<ThreadPool*> current_pool = nullptr;
std::mutex making_pool;

ThreadPool& make_pool() {
  std::lock_guard lock(making_pool);
  if (ThreadPool* pool = current_pool.load()) return *pool;
  static std::once_flag registered;
  std::call_once(registered, [] {
    pthread_atfork([] { making_pool.lock(); }, [] { making_pool.unlock(); },
                   [] {
                     current_pool.store(nullptr);
                     making_pool.unlock();
                   });
  });
  auto* pool = new ThreadPool;
  current_pool.store(pool, std::memory_order_release);
  return *pool;
}

ThreadPool& pool() {
  ThreadPool* pool = current_pool.load(std::memory_order_acquire);
  return pool ? *pool : make_pool();
}

} // namespace

void parallel_for(int64_t count, int max_workers, ParallelBody body) {
  if (count <= 0) return;
  int workers = int(std::min<int64_t>(count, max_workers));
  if (workers > 1 && !inside_body) workers = std::min(workers, num_threads());
  if (workers <= 1 || inside_body) return body(0, count, 0);
  pool().run(count, workers, body);
}

void* thread_scratch(int64_t bytes) {
  thread_local AlignedMemory memory;
  if (bytes > memory.bytes()) {
    memory = AlignedMemory(); // freed first, so that both are never there together
    memory = AlignedMemory(bytes);
  }
  return memory.data();
}

int pool_thread_count() { return pool().thread_count(); }
int sleeping_thread_count() { return pool().sleeping(); }

} // namespace tilewright
