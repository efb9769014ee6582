// A short list of integers, one per dimension of an array: sizes, strides or indices. It never allocates.
#pragma once

#include "tilewright/error.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>

namespace tilewright {

// The largest number of dimensions an array may have.
inline constexpr int kMaxRank = 8;

class IndexList {
public:
  IndexList() = default;
  // Throw Error where there are more than kMaxRank values.
  IndexList(std::initializer_list<int64_t> values, SourceLocation location = std::source_location::current())
      : IndexList(values.begin(), values.size(), location) {}
  IndexList(std::span<const int64_t> values, SourceLocation location = std::source_location::current())
      : IndexList(values.data(), values.size(), location) {}
  // From a vector or an array, such as std::vector<int64_t>.
  template <class Range>
    requires requires(const Range& range) {
      { range.data() } -> std::convertible_to<const int64_t*>;
      { range.size() } -> std::convertible_to<size_t>;
    }
  IndexList(const Range& values, SourceLocation location = std::source_location::current())
      : IndexList(values.data(), values.size(), location) {}

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](int i) const { return values_[i]; }
  int64_t& operator[](int i) { return values_[i]; }
  int64_t* begin() { return values_; }
  int64_t* end() { return values_ + size_; }
  const int64_t* begin() const { return values_; }
  const int64_t* end() const { return values_ + size_; }
  operator std::span<const int64_t>() const { return {values_, size_t(size_)}; }

  // Throw Error where the list is full.
  void push_back(int64_t value, SourceLocation location = std::source_location::current());
  void insert(int position, int64_t value, SourceLocation location = std::source_location::current());
  void erase(int position);

  friend bool operator==(const IndexList& a, const IndexList& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (a.values_[i] != b.values_[i]) return false;
    return true;
  }

private:
  IndexList(const int64_t* values, size_t count, const SourceLocation& location);

  int64_t values_[kMaxRank] = {};
  int size_ = 0;
};

} // namespace tilewright
