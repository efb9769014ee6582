// Comparisons of arrays.
#include "runtime/convert_element.h"
#include "runtime/describe.h"
#include "runtime/strided_loop.h"
#include "runtime/visit_dtype.h"
#include "support/error.h"
#include "tilewright/array.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

namespace tilewright {

namespace {

void check_comparable(const Array& a, const Array& b, const SourceLocation& location) {
  if (!a.defined() || !b.defined()) fail(location, "an array to compare has no data");
  if (a.sizes() != b.sizes())
    fail(location, "arrays of sizes {} and {} cannot be compared", describe(a.sizes()), describe(b.sizes()));
}

// Rows of any two types are compared as blocks of doubles, so that no comparison is compiled for each pair of types.
constexpr int64_t kBlock = 256;

void read_block(double* values, const Array& array, int64_t offset, int64_t stride, int64_t count) {
  visit_dtype(array.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* elements = static_cast<const T*>(array.data()) + offset;
    for (int64_t i = 0; i < count; ++i) values[i] = convert_element<double>(elements[i * stride]);
  });
}

// Calls visit(values_a, values_b, count) for blocks that together are all elements, on all threads.
template <class Visit> void for_each_block(const Array& a, const Array& b, Visit&& visit) {
  StridedLoop<2> loop({&a, &b});
  auto [stride_a, stride_b] = loop.row_strides();
  loop.run_parallel(
      [&, stride_a = stride_a, stride_b = stride_b](const std::array<int64_t, 2>& offsets, int64_t row_count, int) {
        double values_a[kBlock], values_b[kBlock];
        for (int64_t begin = 0; begin < row_count; begin += kBlock) {
          int64_t count = std::min(kBlock, row_count - begin);
          read_block(values_a, a, offsets[0] + begin * stride_a, stride_a, count);
          read_block(values_b, b, offsets[1] + begin * stride_b, stride_b, count);
          visit(values_a, values_b, count);
        }
      });
}

void raise_to(std::atomic<double>& maximum, double value) {
  double current = maximum.load(std::memory_order_relaxed);
  while (value > current && !maximum.compare_exchange_weak(current, value, std::memory_order_relaxed)) {
  }
}

double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  double result = std::abs(a - b);
  return std::isnan(result) ? std::numeric_limits<double>::infinity() : result;
}

} // namespace

bool allclose(const Array& a, const Array& b, double rtol, double atol, bool equal_nan, SourceLocation location) {
  check_comparable(a, b, location);
  std::atomic<bool> close = true;
  for_each_block(a, b, [&](const double* values_a, const double* values_b, int64_t count) {
    if (!close.load(std::memory_order_relaxed)) return;
    bool block_close = true;
    for (int64_t i = 0; i < count; ++i) {
      double x = values_a[i], y = values_b[i];
      bool within = std::isfinite(x) && std::isfinite(y) && std::abs(x - y) <= atol + rtol * std::abs(y);
      block_close &= x == y || within || (equal_nan && std::isnan(x) && std::isnan(y));
    }
    if (!block_close) close.store(false, std::memory_order_relaxed);
  });
  return close;
}

bool equal(const Array& a, const Array& b, SourceLocation location) {
  check_comparable(a, b, location);
  if (a.dtype() != b.dtype()) return false;
  std::atomic<bool> same = true;
  StridedLoop<2> loop({&a, &b});
  auto [stride_a, stride_b] = loop.row_strides();
  int64_t bytes = size_in_bytes(a.dtype());
  loop.run_parallel(
      [&, stride_a = stride_a, stride_b = stride_b](const std::array<int64_t, 2>& offsets, int64_t count, int) {
        const char* row_a = static_cast<const char*>(a.data()) + offsets[0] * bytes;
        const char* row_b = static_cast<const char*>(b.data()) + offsets[1] * bytes;
        bool row_same = true;
        if (stride_a == 1 && stride_b == 1)
          row_same = std::memcmp(row_a, row_b, count * bytes) == 0;
        else
          for (int64_t i = 0; i < count; ++i)
            row_same &= std::memcmp(row_a + i * stride_a * bytes, row_b + i * stride_b * bytes, bytes) == 0;
        if (!row_same) same.store(false, std::memory_order_relaxed);
      });
  return same;
}

double max_abs_difference(const Array& a, const Array& b, SourceLocation location) {
  check_comparable(a, b, location);
  std::atomic<double> largest = 0;
  for_each_block(a, b, [&](const double* values_a, const double* values_b, int64_t count) {
    double block_largest = 0;
    for (int64_t i = 0; i < count; ++i) block_largest = std::max(block_largest, difference(values_a[i], values_b[i]));
    raise_to(largest, block_largest);
  });
  return largest;
}

double max_relative_error(const Array& result, const Array& reference, SourceLocation location) {
  double error = max_abs_difference(result, reference, location);
  std::atomic<double> scale = 0;
  for_each_block(reference, reference, [&](const double* values, const double*, int64_t count) {
    double block_largest = 0;
    for (int64_t i = 0; i < count; ++i)
      if (std::isfinite(values[i])) block_largest = std::max(block_largest, std::abs(values[i]));
    raise_to(scale, block_largest);
  });
  return error == 0 ? 0 : error / scale;
}

} // namespace tilewright
