// Memory for elements and scratch: aligned to 64 bytes, large blocks on huge pages where the system has them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace tilewright {

inline constexpr int64_t kMemoryAlignment = 64;

// Owns one block, or none. Its bytes are unset.
class AlignedMemory {
public:
  AlignedMemory() = default;
  // Throws std::bad_alloc.
  explicit AlignedMemory(int64_t bytes);
  AlignedMemory(AlignedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  AlignedMemory& operator=(AlignedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~AlignedMemory();

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; } // at least what was asked for

private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

// Memory of at least `bytes` for an array, freed with its last owner. Freed large blocks are kept for the next array
// of about that size, kCachedMemoryLimit in all: fresh memory costs a page fault for each page, which takes longer than
// most kernels need to fill it. Throws std::bad_alloc.
std::shared_ptr<void> allocate_array_memory(int64_t bytes);

inline constexpr int64_t kCachedMemoryLimit = int64_t(512) << 20;

// Gives the kept blocks back to the system. For tests, and for a program that needs the memory elsewhere.
void release_cached_memory();
int64_t cached_memory_bytes();

} // namespace tilewright
