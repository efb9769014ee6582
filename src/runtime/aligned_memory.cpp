#include "runtime/aligned_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <vector>

namespace tilewright {

// What x86-64 and aarch64 (with 4 KiB base pages) use. Blocks from this size on come from the system directly.
static constexpr int64_t kHugePage = int64_t(2) << 20;

static int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Whole huge pages, so that the system can back all of the block by them.
static void* map_huge_pages(int64_t bytes) {
  int64_t reserved = bytes + kHugePage;
  void* address = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  auto begin = reinterpret_cast<uintptr_t>(address);
  uintptr_t aligned = round_up(begin, kHugePage);
  if (aligned > begin) munmap(address, aligned - begin);
  uintptr_t tail = begin + reserved - (aligned + bytes);
  if (tail > 0) munmap(reinterpret_cast<void*>(aligned + bytes), tail);
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE); // a hint: nothing is lost where it is refused
  return reinterpret_cast<void*>(aligned);
}

AlignedMemory::AlignedMemory(int64_t bytes) {
  if (bytes >= kHugePage) {
    bytes_ = round_up(bytes, kHugePage);
    data_ = map_huge_pages(bytes_);
  } else {
    bytes_ = round_up(std::max<int64_t>(bytes, 1), kMemoryAlignment);
    data_ = std::aligned_alloc(kMemoryAlignment, bytes_);
    if (!data_) throw std::bad_alloc();
  }
}

AlignedMemory::~AlignedMemory() {
  if (bytes_ >= kHugePage)
    munmap(data_, bytes_);
  else
    std::free(data_);
}

namespace {

// Freed large blocks, the oldest first.
class MemoryCache {
public:
  AlignedMemory take(int64_t bytes) {
    std::lock_guard lock(mutex_);
    for (size_t i = blocks_.size(); i-- > 0;) {
      int64_t size = blocks_[i].bytes();
      if (size < bytes || size > bytes + bytes / 4 + kHugePage) continue;
      AlignedMemory found = std::move(blocks_[i]);
      blocks_.erase(blocks_.begin() + i);
      bytes_ -= size;
      return found;
    }
    return {};
  }

  void keep(AlignedMemory memory) {
    if (memory.bytes() > kCachedMemoryLimit) return;
    std::vector<AlignedMemory> dropped; // given back to the system after the lock
    std::lock_guard lock(mutex_);
    size_t count = 0;
    for (bytes_ += memory.bytes(); bytes_ > kCachedMemoryLimit; ++count) bytes_ -= blocks_[count].bytes();
    dropped.assign(std::make_move_iterator(blocks_.begin()), std::make_move_iterator(blocks_.begin() + count));
    blocks_.erase(blocks_.begin(), blocks_.begin() + count);
    blocks_.push_back(std::move(memory));
  }

  void clear() {
    std::vector<AlignedMemory> dropped;
    std::lock_guard lock(mutex_);
    dropped.swap(blocks_);
    bytes_ = 0;
  }

  int64_t bytes() {
    std::lock_guard lock(mutex_);
    return bytes_;
  }

  // Held over a fork, so that the child does not find it locked by a thread that it does not have.
  std::mutex& mutex() { return mutex_; }

private:
  std::mutex mutex_;
  std::vector<AlignedMemory> blocks_;
  int64_t bytes_ = 0;
};

// Never destroyed, so that arrays in static objects may still be freed at exit.
MemoryCache& cache() {
  static MemoryCache& instance = []() -> MemoryCache& {
    static MemoryCache* created = new MemoryCache;
    pthread_atfork([] { created->mutex().lock(); }, [] { created->mutex().unlock(); },
                   [] { created->mutex().unlock(); });
    return *created;
  }();
  return instance;
}

AlignedMemory take_or_allocate(int64_t bytes) {
  if (bytes < kHugePage) return AlignedMemory(bytes);
  if (AlignedMemory memory = cache().take(bytes); memory.data()) return memory;
  try {
    return AlignedMemory(bytes);
  } catch (const std::bad_alloc&) {
    cache().clear();
    return AlignedMemory(bytes);
  }
}

struct ArrayMemory {
  explicit ArrayMemory(int64_t bytes) : memory(take_or_allocate(bytes)) {}
  ~ArrayMemory() {
    if (memory.bytes() >= kHugePage) cache().keep(std::move(memory));
  }

  AlignedMemory memory;
};

} // namespace

std::shared_ptr<void> allocate_array_memory(int64_t bytes) {
  auto block = std::make_shared<ArrayMemory>(bytes);
  void* data = block->memory.data();
  return std::shared_ptr<void>(std::move(block), data);
}

void release_cached_memory() { cache().clear(); }
int64_t cached_memory_bytes() { return cache().bytes(); }

} // namespace tilewright
