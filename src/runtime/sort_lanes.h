// Sorting for kernels.
#pragma once

#include <cstdint>

namespace tilewright {

// Writes to `order` where the first of `count` keys is, the second, and so on: ascending or descending, equal keys in
// the order they stand in, NaN as larger than every number. There is one for float, double, int32_t and int64_t.
template <class T> void sort_lanes(const void* keys, int64_t* order, int64_t count, bool descending);

} // namespace tilewright
