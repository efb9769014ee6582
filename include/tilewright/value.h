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

namespace tilewright {

class Array;
class Tensor;
class Tile;
class Value;
template <class T> class Scalar;

// `:` in a subscript: x[tile, _] is a tile of rows.
struct Whole {};
inline constexpr Whole _;

// None in a subscript: a new dimension of size 1.
struct None {};
inline constexpr None none;

// A parameter that takes a device value or a number. Numbers are PyTorch's Python numbers: they do not widen the other
// operand's dtype within its kind. It also carries the line of the call.
class Operand {
public:
  enum class Kind : uint8_t { value, integer, real, boolean, size };

  Operand() : kind_(Kind::integer) {} // the number 0
  Operand(const Value& value, SourceLocation location = std::source_location::current());
  Operand(const Size& size, SourceLocation location = std::source_location::current())
      : kind_(Kind::size), integer_(size.value()), handle_(size.symbol()), location_(location) {}
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
                                     "tw::Tensor");
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

// One subscript of a tensor or a value. A tensor takes all of these, a value only `_` and `none`.
class TensorIndex {
public:
  enum class Kind : uint8_t { whole, none, tiles, scalar };

  TensorIndex(Whole, SourceLocation location = std::source_location::current())
      : kind_(Kind::whole), scalar_(0, location) {}
  TensorIndex(None, SourceLocation location = std::source_location::current())
      : kind_(Kind::none), scalar_(0, location) {}
  TensorIndex(const Tile& tile, SourceLocation location = std::source_location::current())
      : kind_(Kind::tiles), tiles_(&tile), tile_count_(1), scalar_(0, location) {}
  // All tiles of a multi-dimensional tile loop, as one.
  template <class Tiles>
    requires requires(const Tiles& tiles) {
      { tiles.data() } -> std::same_as<const Tile*>;
    }
  TensorIndex(const Tiles& tiles, SourceLocation location = std::source_location::current())
      : kind_(Kind::tiles), tiles_(tiles.data()), tile_count_(tiles.size()), scalar_(0, location) {}
  // One index: a number (negative ones count from the end), a size, or a scalar on the device. The dimension goes away.
  template <class T>
    requires(std::integral<T> || std::convertible_to<const T&, const Value&> || std::same_as<T, Size>)
  TensorIndex(const T& index, SourceLocation location = std::source_location::current())
      : kind_(Kind::scalar), scalar_(index, location) {}
  template <class T>
  TensorIndex(const Scalar<T>& index, SourceLocation location = std::source_location::current())
      : kind_(Kind::scalar), scalar_(index, location) {}
  template <std::floating_point T> TensorIndex(T, SourceLocation = {}) : TensorIndex(_) {
    static_assert(detail::kNever<T>, "a subscript is a tile, an integer, tw::_ or tw::none, not a fraction");
  }

  Kind kind() const { return kind_; }
  const Tile* tiles() const { return tiles_; }
  int tile_count() const { return tile_count_; }
  const Operand& scalar() const { return scalar_; }
  const SourceLocation& location() const { return scalar_.location(); }

private:
  Kind kind_;
  const Tile* tiles_ = nullptr;
  int tile_count_ = 0;
  Operand scalar_;
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

class Value {
public:
  Value() = default; // nothing yet: assign to it before it is used
  // A copy is a variable of its own, that begins with the same value.
  Value(const Value& other);
  // Rebinds the variable; what was computed from it before keeps the old value. Of a variable from outside of a tile
  // loop, the next iteration sees the new value. It must then have the dtype and the shape of the old one.
  Value& operator=(const Value& other) &;

  // x += y is x = x + y, with promotion.
#define TILEWRIGHT_COMPOUND_OPERATORS(X) X(+=) X(-=) X(*=) X(/=) X(%=) X(&=) X(|=) X(^=)
#define TILEWRIGHT_COMPOUND(op) Value& operator op(const Operand & other)&;
  TILEWRIGHT_COMPOUND_OPERATORS(TILEWRIGHT_COMPOUND)
#undef TILEWRIGHT_COMPOUND

  DType dtype(SourceLocation location = std::source_location::current()) const;
  int rank(SourceLocation location = std::source_location::current()) const;

  // Converted as PyTorch converts.
  Value to(DType dtype, SourceLocation location = std::source_location::current()) const;

  // v[_, none]: `_` keeps a dimension, `none` inserts one of size 1. Missing trailing dimensions are kept.
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

#define TILEWRIGHT_UNARY(name, ...) Value name(SourceLocation location = std::source_location::current()) const;
#include "tilewright/pointwise_functions.inc"

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

// Operators follow PyTorch: / on integers gives float32, % takes the divisor's sign and needs integers; & | ^ ~ work on
// integers and bools.
Value operator+(const Operand& a, const Operand& b);
Value operator-(const Operand& a, const Operand& b);
Value operator*(const Operand& a, const Operand& b);
Value operator/(const Operand& a, const Operand& b);
Value operator%(const Operand& a, const Operand& b);
Value operator&(const Operand& a, const Operand& b);
Value operator|(const Operand& a, const Operand& b);
Value operator^(const Operand& a, const Operand& b);
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
