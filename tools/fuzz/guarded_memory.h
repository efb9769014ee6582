// Arrays that know when something beside their elements was touched: they lie against a page that must not be accessed,
// and the gaps between and around their elements hold a pattern.
#pragma once

#include "tilewright/array.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::fuzz {

/// Where the page is that must not be accessed.
enum class Guard { after, before };

/// Memory with a guard page on both sides, and next to one of them.
class GuardedMemory {
public:
  GuardedMemory(int64_t bytes, int64_t alignment, Guard guard);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }
  int64_t size() const { return bytes_; }
  /// What is accessible around the data.
  std::byte* begin() const { return pages_; }
  std::byte* end() const { return pages_ + page_bytes_; }
  /// `12 bytes past its end`, where the address is near; else empty.
  std::string describe(const void* address) const;

private:
  std::byte* pages_ = nullptr;
  int64_t page_bytes_ = 0;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

/// A copy of an array, with the same strides, in guarded memory.
class GuardedArray {
public:
  /// `alignment` in bytes, of the first element. An alignment of less than 16 puts the elements right at the guard.
  GuardedArray(const Array& source, int64_t alignment, Guard guard, std::string name);

  const Array& array() const { return array_; }
  /// Empty, or what was overwritten: the gaps, and the elements too where they must not change.
  std::string damage(bool elements_may_change) const;
  std::string describe(const void* address) const;

private:
  std::unique_ptr<GuardedMemory> memory_;
  Array array_;
  std::string name_;
  std::byte* window_ = nullptr; // what is watched
  std::vector<std::byte> before_;
  std::vector<bool> is_element_; // per byte of the window
};

/// Calls `generated`, and returns empty, or what it was stopped for: an access violation, a division by zero, or more
/// than ten seconds of the processor. What it held is lost then, so it must hold nothing. One thread at a time.
std::string run_generated(const std::function<void()>& generated, const std::function<std::string(const void*)>& where);

} // namespace tilewright::fuzz
