// Operations on device values, in a tile loop. Names, promotion and results are PyTorch's; sums and means of 16-bit
// floating-point values are accumulated in float32. Errors name the caller's line.
#pragma once

#include "tilewright/dtype.h"
#include "tilewright/tensor.h"
#include "tilewright/tile.h"
#include "tilewright/value.h"

namespace tilewright {

//
// Pointwise. Shapes broadcast as in PyTorch; a dimension of one tile fits no other tile's.
//

// operations.inc lists them: abs, exp, maximum, lerp, ... Numbers after the operands, such as softplus's beta, are
// literals or run-time numbers.
#define TILEWRIGHT_UNARY(name, ...)                                                                                    \
  Value name(const Operand& x, SourceLocation location = std::source_location::current());
#define TILEWRIGHT_UNARY_1(name, p, p_default, ...)                                                                    \
  Value name(const Operand& x, const Operand& p = p_default, SourceLocation location = std::source_location::current());
#define TILEWRIGHT_UNARY_2(name, p, p_default, q, q_default, ...)                                                      \
  Value name(const Operand& x, const Operand& p = p_default, const Operand& q = q_default,                             \
             SourceLocation location = std::source_location::current());
#define TILEWRIGHT_BINARY(name, ...)                                                                                   \
  Value name(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
#define TILEWRIGHT_TERNARY(name, ...)                                                                                  \
  Value name(const Operand& a, const Operand& b, const Operand& c,                                                     \
             SourceLocation location = std::source_location::current());
#define TILEWRIGHT_TERNARY_1(name, p, p_default, ...)                                                                  \
  Value name(const Operand& a, const Operand& b, const Operand& c, const Operand& p = p_default,                       \
             SourceLocation location = std::source_location::current());
#include "tilewright/operations.inc"

// `approximate` is "none" (by the error function) or "tanh".
Value gelu(const Operand& x, const char* approximate, SourceLocation location = std::source_location::current());
// `rounding_mode` is "floor" or "trunc": the quotient is rounded, and integers stay integers.
Value div(const Operand& a, const Operand& b, const char* rounding_mode,
          SourceLocation location = std::source_location::current());
// What NaN, infinity and minus infinity become.
Value nan_to_num(const Operand& x, const Operand& nan, const Operand& posinf, const Operand& neginf,
                 SourceLocation location = std::source_location::current());
// maximum and minimum of two device values, or of one and a size. Of two sizes they are sizes.
Value max(const Value& a, const Value& b, SourceLocation location = std::source_location::current());
Value min(const Value& a, const Value& b, SourceLocation location = std::source_location::current());
Value max(const Value& a, const Size& b, SourceLocation location = std::source_location::current());
Value min(const Value& a, const Size& b, SourceLocation location = std::source_location::current());
Value max(const Size& a, const Value& b, SourceLocation location = std::source_location::current());
Value min(const Size& a, const Value& b, SourceLocation location = std::source_location::current());
// a where the condition holds, else b.
Value where(const Operand& condition, const Operand& a, const Operand& b,
            SourceLocation location = std::source_location::current());

//
// Reductions over one dimension, several ({0, 1}) or all ({}). Elements past the end of a tile take no part.
//

Value sum(const Operand& x, const Dims& dims = {}, bool keepdim = false,
          SourceLocation location = std::source_location::current());
Value mean(const Operand& x, const Dims& dims = {}, bool keepdim = false,
           SourceLocation location = std::source_location::current());
Value amax(const Operand& x, const Dims& dims = {}, bool keepdim = false,
           SourceLocation location = std::source_location::current());
Value amin(const Operand& x, const Dims& dims = {}, bool keepdim = false,
           SourceLocation location = std::source_location::current());
Value softmax(const Operand& x, int dim, SourceLocation location = std::source_location::current());

//
// Matrix products of [..., m, k] and [..., k, n], in floating point. Products of 16-bit values are added up in float32.
//

// The result has the operands' dtype. mm takes rank 2, bmm rank 3; matmul rank 2 and more, and broadcasts batches.
Value matmul(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
Value mm(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
Value bmm(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
// acc + a @ b, for rank 2 and rank 3. The result has acc's dtype, which is the operands', or float32 with 16-bit ones.
Value addmm(const Operand& acc, const Operand& a, const Operand& b,
            SourceLocation location = std::source_location::current());
Value baddbmm(const Operand& acc, const Operand& a, const Operand& b,
              SourceLocation location = std::source_location::current());
// float32, or float64 for float64 operands and int32 for int8 ones; with acc, acc's dtype, int32 for int8.
Value dot(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
Value dot(const Operand& a, const Operand& b, const Operand& acc,
          SourceLocation location = std::source_location::current());

//
// Shapes
//

Value transpose(const Operand& x, int dim0, int dim1, SourceLocation location = std::source_location::current());
Value permute(const Operand& x, const Dims& dims, SourceLocation location = std::source_location::current());
Value unsqueeze(const Operand& x, int dim, SourceLocation location = std::source_location::current());

//
// New values
//

// One dimension of a new value: a tile, or a whole number of elements.
class ShapeDim {
public:
  ShapeDim() = default;
  ShapeDim(const Tile& tile) : tile_(tile), is_tile_(true) {}
  template <class T>
    requires(std::convertible_to<const T&, Size> && !std::derived_from<T, Value>)
  ShapeDim(const T& size) : size_(size) {}
  // A registered block size, or a tile's block_size(): whole, so that it does not end where a tile ends.
  template <class T>
    requires(std::convertible_to<const T&, const Value&>)
  ShapeDim(const T& block_size) : block_size_(block_size), is_block_size_(true) {}

  bool is_tile() const { return is_tile_; }
  const Tile& tile() const { return tile_; }
  bool is_block_size() const { return is_block_size_; }
  const Operand& block_size() const { return block_size_; }
  const Size& size() const { return size_; }

private:
  Tile tile_;
  Size size_;
  Operand block_size_;
  bool is_tile_ = false;
  bool is_block_size_ = false;
};

// {tile_m, 64}; {} is a scalar.
class Shape {
public:
  static constexpr int kMost = 8;
  Shape() = default;
  Shape(std::initializer_list<ShapeDim> dims);
  template <size_t N> Shape(const Tiles<N>& tiles) : count_(N) {
    for (size_t i = 0; i < N; ++i) dims_[i] = tiles[i];
  }

  int size() const { return count_; }
  const ShapeDim& operator[](int i) const { return dims_[i]; }

private:
  ShapeDim dims_[kMost];
  int count_ = 0;
};

Value zeros(const Shape& shape, DType dtype = float32, SourceLocation location = std::source_location::current());
Value ones(const Shape& shape, DType dtype = float32, SourceLocation location = std::source_location::current());
// `value` is a number or a scalar.
Value full(const Shape& shape, const Operand& value, DType dtype = float32,
           SourceLocation location = std::source_location::current());
Value zeros_like(const Operand& x, SourceLocation location = std::source_location::current());
Value zeros_like(const Operand& x, DType dtype, SourceLocation location = std::source_location::current());
Value full_like(const Operand& x, const Operand& value, SourceLocation location = std::source_location::current());

} // namespace tilewright
