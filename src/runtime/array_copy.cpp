// Writing arrays: conversion from other arrays, and fills.
#include "runtime/convert_element.h"
#include "runtime/describe.h"
#include "runtime/strided_loop.h"
#include "runtime/visit_dtype.h"
#include "support/error.h"
#include "tilewright/array.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tilewright {

namespace {

// Elements are converted a block at a time through the widest type of their kind, which holds them exactly: so every
// conversion rounds once, and 20 loops are compiled rather than one for each pair of types.
constexpr int64_t kBlock = 256;

template <class T>
using Wide =
    std::conditional_t<std::is_same_v<T, double>, double, std::conditional_t<std::integral<T>, int64_t, float>>;

struct Row {
  char* data;
  int64_t stride; // in elements
  DType dtype;

  Row from(int64_t index) const { return {data + index * stride * size_in_bytes(dtype), stride, dtype}; }
};

// `W` must be the wide type of the row's elements.
template <class W> void read_block(W* block, Row row, int64_t count) {
  visit_dtype(row.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<Wide<T>, W>) {
      auto* elements = reinterpret_cast<const T*>(row.data);
      if (row.stride == 1)
        for (int64_t i = 0; i < count; ++i) block[i] = elements[i];
      else
        for (int64_t i = 0; i < count; ++i) block[i] = elements[i * row.stride];
    }
  });
}

template <class W> void write_block(Row row, const W* block, int64_t count) {
  visit_dtype(row.dtype, [&]<class T>(std::type_identity<T>) {
    auto* elements = reinterpret_cast<T*>(row.data);
    if (row.stride == 1)
      for (int64_t i = 0; i < count; ++i) elements[i] = convert_element<T>(block[i]);
    else
      for (int64_t i = 0; i < count; ++i) elements[i * row.stride] = convert_element<T>(block[i]);
  });
}

template <class W> void convert_row(Row to, Row from, int64_t count) {
  W block[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t block_count = std::min(kBlock, count - begin);
    read_block(block, from.from(begin), block_count);
    write_block(to.from(begin), block, block_count);
  }
}

template <int64_t kBytes> void copy_elements(Row to, Row from, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to.data + i * to.stride * kBytes, from.data + i * from.stride * kBytes, kBytes);
}

void copy_row(Row to, Row from, int64_t count) {
  int64_t bytes = size_in_bytes(to.dtype);
  if (to.stride == 1 && from.stride == 1)
    std::memcpy(to.data, from.data, size_t(count * bytes));
  else if (bytes == 1)
    copy_elements<1>(to, from, count);
  else if (bytes == 2)
    copy_elements<2>(to, from, count);
  else if (bytes == 4)
    copy_elements<4>(to, from, count);
  else
    copy_elements<8>(to, from, count);
}

void copy_all(const Array& target, const Array& source) {
  StridedLoop<2> loop({&target, &source});
  Row to = {static_cast<char*>(target.data()), loop.row_strides()[0], target.dtype()};
  Row from = {static_cast<char*>(source.data()), loop.row_strides()[1], source.dtype()};
  auto work = to.dtype == from.dtype          ? copy_row
              : from.dtype == DType::float64  ? convert_row<double>
              : is_floating_point(from.dtype) ? convert_row<float>
                                              : convert_row<int64_t>;
  loop.run_parallel([=](const std::array<int64_t, 2>& offsets, int64_t count, int) {
    Row row_to = to, row_from = from;
    row_to.data += offsets[0] * size_in_bytes(to.dtype);
    row_from.data += offsets[1] * size_in_bytes(from.dtype);
    work(row_to, row_from, count);
  });
}

// Strides of 0 are what expand() makes; other layouts that repeat elements come only from from_pointer().
void check_writable(const Array& array, const SourceLocation& location) {
  if (!array.defined()) fail(location, "the array to write has no data");
  for (int d = 0; d < array.rank(); ++d)
    if (array.sizes()[d] > 1 && array.strides()[d] == 0)
      fail(location, "an array of sizes {} and strides {} cannot be written: several of its indices are one element",
           describe(array.sizes()), describe(array.strides()));
}

} // namespace

const Array& Array::copy_from(const Array& source, SourceLocation location) const {
  check_writable(*this, location);
  Array expanded = source.expand(sizes_, location);
  if (numel() == 0) return *this;
  if (overlap(*this, source)) expanded = source.clone(location).expand(sizes_, location);
  copy_all(*this, expanded);
  return *this;
}

const Array& Array::fill(Number value, SourceLocation location) const {
  check_writable(*this, location);
  if (numel() == 0) return *this;
  visit_dtype(dtype_, [&]<class T>(std::type_identity<T>) {
    T element = value.is_integer() ? convert_element<T>(value.integer()) : convert_element<T>(value.real());
    StridedLoop<1> loop({this});
    T* elements = static_cast<T*>(data_);
    loop.run_parallel([=, stride = loop.row_strides()[0]](const std::array<int64_t, 1>& offsets, int64_t count, int) {
      T* row = elements + offsets[0];
      if (stride == 1)
        std::fill(row, row + count, element);
      else
        for (int64_t i = 0; i < count; ++i) row[i * stride] = element;
    });
  });
  return *this;
}

Array Array::clone(SourceLocation location) const {
  check_defined(location);
  Array result = empty(sizes_, dtype_, location);
  return result.copy_from(*this, location);
}

Array Array::contiguous(SourceLocation location) const {
  check_defined(location);
  return is_contiguous() ? *this : clone(location);
}

Array Array::to(DType dtype, SourceLocation location) const {
  check_defined(location);
  if (dtype == dtype_) return *this;
  return empty(sizes_, dtype, location).copy_from(*this, location);
}

void Array::read_item(void* value, DType dtype, const SourceLocation& location) const {
  check_defined(location);
  if (numel() != 1) fail(location, "item() of an array of sizes {}: expected one element", describe(sizes_));
  Array(nullptr, value, {}, {}, dtype).copy_from(view({}, location), location);
}

} // namespace tilewright
