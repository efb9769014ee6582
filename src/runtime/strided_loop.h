// One loop nest over the elements of N arrays of equal sizes, for arrays' own operations (copies, fills, comparisons).
// Dimensions are put in the order of the first array's memory and merged where all arrays allow it, so the innermost
// row is as long and as contiguous as can be. The order of the elements is otherwise of no meaning.
#pragma once

#include "runtime/thread_pool.h"
#include "tilewright/array.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace tilewright {

template <int N> class StridedLoop {
public:
  explicit StridedLoop(const std::array<const Array*, N>& arrays) {
    add_dimensions(arrays);
    merge_dimensions();
  }

  int64_t numel() const { return numel_; }
  // Strides of the innermost row.
  const std::array<int64_t, N>& row_strides() const { return dims_[rank_ - 1].strides; }

  // Calls row(offsets, count) for pieces of rows that together are the elements [begin, end) of the loop's order;
  // `offsets` are those of the piece's first element in each array.
  template <class Row> void run(int64_t begin, int64_t end, Row&& row) const {
    if (begin >= end) return;
    int64_t index[kMaxRank];
    std::array<int64_t, N> offsets = {};
    for (int64_t d = rank_ - 1, rest = begin; d >= 0; --d) {
      index[d] = rest % dims_[d].size;
      rest /= dims_[d].size;
      for (int i = 0; i < N; ++i) offsets[i] += index[d] * dims_[d].strides[i];
    }
    int inner = rank_ - 1;
    for (int64_t left = end - begin;;) {
      int64_t count = std::min(left, dims_[inner].size - index[inner]);
      row(std::as_const(offsets), count);
      if ((left -= count) == 0) return;
      step(inner, count, index, offsets);
      for (int d = inner; index[d] == dims_[d].size; --d) {
        step(d, -dims_[d].size, index, offsets);
        step(d - 1, 1, index, offsets);
      }
    }
  }

  // The same over all elements, on all threads. row(offsets, count, worker) may be called for several pieces at once.
  template <class Row> void run_parallel(Row&& row) const {
    parallel_for((numel_ + kGrain - 1) / kGrain, kMaxThreads, [&](int64_t begin, int64_t end, int worker) {
      run(begin * kGrain, std::min(end * kGrain, numel_),
          [&](const std::array<int64_t, N>& offsets, int64_t count) { row(offsets, count, worker); });
    });
  }

private:
  struct Dim {
    int64_t size;
    std::array<int64_t, N> strides;

    bool steps_more(const Dim& other) const {
      return std::pair(std::abs(strides[0]), std::abs(strides[N - 1])) >
             std::pair(std::abs(other.strides[0]), std::abs(other.strides[N - 1]));
    }
  };

  static constexpr int64_t kGrain = 32768; // elements that are worth a thread's while

  void step(int d, int64_t count, int64_t* index, std::array<int64_t, N>& offsets) const {
    index[d] += count;
    for (int i = 0; i < N; ++i) offsets[i] += count * dims_[d].strides[i];
  }

  // Those of more than one element, from large strides to small; one of size 1 where there is no other.
  void add_dimensions(const std::array<const Array*, N>& arrays) {
    numel_ = arrays[0]->numel();
    for (int d = 0; d < arrays[0]->rank(); ++d) {
      Dim dim = {arrays[0]->sizes()[d], {}};
      if (dim.size == 1) continue;
      for (int i = 0; i < N; ++i) dim.strides[i] = arrays[i]->strides()[d];
      int position = rank_++;
      for (; position > 0 && dim.steps_more(dims_[position - 1]); --position) dims_[position] = dims_[position - 1];
      dims_[position] = dim;
    }
    if (rank_ == 0) dims_[rank_++] = {1, {}};
  }

  void merge_dimensions() {
    int last = 0;
    for (int d = 1; d < rank_; ++d) {
      bool merges = true;
      for (int i = 0; i < N; ++i) merges &= dims_[last].strides[i] == dims_[d].size * dims_[d].strides[i];
      if (merges)
        dims_[last] = {dims_[last].size * dims_[d].size, dims_[d].strides};
      else
        dims_[++last] = dims_[d];
    }
    rank_ = last + 1;
  }

  int rank_ = 0;
  int64_t numel_ = 0;
  Dim dims_[kMaxRank];
};

} // namespace tilewright
