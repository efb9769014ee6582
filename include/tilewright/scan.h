// Running combinations along one dimension, in a tile loop. Names and results are PyTorch's. Elements past the end of a
// tile are passed over, forward and in reverse. Errors name the caller's line.
#pragma once

#include "tilewright/detail/combiner.h"
#include "tilewright/value.h"

#include <utility>

namespace tilewright {

// Running sum and product. Those of 16-bit floats are computed in float32; integers and bools become int64.
Value cumsum(const Operand& x, int dim, SourceLocation location = std::source_location::current());
Value cumprod(const Operand& x, int dim, SourceLocation location = std::source_location::current());

// Running maximum and minimum, and the index in the value's dimension of each, int64: of equal ones the last. NaN
// counts as the largest and the smallest.
std::pair<Value, Value> cummax(const Operand& x, int dim, SourceLocation location = std::source_location::current());
std::pair<Value, Value> cummin(const Operand& x, int dim, SourceLocation location = std::source_location::current());

// Element i of the result combines elements 0 to i in order, or with `reverse` those from the last one back to i, by an
// associative callable. x, fn and the result are as in reduce() of reductions.h.
template <class F, class X>
auto associative_scan(const F& fn, const X& x, int dim, bool reverse = false,
                      SourceLocation location = std::source_location::current()) {
  using Pack = detail::ValuePack<X>;
  Operand sources[Pack::count];
  Pack::list(x, sources, location);
  Value results[Pack::count];
  detail::scan(sources, Pack::count, dim, reverse, detail::combiner_of<X>(fn), results, location);
  return Pack::from(results);
}

} // namespace tilewright
