// tilewright::Array: data for kernels. An n-dimensional, strided view of memory that it shares with other arrays.
#pragma once

#include "tilewright/device.h"
#include "tilewright/dtype.h"
#include "tilewright/error.h"
#include "tilewright/index_list.h"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct DLManagedTensor; // <dlpack/dlpack.h>

namespace tilewright {

// A C++ number of any element type, kept exactly, for parameters that take them all.
class Number {
public:
  template <std::integral T> Number(T value) : integer_(int64_t(value)), is_integer_(true) {}
  template <std::floating_point T> Number(T value) : real_(double(value)) {}
  Number(Half value) : real_(float(value)) {}
  Number(BFloat16 value) : real_(float(value)) {}
  Number(Float8E4M3FN value) : real_(float(value)) {}
  Number(Float8E5M2 value) : real_(float(value)) {}

  bool is_integer() const { return is_integer_; }
  int64_t integer() const { return is_integer_ ? integer_ : int64_t(real_); }
  double real() const { return is_integer_ ? double(integer_) : real_; }

private:
  double real_ = 0;
  int64_t integer_ = 0;
  bool is_integer_ = false;
};

// An index that knows the caller's line, where an operator leaves no room for a defaulted parameter.
struct LocatedIndex {
  LocatedIndex(int64_t value, SourceLocation location = std::source_location::current())
      : value(value), location(location) {}

  int64_t value;
  SourceLocation location;
};

// Copies of an Array are views of the same elements, as PyTorch's tensors are; clone() copies the elements. The memory
// lives as long as any array that views it. An Array is as safe to use from many threads as a pointer: concurrent
// reads are fine, a write needs order with everything else.
//
// Strides count elements and may be 0 (expand) or negative (from_pointer). Dimensions given as numbers may be negative
// and then count from the end. Functions that can fail name the caller's line in the Error they throw.
class Array {
public:
  // No data at all: rank 0, defined() is false. Every other member but defined(), assignment and to_string() needs a
  // defined array.
  Array() = default;

  // New memory, contiguous in row-major order and aligned to 64 bytes. `empty` leaves the elements unset.
  static Array empty(const IndexList& sizes, DType dtype = float32,
                     SourceLocation location = std::source_location::current());
  static Array zeros(const IndexList& sizes, DType dtype = float32,
                     SourceLocation location = std::source_location::current());
  static Array ones(const IndexList& sizes, DType dtype = float32,
                    SourceLocation location = std::source_location::current());
  static Array full(const IndexList& sizes, Number value, DType dtype = float32,
                    SourceLocation location = std::source_location::current());
  // 0, 1, ... end - 1.
  static Array arange(int64_t end, DType dtype = int64, SourceLocation location = std::source_location::current());
  // begin, begin + step, ... as long as they are before end; computed in double, as begin + i * step.
  static Array arange(double begin, double end, double step, DType dtype = float32,
                      SourceLocation location = std::source_location::current());
  // Random numbers that depend on the seed and the element's position alone, so that they are the same on every machine
  // and for any number of threads: Philox 4x32-10, keyed by the seed, with the element's row-major index as counter.
  // rand: uniform in [0, 1). randn: normal with mean 0 and variance 1. Floating-point types only.
  static Array rand(const IndexList& sizes, uint64_t seed, DType dtype = float32,
                    SourceLocation location = std::source_location::current());
  static Array randn(const IndexList& sizes, uint64_t seed, DType dtype = float32,
                     SourceLocation location = std::source_location::current());
  // Uniform integers in [low, high), of any element type that holds them all exactly.
  static Array randint(int64_t low, int64_t high, const IndexList& sizes, uint64_t seed, DType dtype = int64,
                       SourceLocation location = std::source_location::current());

  // A view of memory that is not ours. The caller keeps it alive, or passes an owner to be kept for as long as any
  // view of it. `data` must be aligned to the element's size. Without strides: contiguous.
  static Array from_pointer(void* data, const IndexList& sizes, DType dtype, std::shared_ptr<void> keep_alive = {},
                            SourceLocation location = std::source_location::current());
  static Array from_pointer(void* data, const IndexList& sizes, const IndexList& strides, DType dtype,
                            std::shared_ptr<void> keep_alive = {},
                            SourceLocation location = std::source_location::current());

  // A copy of the values, in row-major order. One of the sizes may be -1: what is left; by default, one dimension.
  template <ElementType T>
  static Array from_vector(const std::vector<T>& values, const IndexList& sizes = {-1},
                           SourceLocation location = std::source_location::current()) {
    Array flat = empty({int64_t(values.size())}, dtype_of<T>, location);
    T* elements = static_cast<T*>(flat.data_);
    for (size_t i = 0; i < values.size(); ++i) elements[i] = values[i];
    return flat.view(sizes, location);
  }

  // Takes over a tensor in the CPU's memory (DLPack 0.6 and later): its deleter is called with the last view of it.
  // Where Error is thrown (another device, an element type that is not ours), the tensor remains the caller's.
  static Array from_dlpack(DLManagedTensor* tensor, SourceLocation location = std::source_location::current());
  // A new handle on the same memory. The consumer calls its deleter; until then the memory lives.
  DLManagedTensor* to_dlpack(SourceLocation location = std::source_location::current()) const;

  bool defined() const { return data_ != nullptr; }
  int rank() const { return sizes_.size(); }
  const IndexList& sizes() const { return sizes_; }
  const IndexList& strides() const { return strides_; }
  int64_t size(int dim, SourceLocation location = std::source_location::current()) const;
  int64_t stride(int dim, SourceLocation location = std::source_location::current()) const;
  DType dtype() const { return dtype_; }
  Device device() const { return {}; }
  int64_t numel() const;
  bool is_contiguous() const;

  // The first element's address. data<T>() throws Error where T is not the element type.
  void* data() const { return data_; }
  template <ElementType T> T* data(SourceLocation location = std::source_location::current()) const {
    check_dtype(dtype_of<T>, location);
    return static_cast<T*>(data_);
  }

  // One element, to read or to write: a.at<float>({i, j}) = 1. Negative indices count from the end. Throws Error where
  // T is not the element type, the number of indices is not the rank, or an index is out of range.
  template <ElementType T>
  T& at(const IndexList& indices, SourceLocation location = std::source_location::current()) const {
    check_dtype(dtype_of<T>, location);
    return static_cast<T*>(data_)[offset_of(indices, location)];
  }
  // The value of an array of one element, converted to T as copy_from converts.
  template <ElementType T> T item(SourceLocation location = std::source_location::current()) const {
    T value;
    read_item(&value, dtype_of<T>, location);
    return value;
  }
  // All elements in row-major order, converted to T as copy_from converts.
  template <ElementType T> std::vector<T> to_vector(SourceLocation location = std::source_location::current()) const {
    Array source = to(dtype_of<T>, location).contiguous(location);
    const T* elements = static_cast<const T*>(source.data_);
    return std::vector<T>(elements, elements + source.numel());
  }

  // Views: of the same elements, in constant time.
  Array transpose(int dim0, int dim1, SourceLocation location = std::source_location::current()) const;
  Array t(SourceLocation location = std::source_location::current()) const; // rank 2 at most, as in PyTorch
  Array permute(const IndexList& dims, SourceLocation location = std::source_location::current()) const;
  Array select(int dim, int64_t index, SourceLocation location = std::source_location::current()) const;
  Array operator[](LocatedIndex index) const { return select(0, index.value, index.location); }
  Array narrow(int dim, int64_t begin, int64_t length, SourceLocation location = std::source_location::current()) const;
  // [begin, end) in steps of `step` > 0. Negative ends count from the end; ends past it are clipped, as in Python.
  Array slice(int dim, int64_t begin, int64_t end, int64_t step = 1,
              SourceLocation location = std::source_location::current()) const;
  Array unsqueeze(int dim, SourceLocation location = std::source_location::current()) const;
  // Repeats dimensions of size 1, and adds leading ones, with stride 0. A size of -1 keeps the dimension's own.
  Array expand(const IndexList& sizes, SourceLocation location = std::source_location::current()) const;
  // The elements in row-major order under other sizes, of which one may be -1: what is left. Throws Error where the
  // array is not contiguous; reshape() then copies.
  Array view(const IndexList& sizes, SourceLocation location = std::source_location::current()) const;
  Array reshape(const IndexList& sizes, SourceLocation location = std::source_location::current()) const;

  // Copies: contiguous() and to() return the array itself where there is nothing to do.
  Array clone(SourceLocation location = std::source_location::current()) const;
  Array contiguous(SourceLocation location = std::source_location::current()) const;
  Array to(DType dtype, SourceLocation location = std::source_location::current()) const;

  // Writes every element; these are const for what an iterator's are: the handle does not change. Converts as C++ does,
  // with what C++ leaves open settled: a value too large for an integer type becomes the nearest one that fits and NaN
  // 0 from floating point, and wraps around from a wider integer; anything but 0 is true; floating point rounds once,
  // to nearest even. `source` is expanded to this array's sizes; it may overlap this array. Throws Error where sizes do
  // not agree, or where this array has several indices for one element (expand).
  const Array& copy_from(const Array& source, SourceLocation location = std::source_location::current()) const;
  const Array& fill(Number value, SourceLocation location = std::source_location::current()) const;

  // As PyTorch prints a tensor: four digits, lines of 80 columns, the edges only where there are over 1000 elements.
  std::string to_string() const;

private:
  Array(std::shared_ptr<void> storage, void* data, const IndexList& sizes, const IndexList& strides, DType dtype)
      : storage_(std::move(storage)), data_(data), sizes_(sizes), strides_(strides), dtype_(dtype) {}

  Array with_layout(const IndexList& sizes, const IndexList& strides, int64_t offset) const;
  int64_t offset_of(const IndexList& indices, const SourceLocation& location) const;
  int checked_dim(int dim, int rank, const SourceLocation& location) const;
  void check_defined(const SourceLocation& location) const;
  void check_dtype(DType expected, const SourceLocation& location) const;
  void read_item(void* value, DType dtype, const SourceLocation& location) const;

  std::shared_ptr<void> storage_; // empty for borrowed memory without an owner
  void* data_ = nullptr;
  IndexList sizes_;
  IndexList strides_;
  DType dtype_ = float32;
};

std::ostream& operator<<(std::ostream& stream, const Array& array);

// Comparisons. All throw Error where the sizes differ.

// |a - b| <= atol + rtol * |b| for every element, in double; infinities must be equal, NaN agrees with nothing, or with
// NaN where `equal_nan`.
bool allclose(const Array& a, const Array& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false,
              SourceLocation location = std::source_location::current());
// Whether element types are the same and all elements the same bit for bit: NaN equals itself, 0 is not -0.
bool equal(const Array& a, const Array& b, SourceLocation location = std::source_location::current());
// The largest |a - b|, in double. Equal infinities, and two NaN, differ by 0; where only one is NaN, by infinity.
double max_abs_difference(const Array& a, const Array& b, SourceLocation location = std::source_location::current());
// max_abs_difference over the largest finite |reference|: the error relative to the scale of the result, which unlike
// the largest of the elements' relative errors says something where a sum cancels. 0 where both are all zeros.
double max_relative_error(const Array& result, const Array& reference,
                          SourceLocation location = std::source_location::current());

// Whether some element of `a` shares memory with one of `b`. Exact for all but contrived strides, for which the answer
// is true where it cannot be settled in little time.
bool overlap(const Array& a, const Array& b);

} // namespace tilewright
