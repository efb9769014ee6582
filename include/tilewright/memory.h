// Reading and writing tensors by functions, with more to say than x[...] can, and atomic access. In a tile loop.
//
// `subscripts` are those of x[...], in braces: tw::load(x, {tile, tw::_}). Errors name the caller's line.
#pragma once

#include "tilewright/tensor.h"
#include "tilewright/value.h"

#include <initializer_list>

namespace tilewright {

// What load() and store() may be told: tw::load(x, {tile}, {.extra_mask = tile.index() < n}).
struct AccessOptions {
  // A bool value that broadcasts to the block's shape. Where it is false, nothing is read or written, and what was read
  // is 0; these elements exist, and take part in reductions.
  Operand extra_mask = true;
  // "first" or "last": what was read leaves the cache before or after other data. "": as the config says.
  const char* eviction_policy = "";
};

// x[subscripts].
Value load(const Tensor& x, std::initializer_list<TensorIndex> subscripts, const AccessOptions& options = {},
           SourceLocation location = std::source_location::current());
// x[subscripts] = value: converts to x's dtype and broadcasts. Where index tensors name one element twice, it gets one
// of the values.
void store(const Tensor& x, std::initializer_list<TensorIndex> subscripts, const Operand& value,
           const AccessOptions& options = {}, SourceLocation location = std::source_location::current());

// Each changes every element that the subscripts name at once, also against other programs, and gives back what it was
// before. The value is converted to x's dtype and broadcast. `sem` is the memory order: "relaxed", "acquire", "release"
// or "acq_rel". and, or and xor are for integers and bools, add, max and min for numbers; max and min give the number
// where one of the two is NaN. Where `extra_mask` is false, nothing is changed, and what is given back is 0:
//   tw::atomic_add(x, {tile}, v, "relaxed", {.extra_mask = m}).
#define TILEWRIGHT_ATOMIC(name)                                                                                        \
  Value name(const Tensor& x, std::initializer_list<TensorIndex> subscripts, const Operand& value,                     \
             const char* sem = "relaxed", const AccessOptions& options = {},                                           \
             SourceLocation location = std::source_location::current());
TILEWRIGHT_ATOMIC(atomic_add)
TILEWRIGHT_ATOMIC(atomic_and)
TILEWRIGHT_ATOMIC(atomic_or)
TILEWRIGHT_ATOMIC(atomic_xor)
TILEWRIGHT_ATOMIC(atomic_xchg)
TILEWRIGHT_ATOMIC(atomic_max)
TILEWRIGHT_ATOMIC(atomic_min)
#undef TILEWRIGHT_ATOMIC
// Writes `value` where the element is `expected`, bit by bit.
Value atomic_cas(const Tensor& x, std::initializer_list<TensorIndex> subscripts, const Operand& expected,
                 const Operand& value, const char* sem = "relaxed", const AccessOptions& options = {},
                 SourceLocation location = std::source_location::current());

} // namespace tilewright
