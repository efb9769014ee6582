// What an Array is: its layout, access to its elements, and how it comes to be.
#include "tilewright/array.h"

#include "runtime/aligned_memory.h"
#include "runtime/array_layout.h"
#include "runtime/describe.h"
#include "support/error.h"

#include <algorithm>
#include <new>

namespace tilewright {

IndexList contiguous_strides(const IndexList& sizes) {
  IndexList strides = sizes;
  int64_t stride = 1;
  for (int d = sizes.size() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= sizes[d] > 0 ? sizes[d] : 1;
  }
  return strides;
}

int64_t checked_bytes(const IndexList& sizes, DType dtype, const SourceLocation& location) {
  // The product without zeros, since strides are made of it.
  int64_t bytes = size_in_bytes(dtype);
  bool is_empty = false;
  for (int64_t size : sizes) {
    if (size < 0) fail(location, "an array cannot have the sizes {}: {} is negative", describe(sizes), size);
    is_empty |= size == 0;
    if (size > 0 && __builtin_mul_overflow(bytes, size, &bytes))
      fail(location, "an array of sizes {} and {} is too large for this machine", describe(sizes), name(dtype));
  }
  return is_empty ? 0 : bytes;
}

Array Array::empty(const IndexList& sizes, DType dtype, SourceLocation location) {
  int64_t bytes = checked_bytes(sizes, dtype, location);
  std::shared_ptr<void> storage;
  try {
    storage = allocate_array_memory(bytes);
  } catch (const std::bad_alloc&) {
    fail(location, "there is no memory for an array of sizes {} and {}: {} bytes", describe(sizes), name(dtype), bytes);
  }
  void* data = storage.get();
  return Array(std::move(storage), data, sizes, contiguous_strides(sizes), dtype);
}

Array Array::from_pointer(void* data, const IndexList& sizes, DType dtype, std::shared_ptr<void> keep_alive,
                          SourceLocation location) {
  return from_pointer(data, sizes, contiguous_strides(sizes), dtype, std::move(keep_alive), location);
}

Array Array::from_pointer(void* data, const IndexList& sizes, const IndexList& strides, DType dtype,
                          std::shared_ptr<void> keep_alive, SourceLocation location) {
  checked_bytes(sizes, dtype, location);
  alignas(kMemoryAlignment) static char no_elements;
  if (!data && std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) data = &no_elements;
  if (!data) fail(location, "from_pointer: the pointer is null");
  if (sizes.size() != strides.size())
    fail(location, "from_pointer: {} sizes but {} strides", sizes.size(), strides.size());
  if (reinterpret_cast<uintptr_t>(data) % size_in_bytes(dtype) != 0)
    fail(location, "from_pointer: {} is not aligned for {} elements", data, name(dtype));
  return Array(std::move(keep_alive), data, sizes, strides, dtype);
}

int64_t Array::numel() const {
  int64_t count = 1;
  for (int64_t size : sizes_) count *= size;
  return count;
}

bool Array::is_contiguous() const {
  int64_t expected = 1;
  for (int d = rank() - 1; d >= 0; --d) {
    if (sizes_[d] == 0) return true;
    if (sizes_[d] == 1) continue;
    if (strides_[d] != expected) return false;
    expected *= sizes_[d];
  }
  return true;
}

int64_t Array::size(int dim, SourceLocation location) const { return sizes_[checked_dim(dim, rank(), location)]; }
int64_t Array::stride(int dim, SourceLocation location) const { return strides_[checked_dim(dim, rank(), location)]; }

int64_t Array::offset_of(const IndexList& indices, const SourceLocation& location) const {
  if (indices.size() != rank())
    fail(location, "{} indices for an array of sizes {}; expected {}", indices.size(), describe(sizes_), rank());
  int64_t offset = 0;
  for (int d = 0; d < rank(); ++d) {
    int64_t index = indices[d] < 0 ? indices[d] + sizes_[d] : indices[d];
    if (index < 0 || index >= sizes_[d])
      fail(location, "index {} of dimension {} is out of range for an array of sizes {}", indices[d], d,
           describe(sizes_));
    offset += index * strides_[d];
  }
  return offset;
}

int Array::checked_dim(int dim, int rank, const SourceLocation& location) const {
  check_defined(location);
  if (dim < -rank || dim >= rank)
    fail(location, "dimension {} does not exist in an array of rank {}: expected {} to {}", dim, rank, -rank, rank - 1);
  return dim < 0 ? dim + rank : dim;
}

void Array::check_defined(const SourceLocation& location) const {
  if (!defined()) fail(location, "the array has no data: it was default-constructed and never assigned");
}

void Array::check_dtype(DType expected, const SourceLocation& location) const {
  check_defined(location);
  if (dtype_ != expected)
    fail(location, "the array's elements are {}, but were asked for as {}", name(dtype_), name(expected));
}

} // namespace tilewright
