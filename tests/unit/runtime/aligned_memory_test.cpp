#include "runtime/aligned_memory.h"

#include <gtest/gtest.h>
#include <new>
#include <vector>

namespace tilewright {
namespace {

constexpr int64_t kMiB = int64_t(1) << 20;

TEST(AlignedMemory, is_aligned_and_large_enough) {
  for (int64_t bytes : {int64_t(0), int64_t(1), int64_t(63), int64_t(100000), 2 * kMiB, 5 * kMiB + 1}) {
    AlignedMemory memory(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 64, 0u);
    EXPECT_GE(memory.bytes(), bytes);
    auto* data = static_cast<char*>(memory.data());
    data[0] = data[memory.bytes() - 1] = 1;
  }
}

TEST(AlignedMemory, moves) {
  AlignedMemory a(100);
  void* data = a.data();
  AlignedMemory b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
}

TEST(AlignedMemory, throws_where_there_is_none) { EXPECT_THROW(AlignedMemory(int64_t(1) << 60), std::bad_alloc); }

TEST(ArrayMemory, large_blocks_are_used_again) {
  release_cached_memory();
  void* first = allocate_array_memory(8 * kMiB).get();
  EXPECT_EQ(cached_memory_bytes(), 8 * kMiB);
  std::shared_ptr<void> again = allocate_array_memory(7 * kMiB);
  EXPECT_EQ(again.get(), first);
  EXPECT_EQ(cached_memory_bytes(), 0);
  again.reset();
  std::shared_ptr<void> small = allocate_array_memory(4 * kMiB); // half of the block would be wasted
  EXPECT_NE(small.get(), first);
  release_cached_memory();
  EXPECT_EQ(cached_memory_bytes(), 0);
}

TEST(ArrayMemory, keeps_no_more_than_the_limit) {
  release_cached_memory();
  std::vector<std::shared_ptr<void>> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(allocate_array_memory(kCachedMemoryLimit / 4));
  blocks.clear();
  EXPECT_EQ(cached_memory_bytes(), kCachedMemoryLimit);
  allocate_array_memory(kCachedMemoryLimit + 2 * kMiB).reset();
  EXPECT_EQ(cached_memory_bytes(), kCachedMemoryLimit);
  release_cached_memory();
}

} // namespace
} // namespace tilewright
