#include "tilewright/index_list.h"

#include "support/error.h"

#include <algorithm>

namespace tilewright {

IndexList::IndexList(const int64_t* values, size_t count, const SourceLocation& location) {
  if (count > size_t(kMaxRank)) fail(location, "an array may have {} dimensions at most, not {}", kMaxRank, count);
  std::copy(values, values + count, values_);
  size_ = int(count);
}

void IndexList::push_back(int64_t value, SourceLocation location) { insert(size_, value, location); }

void IndexList::insert(int position, int64_t value, SourceLocation location) {
  if (size_ == kMaxRank) fail(location, "an array may have {} dimensions at most", kMaxRank);
  std::copy_backward(values_ + position, values_ + size_, values_ + size_ + 1);
  values_[position] = value;
  ++size_;
}

void IndexList::erase(int position) {
  std::copy(values_ + position + 1, values_ + size_, values_ + position);
  --size_;
}

} // namespace tilewright
