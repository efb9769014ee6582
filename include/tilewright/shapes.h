// Operations on the shapes of values beyond transpose, permute and unsqueeze (ops.h), in a tile loop. Names and results
// are PyTorch's. A tile's dimension may end early, so it stays as it is: what would merge, split, cut or turn it around
// is refused; whole dimensions are free. Errors name the caller's line.
#pragma once

#include "tilewright/ops.h"
#include "tilewright/value.h"

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace tilewright {

// The same elements in row-major order under other dimensions, tiles and numbers: x.reshape({tile, 8, -1}), where -1 is
// what is left.
Value reshape(const Operand& x, const Shape& shape, SourceLocation location = std::source_location::current());
Value view(const Operand& x, const Shape& shape, SourceLocation location = std::source_location::current());
// Dimensions first_dim to last_dim as one.
Value flatten(const Operand& x, int first_dim = 0, int last_dim = -1,
              SourceLocation location = std::source_location::current());
// Removes dimensions of size 1: those given that are, or all ({}).
Value squeeze(const Operand& x, const Dims& dims = {}, SourceLocation location = std::source_location::current());

// Repeats dimensions of size 1, and new leading ones; -1 keeps a dimension.
Value expand(const Operand& x, const Shape& shape, SourceLocation location = std::source_location::current());
Value broadcast_to(const Operand& x, const Shape& shape, SourceLocation location = std::source_location::current());
Value expand_as(const Operand& x, const Operand& other, SourceLocation location = std::source_location::current());

// The same bits as another dtype of the same size: a float32 as an int32.
Value view(const Operand& x, DType dtype, SourceLocation location = std::source_location::current());

// Several values in one call: {a, b, c}, or a std::vector.
class ValueList {
public:
  ValueList(std::initializer_list<Value> values) : values_(values.begin(), values.size()) {}
  ValueList(const std::vector<Value>& values) : values_(values) {}
  std::span<const Value> values() const { return values_; }

private:
  std::span<const Value> values_;
};

// Values of one shape side by side along a new dimension.
Value stack(const ValueList& values, int dim = 0, SourceLocation location = std::source_location::current());
// Values one after the other along a dimension that is whole in each; the other dimensions are equal.
Value cat(const ValueList& values, int dim = 0, SourceLocation location = std::source_location::current());
// stack({a, b}, -1), and its inverse for a last dimension of 2.
Value join(const Operand& a, const Operand& b, SourceLocation location = std::source_location::current());
std::pair<Value, Value> split(const Operand& x, SourceLocation location = std::source_location::current());
// A whole dimension in pieces of `size`, the last one of what is left; or in `count` pieces of one size, rounded up.
std::vector<Value> split(const Operand& x, const Size& size, int dim = 0,
                         SourceLocation location = std::source_location::current());
std::vector<Value> chunk(const Operand& x, const Size& count, int dim = 0,
                         SourceLocation location = std::source_location::current());

// Whole dimensions turned around.
Value flip(const Operand& x, const Dims& dims, SourceLocation location = std::source_location::current());
// The elements of a whole dimension in order, and where each of them was, int64. Equal ones keep their order; NaN is
// larger than every number.
std::pair<Value, Value> sort(const Operand& x, int dim = -1, bool descending = false,
                             SourceLocation location = std::source_location::current());
Value argsort(const Operand& x, int dim = -1, bool descending = false,
              SourceLocation location = std::source_location::current());
// The k largest, or smallest, elements of a whole dimension in order, and where each of them was. Of equal ones it is
// the first.
std::pair<Value, Value> topk(const Operand& x, const Size& k, int dim = -1, bool largest = true,
                             SourceLocation location = std::source_location::current());

// result[i][j] = x[index[i][j]][j] for dim 0, x[i][index[i][j]] for dim 1, and so on: index is of integers, of x's
// rank, and in the other dimensions of x's size.
Value gather(const Operand& x, int dim, const Operand& index,
             SourceLocation location = std::source_location::current());

} // namespace tilewright
