#include "runtime/num_threads.h"

#include "support/error.h"
#include "tilewright/device.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <sched.h>
#include <system_error>

namespace tilewright {

int available_cpu_count() {
  // The kernel refuses masks smaller than its own, whose size it does not tell.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    size_t bytes = CPU_ALLOC_SIZE(capacity);
    std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(CPU_ALLOC(capacity), [](cpu_set_t* set) { CPU_FREE(set); });
    if (sched_getaffinity(0, bytes, mask.get()) == 0) return CPU_COUNT_S(bytes, mask.get());
    if (errno != EINVAL) break;
  }
  return 1;
}

int parse_num_threads(std::string_view text) {
  int count = 0;
  auto [parsed, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || parsed != text.data() + text.size() || count < 1 || count > kMaxThreads)
    fail("TILEWRIGHT_NUM_THREADS is \"{}\"; expected a whole number from 1 to {}", text, kMaxThreads);
  return count;
}

static int initial_thread_count() {
  const char* text = std::getenv("TILEWRIGHT_NUM_THREADS");
  return text && *text ? parse_num_threads(text) : std::min(available_cpu_count(), kMaxThreads);
}

static std::atomic<int>& thread_count() {
  static std::atomic<int> count = initial_thread_count();
  return count;
}

int num_threads() { return thread_count().load(std::memory_order_relaxed); }

void set_num_threads(int count, SourceLocation location) {
  if (count < 1 || count > kMaxThreads)
    fail(location, "set_num_threads({}): expected a number from 1 to {}", count, kMaxThreads);
  thread_count().store(count, std::memory_order_relaxed);
}

} // namespace tilewright
