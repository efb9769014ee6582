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

// abs, exp, sigmoid, ...: pointwise_functions.inc lists them.
#define TILEWRIGHT_UNARY(name, ...)                                                                                    \
  Value name(const Operand& x, SourceLocation location = std::source_location::current());
#include "tilewright/pointwise_functions.inc"

// `approximate` is "none" (by the error function) or "tanh".
Value gelu(const Operand& x, const char* approximate = "none",
           SourceLocation location = std::source_location::current());

// NaN where either is NaN.
Value maximum(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
Value minimum(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
// minimum(maximum(x, low), high)
Value clamp(const Operand& x, const Operand& low, const Operand& high,
            SourceLocation location = std::source_location::current());
// Integers are raised only to powers that are whole numbers known while recording, from 0 on.
Value pow(const Operand& base, const Operand& exponent, SourceLocation location = std::source_location::current());
// remainder takes the divisor's sign, fmod the dividend's.
Value remainder(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
Value fmod(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
// Rounds toward minus infinity.
Value floor_divide(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
Value atan2(const Operand& y, const Operand& x, SourceLocation location = std::source_location::current());
Value logical_and(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
Value logical_or(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
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
// float32, or float64 for float64 operands; with acc, acc's dtype.
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
    requires(std::convertible_to<const T&, Size>)
  ShapeDim(const T& size) : size_(size) {}

  bool is_tile() const { return is_tile_; }
  const Tile& tile() const { return tile_; }
  const Size& size() const { return size_; }

private:
  Tile tile_;
  Size size_;
  bool is_tile_ = false;
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
