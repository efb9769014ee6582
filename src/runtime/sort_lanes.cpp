#include "runtime/sort_lanes.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tilewright {
namespace {

// Below, NaN counts as larger than every number; other comparisons with it are false.
template <class T> bool less(T a, T b) { return a < b || (a == a && b != b); }

} // namespace

template <class T> void sort_lanes(const void* keys, int64_t* order, int64_t count, bool descending) {
  // Keys beside their places, so that comparing reads neighbours; a place decides between equal keys, so that any sort
  // is stable.
  using Entry = std::pair<T, int64_t>;
  static thread_local std::vector<Entry> entries;
  entries.resize(count);
  const T* from = static_cast<const T*>(keys);
  for (int64_t i = 0; i < count; ++i) entries[i] = {from[i], i};
  auto comes_first = [](bool better, bool worse, const Entry& a, const Entry& b) {
    return better || (!worse && a.second < b.second);
  };
  if (descending)
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      return comes_first(less(b.first, a.first), less(a.first, b.first), a, b);
    });
  else
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      return comes_first(less(a.first, b.first), less(b.first, a.first), a, b);
    });
  for (int64_t i = 0; i < count; ++i) order[i] = entries[i].second;
}

template void sort_lanes<float>(const void*, int64_t*, int64_t, bool);
template void sort_lanes<double>(const void*, int64_t*, int64_t, bool);
template void sort_lanes<int32_t>(const void*, int64_t*, int64_t, bool);
template void sort_lanes<int64_t>(const void*, int64_t*, int64_t, bool);

} // namespace tilewright
