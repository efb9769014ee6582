// Views of arrays: other sizes and strides over the same elements.
#include "runtime/array_layout.h"
#include "runtime/describe.h"
#include "support/error.h"
#include "tilewright/array.h"

#include <algorithm>
#include <utility>

namespace tilewright {

Array Array::with_layout(const IndexList& sizes, const IndexList& strides, int64_t offset) const {
  // An empty view may begin past the last element, where no address needs to be.
  void* data = static_cast<char*>(data_) + offset * size_in_bytes(dtype_);
  return Array(storage_, data, sizes, strides, dtype_);
}

Array Array::transpose(int dim0, int dim1, SourceLocation location) const {
  dim0 = checked_dim(dim0, rank(), location);
  dim1 = checked_dim(dim1, rank(), location);
  Array result = *this;
  std::swap(result.sizes_[dim0], result.sizes_[dim1]);
  std::swap(result.strides_[dim0], result.strides_[dim1]);
  return result;
}

Array Array::t(SourceLocation location) const {
  check_defined(location);
  if (rank() > 2) fail(location, "t() takes an array of rank 2 at most, not of sizes {}", describe(sizes_));
  return rank() < 2 ? *this : transpose(0, 1, location);
}

Array Array::permute(const IndexList& dims, SourceLocation location) const {
  check_defined(location);
  if (dims.size() != rank())
    fail(location, "permute({}) of an array of rank {}: expected each dimension once", describe(dims), rank());
  Array result = *this;
  bool used[kMaxRank] = {};
  for (int d = 0; d < rank(); ++d) {
    int from = checked_dim(int(dims[d]), rank(), location);
    if (std::exchange(used[from], true)) fail(location, "permute({}): dimension {} comes twice", describe(dims), from);
    result.sizes_[d] = sizes_[from];
    result.strides_[d] = strides_[from];
  }
  return result;
}

Array Array::select(int dim, int64_t index, SourceLocation location) const {
  dim = checked_dim(dim, rank(), location);
  int64_t position = index < 0 ? index + sizes_[dim] : index;
  if (position < 0 || position >= sizes_[dim])
    fail(location, "index {} of dimension {} is out of range for an array of sizes {}", index, dim, describe(sizes_));
  IndexList sizes = sizes_, strides = strides_;
  sizes.erase(dim);
  strides.erase(dim);
  return with_layout(sizes, strides, position * strides_[dim]);
}

Array Array::narrow(int dim, int64_t begin, int64_t length, SourceLocation location) const {
  dim = checked_dim(dim, rank(), location);
  int64_t first = begin < 0 ? begin + sizes_[dim] : begin;
  if (first < 0 || length < 0 || length > sizes_[dim] || first > sizes_[dim] - length)
    fail(location, "narrow: {} elements from {} on do not lie within dimension {} of an array of sizes {}", length,
         begin, dim, describe(sizes_));
  IndexList sizes = sizes_;
  sizes[dim] = length;
  return with_layout(sizes, strides_, length == 0 ? 0 : first * strides_[dim]);
}

Array Array::slice(int dim, int64_t begin, int64_t end, int64_t step, SourceLocation location) const {
  dim = checked_dim(dim, rank(), location);
  if (step <= 0) fail(location, "slice: the step is {}; expected a positive one", step);
  int64_t size = sizes_[dim];
  auto clipped = [&](int64_t position) {
    return std::clamp<int64_t>(position < 0 ? position + size : position, 0, size);
  };
  begin = clipped(begin);
  int64_t length = std::max<int64_t>(clipped(end) - begin, 0);
  Array result = narrow(dim, begin, length, location);
  result.sizes_[dim] = length == 0 ? 0 : (length - 1) / step + 1;
  result.strides_[dim] *= step;
  return result;
}

Array Array::unsqueeze(int dim, SourceLocation location) const {
  dim = checked_dim(dim, rank() + 1, location);
  IndexList sizes = sizes_, strides = strides_;
  sizes.insert(dim, 1, location);
  strides.insert(dim, dim < rank() ? sizes_[dim] * strides_[dim] : 1, location);
  return with_layout(sizes, strides, 0);
}

Array Array::expand(const IndexList& sizes, SourceLocation location) const {
  check_defined(location);
  int added = sizes.size() - rank();
  auto refuse = [&] {
    fail(location, "an array of sizes {} cannot be expanded to {}", describe(sizes_), describe(sizes));
  };
  if (added < 0) refuse();
  IndexList result = sizes, strides = sizes;
  for (int d = 0; d < sizes.size(); ++d) {
    bool is_new = d < added;
    int64_t own = is_new ? 1 : sizes_[d - added];
    if (sizes[d] == -1 && !is_new) result[d] = own;
    if (result[d] < 0 || (own != 1 && result[d] != own)) refuse();
    strides[d] = is_new || result[d] != own ? 0 : strides_[d - added];
  }
  return with_layout(result, strides, 0);
}

IndexList inferred_sizes(const IndexList& sizes, int64_t numel, const SourceLocation& location) {
  IndexList result = sizes;
  int inferred = -1;
  int64_t known = 1;
  auto refuse = [&] { fail(location, "{} elements cannot be viewed as sizes {}", numel, describe(sizes)); };
  for (int d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1 && inferred < 0)
      inferred = d;
    else if (sizes[d] < 0 || __builtin_mul_overflow(known, sizes[d], &known))
      refuse();
  }
  if (inferred >= 0 && known != 0) {
    result[inferred] = numel / known;
    known *= result[inferred];
  } else if (inferred >= 0) {
    refuse(); // any size would do
  }
  if (known != numel) refuse();
  return result;
}

Array Array::view(const IndexList& sizes, SourceLocation location) const {
  check_defined(location);
  if (!is_contiguous())
    fail(location, "view: the array of sizes {} and strides {} is not contiguous; reshape() copies it where needed",
         describe(sizes_), describe(strides_));
  IndexList result = inferred_sizes(sizes, numel(), location);
  return with_layout(result, contiguous_strides(result), 0);
}

Array Array::reshape(const IndexList& sizes, SourceLocation location) const {
  return contiguous(location).view(sizes, location);
}

} // namespace tilewright
