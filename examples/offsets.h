// Data of the examples whose rows lie one group after the other: group i has rows offsets[i] to offsets[i + 1].
#pragma once

#include <tilewright/array.h>

#include <algorithm>

// Fills an int64 array with offsets: from 0 to `total`, of groups of any size, also none.
inline void fill_offsets(const tilewright::Array& offsets, int64_t total) {
  int64_t *begin = offsets.data<int64_t>(), *end = begin + offsets.numel();
  offsets.copy_from(tilewright::Array::randint(0, total + 1, offsets.sizes(), /*seed=*/1));
  begin[0] = 0;
  end[-1] = total;
  std::sort(begin, end);
}
