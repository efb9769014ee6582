// Tensors in memory, as a kernel sees them: its arguments and what it allocates.
#pragma once

#include "tilewright/dtype.h"
#include "tilewright/tile.h"
#include "tilewright/value.h"

namespace tilewright {

// The first N sizes of a tensor: `auto [m, n] = x.sizes<2>()`.
template <size_t N> class Sizes {
public:
  const Size& operator[](size_t i) const { return sizes_[i]; }
  template <size_t I> const Size& get() const { return sizes_[I]; }

private:
  friend class Tensor;
  Size sizes_[N];
};

// A place in a tensor, and the value that was read there. `out[tile] = v` stores; `auto v = x[tile]` makes a variable
// that begins with what was read, and `v = y` then rebinds it.
class TensorAccess : public Value {
public:
  TensorAccess(const TensorAccess& other) = default;
  TensorAccess& operator=(const Value& other) & { return static_cast<TensorAccess&>(Value::operator=(other)); }
  TensorAccess& operator=(const TensorAccess& other) & { return static_cast<TensorAccess&>(Value::operator=(other)); }

  // Stores convert to the tensor's dtype and broadcast.
  void operator=(const Operand& value) && { store(value); }
  void operator=(const TensorAccess& value) && { store(Operand(value, SourceLocation())); } // at the subscripts' line

#define TILEWRIGHT_COMPOUND(op)                                                                                        \
  TensorAccess& operator op(const Operand & other)& { return static_cast<TensorAccess&>(Value::operator op(other)); }  \
  void operator op(const Operand& other)&& {                                                                           \
    Value::operator op(other);                                                                                         \
    store(Operand(*this, SourceLocation()));                                                                           \
  }
  TILEWRIGHT_COMPOUND_OPERATORS(TILEWRIGHT_COMPOUND) // out[tile] += v loads, adds and stores
#undef TILEWRIGHT_COMPOUND
#undef TILEWRIGHT_COMPOUND_OPERATORS

private:
  friend class Tensor;
  TensorAccess(const Value& loaded, uint32_t place) : Value(loaded.variable()), place_(place) {}
  void store(const Operand& value) const;

  uint32_t place_; // the recording's number for tensor and subscripts
};

class Tensor {
public:
  Tensor() = default; // none
  // Data that the kernel's lambda has captured by value, as an argument that no call passes: tw::Tensor t = table. It
  // is kept for as long as the kernel.
  Tensor(const Array& captured, SourceLocation location = std::source_location::current());

  int rank(SourceLocation location = std::source_location::current()) const;
  DType dtype(SourceLocation location = std::source_location::current()) const;
  // Negative dimensions count from the end.
  Size size(int dim, SourceLocation location = std::source_location::current()) const;
  // All sizes of a tensor of rank N. Throws Error where the rank is another.
  template <size_t N> Sizes<N> sizes(SourceLocation location = std::source_location::current()) const {
    check_rank(N, location);
    Sizes<N> sizes;
    for (size_t i = 0; i < N; ++i) sizes.sizes_[i] = size(static_cast<int>(i), location);
    return sizes;
  }

  // Of a tensor that tw::empty made, before the first tile loop: every element is `value`, a number, when the launch
  // begins. auto counts = tw::empty({n}, tw::int32).fill(0);
  Tensor fill(const Operand& value, SourceLocation location = std::source_location::current()) const;

  // In a tile loop: one subscript per dimension; missing trailing ones are whole. A tile over a dimension of size 1
  // reads its one element for every index.
  TensorAccess operator[](const TensorIndex& a) const { return access({a}); }
  TensorAccess operator[](const TensorIndex& a, const TensorIndex& b) const { return access({a, b}); }
  TensorAccess operator[](const TensorIndex& a, const TensorIndex& b, const TensorIndex& c) const {
    return access({a, b, c});
  }
  TensorAccess operator[](const TensorIndex& a, const TensorIndex& b, const TensorIndex& c,
                          const TensorIndex& d) const {
    return access({a, b, c, d});
  }
  TensorAccess operator[](const TensorIndex& a, const TensorIndex& b, const TensorIndex& c, const TensorIndex& d,
                          const TensorIndex& e) const {
    return access({a, b, c, d, e});
  }
  TensorAccess operator[](const TensorIndex& a, const TensorIndex& b, const TensorIndex& c, const TensorIndex& d,
                          const TensorIndex& e, const TensorIndex& f) const {
    return access({a, b, c, d, e, f});
  }
  TensorAccess operator[](const TensorIndex& a, const TensorIndex& b, const TensorIndex& c, const TensorIndex& d,
                          const TensorIndex& e, const TensorIndex& f, const TensorIndex& g) const {
    return access({a, b, c, d, e, f, g});
  }
  TensorAccess operator[](const TensorIndex& a, const TensorIndex& b, const TensorIndex& c, const TensorIndex& d,
                          const TensorIndex& e, const TensorIndex& f, const TensorIndex& g,
                          const TensorIndex& h) const {
    return access({a, b, c, d, e, f, g, h});
  }

  const detail::Handle& handle() const { return handle_; }
  explicit Tensor(detail::Handle handle) : handle_(handle) {}

private:
  void check_rank(size_t expected, const SourceLocation& location) const;
  TensorAccess access(std::initializer_list<TensorIndex> subscripts) const;

  detail::Handle handle_;
};

// Sizes of a new tensor: {m, n}.
class SizeList {
public:
  static constexpr int kMost = 8;
  SizeList(std::initializer_list<Size> sizes);

  int size() const { return count_; }
  const Size& operator[](int i) const { return sizes_[i]; }

private:
  Size sizes_[kMost];
  int count_ = 0;
};

// Before the tile loop: a new contiguous tensor, its elements unset.
Tensor empty(const SizeList& sizes, DType dtype = float32, SourceLocation location = std::source_location::current());
// With the sizes of another, and its dtype where none is given.
Tensor empty_like(const Tensor& tensor, SourceLocation location = std::source_location::current());
Tensor empty_like(const Tensor& tensor, DType dtype, SourceLocation location = std::source_location::current());

} // namespace tilewright

template <size_t N> struct std::tuple_size<tilewright::Sizes<N>> : std::integral_constant<size_t, N> {};
template <size_t I, size_t N> struct std::tuple_element<I, tilewright::Sizes<N>> {
  using type = const tilewright::Size;
};
