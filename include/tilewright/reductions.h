// Reductions beyond sum, mean, amax, amin and softmax (ops.h), in a tile loop. Names and results are PyTorch's; each
// combines one dimension, several ({0, 1}) or all ({}) of a value of rank 1 or more. Elements past the end of a tile
// take no part. Sums of 16-bit floats are added up in float32. Errors name the caller's line.
#pragma once

#include "tilewright/detail/combiner.h"
#include "tilewright/value.h"

#include <utility>

namespace tilewright {

// The product; of integers and bools in int64. Of no elements 1.
Value prod(const Operand& x, const Dims& dims = {}, bool keepdim = false,
           SourceLocation location = std::source_location::current());
// Whether one, or every, element is not 0: bool.
Value any(const Operand& x, const Dims& dims = {}, bool keepdim = false,
          SourceLocation location = std::source_location::current());
Value all(const Operand& x, const Dims& dims = {}, bool keepdim = false,
          SourceLocation location = std::source_location::current());
// How many elements are not 0: int64.
Value count_nonzero(const Operand& x, const Dims& dims = {}, bool keepdim = false,
                    SourceLocation location = std::source_location::current());
// log(sum(exp(x))), without overflow. Integers and bools become float32.
Value logsumexp(const Operand& x, const Dims& dims = {}, bool keepdim = false,
                SourceLocation location = std::source_location::current());

// The index of the largest or smallest element in the value's dimension, int64: in a tile, counted from the tile's
// begin. NaN counts as the largest and the smallest; of equal ones it is the first. Without a dimension, the index is
// in the elements in row-major order, of which only the first dimension may be a tile's.
Value argmax(const Operand& x, SourceLocation location = std::source_location::current());
Value argmax(const Operand& x, int dim, bool keepdim = false,
             SourceLocation location = std::source_location::current());
Value argmin(const Operand& x, SourceLocation location = std::source_location::current());
Value argmin(const Operand& x, int dim, bool keepdim = false,
             SourceLocation location = std::source_location::current());

// Variance and standard deviation of floating point: the sum of squared distances from the mean, over the number of
// elements less `correction`.
Value var(const Operand& x, const Dims& dims = {}, double correction = 1, bool keepdim = false,
          SourceLocation location = std::source_location::current());
Value std(const Operand& x, const Dims& dims = {}, double correction = 1, bool keepdim = false,
          SourceLocation location = std::source_location::current());
// The variance and the mean.
std::pair<Value, Value> var_mean(const Operand& x, const Dims& dims = {}, double correction = 1, bool keepdim = false,
                                 SourceLocation location = std::source_location::current());

// log(softmax(x)) of floating point.
Value log_softmax(const Operand& x, int dim, SourceLocation location = std::source_location::current());

// (sum of |x|^p)^(1 / p) of floating point; the largest or smallest |x| for p of plus or minus infinity, and how many
// elements are not 0 for p = 0.
Value norm(const Operand& x, double p = 2, const Dims& dims = {}, bool keepdim = false,
           SourceLocation location = std::source_location::current());

// Combines elements by a callable of two scalars, associative and commutative: tw::reduce(fn, x, dim). x may also be a
// tuple (std::tuple, std::pair or std::array) of values of one shape, combined together by fn(a, b) of tuples or by
// fn(a0, a1, b0, b1) of their parts, which gives back a tuple of scalars of the same dtypes. Over no elements the
// result is `other`, a number or scalar, or one for each of the tuple; elements that an extra_mask switched off take
// part. fn may use scalars from outside, but neither assign to them nor read or write tensors.
template <class F, class X, class Other = int>
auto reduce(const F& fn, const X& x, const Dims& dims = {}, const Other& other = 0, bool keepdim = false,
            SourceLocation location = std::source_location::current()) {
  using Pack = detail::ValuePack<X>;
  Operand sources[Pack::count], others[Pack::count];
  Pack::list(x, sources, location);
  if constexpr (Pack::count > 1 && std::convertible_to<const Other&, Operand>) {
    for (Operand& each : others) each = Operand(other, location);
  } else {
    static_assert(detail::ValuePack<Other>::count == Pack::count, "`other` is one number, or one for each value");
    detail::ValuePack<Other>::list(other, others, location);
  }
  Value results[Pack::count];
  detail::reduce(sources, Pack::count, dims, others, keepdim, detail::combiner_of<X>(fn), results, location);
  return Pack::from(results);
}

} // namespace tilewright
