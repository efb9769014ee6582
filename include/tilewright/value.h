// Values on the device: what x[tile] gives, and what is computed from it.
//
// A tw::Value is a tensor of one tile's shape, or a scalar. It has no data while the kernel's lambda runs: the lambda
// is run to record the kernel, and every operation on values writes down one step of it. Assigning to a value in a tile
// loop makes it a value that the loop carries on, as the same code on data would.
#pragma once

#include "tilewright/dtype.h"
#include "tilewright/size.h"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <utility>

namespace tilewright {

class Array;
class Shape;
class Tensor;
class Tile;
class Value;
template <class T> class Scalar;

// `:` in a subscript: x[tile, _] is a tile of rows.
struct Whole {};
inline constexpr Whole _;

// None in a subscript: a new dimension of size 1. As a bound of a slice: the end of the dimension.
struct None {};
inline constexpr None none;

// `...` in a subscript: as many whole dimensions as are missing.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis;

// A parameter that takes a device value or a number. Numbers are PyTorch's Python numbers: they do not widen the other
// operand's dtype within its kind. It also carries the line of the call.
class Operand {
public:
  enum class Kind : uint8_t { value, integer, real, boolean, size };

  Operand() : kind_(Kind::integer) {} // the number 0
  Operand(const Value& value, SourceLocation location = std::source_location::current());
  Operand(const Size& size, SourceLocation location = std::source_location::current())
      : kind_(Kind::size), integer_(size.traced_value()), handle_(size.symbol()), location_(location) {}
  template <std::integral T>
  Operand(T value, SourceLocation location = std::source_location::current())
      : kind_(std::same_as<T, bool> ? Kind::boolean : Kind::integer), integer_(static_cast<int64_t>(value)),
        location_(location) {}
  template <std::floating_point T>
  Operand(T value, SourceLocation location = std::source_location::current())
      : kind_(Kind::real), real_(static_cast<double>(value)), location_(location) {}
  template <class T> Operand(const Scalar<T>& scalar, SourceLocation location = std::source_location::current());

  // Misuse, so that the compiler says in one line what to write instead.
  template <std::same_as<Tile> T> Operand(const T&) {
    static_assert(detail::kNever<T>,
                  "a tile is a range, not a number: tile.index() gives its indices, tile.begin() and "
                  "tile.end() its bounds");
  }
  template <std::same_as<Tensor> T> Operand(const T&) {
    static_assert(detail::kNever<T>, "a tensor lies in memory: read it in a tile loop with a subscript, as in x[tile]");
  }
  template <std::same_as<Array> T> Operand(const T&) {
    static_assert(detail::kNever<T>, "an Array is data: pass it to the kernel as an argument and take it as a "
                                     "tw::Tensor, or capture it and write tw::Tensor t = array");
  }

  Kind kind() const { return kind_; }
  int64_t integer() const { return integer_; } // also of a boolean and a size
  double real() const { return real_; }
  const detail::Handle& handle() const { return handle_; } // of a value, or the symbol of a size
  const SourceLocation& location() const { return location_; }

private:
  Kind kind_;
  union {
    int64_t integer_ = 0;
    double real_;
  };
  detail::Handle handle_;
  SourceLocation location_;
};

// A range of a dimension as a subscript; slice() and slice_from() make it.
class Slice {
public:
  class Bound {
  public:
    Bound(None) {}
    template <class T>
      requires(std::convertible_to<const T&, Operand>)
    Bound(const T& operand, SourceLocation location = std::source_location::current())
        : operand_(operand, location), given_(true) {}

    bool given() const { return given_; }
    const Operand& operand() const { return operand_; }

  private:
    Operand operand_;
    bool given_ = false;
  };

  Slice(const Bound& begin, const Bound& end, const Bound& step, bool has_length)
      : begin_(begin), end_(end), step_(step), has_length_(has_length) {}

  const Bound& begin() const { return begin_; }
  const Bound& end() const { return end_; } // the number of elements where has_length()
  const Bound& step() const { return step_; }
  bool has_length() const { return has_length_; }

private:
  Bound begin_, end_, step_;
  bool has_length_;
};

// x[slice(begin, end)], x[slice(begin, end, step)]: Python's begin:end:step of numbers and sizes. `none` is the
// dimension's own begin or end, negative numbers count from its end, and what lies beyond it is cut off. step >= 1.
inline Slice slice(const Slice::Bound& begin, const Slice::Bound& end, const Slice::Bound& step = Slice::Bound(1)) {
  return {begin, end, step, false};
}
// x[slice_from(begin, length)]: Python's begin : begin + length, where begin may be a scalar on the device. length is a
// number or a size. All of its elements must be there.
inline Slice slice_from(const Slice::Bound& begin, const Slice::Bound& length) {
  return {begin, length, Slice::Bound(1), true};
}

// One subscript of a tensor or a value. A tensor takes all of these, a value only `_`, `none` and `ellipsis`.
class TensorIndex {
public:
  enum class Kind : uint8_t { whole, none, ellipsis, tiles, value, slice };

  TensorIndex(Whole, SourceLocation location = std::source_location::current())
      : kind_(Kind::whole), value_(0, location) {}
  TensorIndex(None, SourceLocation location = std::source_location::current())
      : kind_(Kind::none), value_(0, location) {}
  TensorIndex(Ellipsis, SourceLocation location = std::source_location::current())
      : kind_(Kind::ellipsis), value_(0, location) {}
  TensorIndex(const Tile& tile, SourceLocation location = std::source_location::current())
      : kind_(Kind::tiles), tiles_(&tile), tile_count_(1), value_(0, location) {}
  // All tiles of a multi-dimensional tile loop, as one.
  template <class Tiles>
    requires requires(const Tiles& tiles) {
      { tiles.data() } -> std::same_as<const Tile*>;
    }
  TensorIndex(const Tiles& tiles, SourceLocation location = std::source_location::current())
      : kind_(Kind::tiles), tiles_(tiles.data()), tile_count_(tiles.size()), value_(0, location) {}
  TensorIndex(const Slice& slice, SourceLocation location = std::source_location::current())
      : kind_(Kind::slice), slice_(&slice), value_(0, location) {}
  // One index: a number (negative ones count from the end), a size, or a scalar on the device. The dimension goes away.
  // Or a tensor of indices, whose dimensions take the dimension's place: several of rank 1 address each combination of
  // their elements, and where one of rank 2 or more stands beside others, these broadcast and go element by element.
  template <class T>
    requires(std::integral<T> || std::convertible_to<const T&, const Value&> || std::same_as<T, Size>)
  TensorIndex(const T& index, SourceLocation location = std::source_location::current())
      : kind_(Kind::value), value_(index, location) {}
  template <class T>
  TensorIndex(const Scalar<T>& index, SourceLocation location = std::source_location::current())
      : kind_(Kind::value), value_(index, location) {}
  template <std::floating_point T> TensorIndex(T, SourceLocation = {}) : TensorIndex(_) {
    static_assert(detail::kNever<T>, "a subscript is a tile, an integer, tw::_ or tw::none, not a fraction");
  }

  Kind kind() const { return kind_; }
  const Tile* tiles() const { return tiles_; }
  int tile_count() const { return tile_count_; }
  const Slice& slice() const { return *slice_; }
  const Operand& value() const { return value_; }
  const SourceLocation& location() const { return value_.location(); }

private:
  Kind kind_;
  const Tile* tiles_ = nullptr;
  int tile_count_ = 0;
  const Slice* slice_ = nullptr;
  Operand value_; // and the line of the subscript
};

// The dimensions that a reduction combines: one, several, or all for {}. Negative ones count from the end.
class Dims {
public:
  Dims() = default;
  Dims(int dim) : dims_{dim}, count_(1) {}
  Dims(std::initializer_list<int> dims);

  int size() const { return count_; }
  int operator[](int i) const { return dims_[i]; }
  const int* begin() const { return dims_; }
  const int* end() const { return dims_ + count_; }

private:
  static constexpr int kMost = 8;
  int dims_[kMost] = {};
  int count_ = 0;
};

// Reductions over one dimension, several or all, of one signature.
#define TILEWRIGHT_REDUCTIONS(X) X(prod) X(any) X(all) X(logsumexp) X(count_nonzero)

class Value {
public:
  Value() = default; // nothing yet: assign to it before it is used
  // A copy is a variable of its own, that begins with the same value.
  Value(const Value& other);
  // Rebinds the variable; what was computed from it before keeps the old value. Of a variable from outside of a tile
  // loop, the next iteration sees the new value. It must then have the dtype and the shape of the old one.
  Value& operator=(const Value& other) &;

  // x += y is x = x + y, with promotion.
#define TILEWRIGHT_COMPOUND_OPERATORS(X) X(+=) X(-=) X(*=) X(/=) X(%=) X(&=) X(|=) X(^=) X(<<=) X(>>=)
#define TILEWRIGHT_COMPOUND(op) Value& operator op(const Operand & other)&;
  TILEWRIGHT_COMPOUND_OPERATORS(TILEWRIGHT_COMPOUND)
#undef TILEWRIGHT_COMPOUND

  DType dtype(SourceLocation location = std::source_location::current()) const;
  int rank(SourceLocation location = std::source_location::current()) const;

  // Converted as PyTorch converts.
  Value to(DType dtype, SourceLocation location = std::source_location::current()) const;

  // v[_, none]: `_` keeps a dimension, `none` inserts one of size 1. Missing trailing dimensions are kept, and so are
  // those that `ellipsis` stands for.
  Value operator[](const TensorIndex& a) const;
  Value operator[](const TensorIndex& a, const TensorIndex& b) const;
  Value operator[](const TensorIndex& a, const TensorIndex& b, const TensorIndex& c) const;
  Value operator[](const TensorIndex& a, const TensorIndex& b, const TensorIndex& c, const TensorIndex& d) const;

  Value unsqueeze(int dim, SourceLocation location = std::source_location::current()) const;
  Value transpose(int dim0, int dim1, SourceLocation location = std::source_location::current()) const;
  Value t(SourceLocation location = std::source_location::current()) const; // rank 2 at most, as in PyTorch
  Value permute(const Dims& dims, SourceLocation location = std::source_location::current()) const;

  Value sum(const Dims& dims = {}, bool keepdim = false,
            SourceLocation location = std::source_location::current()) const;
  Value mean(const Dims& dims = {}, bool keepdim = false,
             SourceLocation location = std::source_location::current()) const;
  Value amax(const Dims& dims = {}, bool keepdim = false,
             SourceLocation location = std::source_location::current()) const;
  Value amin(const Dims& dims = {}, bool keepdim = false,
             SourceLocation location = std::source_location::current()) const;
  Value softmax(int dim, SourceLocation location = std::source_location::current()) const;

  // The functions of the same names, of *this: reductions.h and scan.h.
#define TILEWRIGHT_REDUCTION(name)                                                                                     \
  Value name(const Dims& dims = {}, bool keepdim = false, SourceLocation location = std::source_location::current())   \
      const;
  TILEWRIGHT_REDUCTIONS(TILEWRIGHT_REDUCTION)
#undef TILEWRIGHT_REDUCTION
  Value argmax(SourceLocation location = std::source_location::current()) const;
  Value argmax(int dim, bool keepdim = false, SourceLocation location = std::source_location::current()) const;
  Value argmin(SourceLocation location = std::source_location::current()) const;
  Value argmin(int dim, bool keepdim = false, SourceLocation location = std::source_location::current()) const;
  // The largest or smallest of all; along one dimension also where it is, as argmax and argmin say.
  Value max(SourceLocation location = std::source_location::current()) const;
  Value min(SourceLocation location = std::source_location::current()) const;
  std::pair<Value, Value> max(int dim, bool keepdim = false,
                              SourceLocation location = std::source_location::current()) const;
  std::pair<Value, Value> min(int dim, bool keepdim = false,
                              SourceLocation location = std::source_location::current()) const;
  Value var(const Dims& dims = {}, double correction = 1, bool keepdim = false,
            SourceLocation location = std::source_location::current()) const;
  Value std(const Dims& dims = {}, double correction = 1, bool keepdim = false,
            SourceLocation location = std::source_location::current()) const;
  Value log_softmax(int dim, SourceLocation location = std::source_location::current()) const;
  Value norm(double p = 2, const Dims& dims = {}, bool keepdim = false,
             SourceLocation location = std::source_location::current()) const;
  Value cumsum(int dim, SourceLocation location = std::source_location::current()) const;
  Value cumprod(int dim, SourceLocation location = std::source_location::current()) const;
  std::pair<Value, Value> cummax(int dim, SourceLocation location = std::source_location::current()) const;
  std::pair<Value, Value> cummin(int dim, SourceLocation location = std::source_location::current()) const;

  // Likewise: shapes.h and creation.h.
  Value reshape(const Shape& shape, SourceLocation location = std::source_location::current()) const;
  Value view(const Shape& shape, SourceLocation location = std::source_location::current()) const;
  Value view(DType dtype, SourceLocation location = std::source_location::current()) const;
  std::pair<Value, Value> sort(int dim = -1, bool descending = false,
                               SourceLocation location = std::source_location::current()) const;
  Value argsort(int dim = -1, bool descending = false, SourceLocation location = std::source_location::current()) const;
  std::pair<Value, Value> topk(const Size& k, int dim = -1, bool largest = true,
                               SourceLocation location = std::source_location::current()) const;
  Value flatten(int first_dim = 0, int last_dim = -1, SourceLocation location = std::source_location::current()) const;
  Value squeeze(const Dims& dims = {}, SourceLocation location = std::source_location::current()) const;
  Value expand(const Shape& shape, SourceLocation location = std::source_location::current()) const;
  Value expand_as(const Operand& other, SourceLocation location = std::source_location::current()) const;
  Value broadcast_to(const Shape& shape, SourceLocation location = std::source_location::current()) const;
  Value flip(const Dims& dims, SourceLocation location = std::source_location::current()) const;
  Value gather(int dim, const Operand& index, SourceLocation location = std::source_location::current()) const;
  Value T(SourceLocation location = std::source_location::current()) const; // t()
  Value new_zeros(const Shape& shape, SourceLocation location = std::source_location::current()) const;
  Value new_ones(const Shape& shape, SourceLocation location = std::source_location::current()) const;
  Value new_empty(const Shape& shape, SourceLocation location = std::source_location::current()) const;
  Value new_full(const Shape& shape, const Operand& value,
                 SourceLocation location = std::source_location::current()) const;

  // The pointwise functions, of *this and the other operands: x.exp(), x.maximum(y).
#define TILEWRIGHT_UNARY(name, ...) Value name(SourceLocation location = std::source_location::current()) const;
#define TILEWRIGHT_UNARY_1(name, p, p_default, ...)                                                                    \
  Value name(const Operand& p = p_default, SourceLocation location = std::source_location::current()) const;
#define TILEWRIGHT_UNARY_2(name, p, p_default, q, q_default, ...)                                                      \
  Value name(const Operand& p = p_default, const Operand& q = q_default,                                               \
             SourceLocation location = std::source_location::current()) const;
#define TILEWRIGHT_BINARY(name, ...)                                                                                   \
  Value name(const Operand& b, SourceLocation location = std::source_location::current()) const;
#define TILEWRIGHT_TERNARY(name, ...)                                                                                  \
  Value name(const Operand& b, const Operand& c, SourceLocation location = std::source_location::current()) const;
#define TILEWRIGHT_TERNARY_1(name, p, p_default, ...)                                                                  \
  Value name(const Operand& b, const Operand& c, const Operand& p = p_default,                                         \
             SourceLocation location = std::source_location::current()) const;
#include "tilewright/operations.inc"

  template <std::same_as<bool> T> explicit operator T() const {
    static_assert(detail::kNever<T>, "a device value has no value while the kernel is recorded, so it cannot steer an "
                                     "if, &&, || or ?: - use tw::where, & and |");
  }

  const detail::Handle& variable() const { return variable_; }
  explicit Value(detail::Handle variable) : variable_(variable) {}

private:
  detail::Handle variable_;
};

inline Operand::Operand(const Value& value, SourceLocation location)
    : kind_(Kind::value), handle_(value.variable()), location_(location) {}

// Operators follow PyTorch: / on integers gives float32, % takes the divisor's sign; & | ^ ~ work on integers and
// bools,
// << and >> on integers. operations.inc says what each is.
Value operator+(const Operand& a, const Operand& b);
Value operator-(const Operand& a, const Operand& b);
Value operator*(const Operand& a, const Operand& b);
Value operator/(const Operand& a, const Operand& b);
Value operator%(const Operand& a, const Operand& b);
Value operator&(const Operand& a, const Operand& b);
Value operator|(const Operand& a, const Operand& b);
Value operator^(const Operand& a, const Operand& b);
Value operator<<(const Operand& a, const Operand& b);
Value operator>>(const Operand& a, const Operand& b);
Value operator==(const Operand& a, const Operand& b);
Value operator!=(const Operand& a, const Operand& b);
Value operator<(const Operand& a, const Operand& b);
Value operator<=(const Operand& a, const Operand& b);
Value operator>(const Operand& a, const Operand& b);
Value operator>=(const Operand& a, const Operand& b);
Value operator-(const Operand& x);
Value operator~(const Operand& x);
Value operator!(const Value& x); // logical_not

} // namespace tilewright
