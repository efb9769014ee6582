// What must not compile, a case each. The tests compile this file and expect the compiler to say, at a line of this
// file, what to write instead.
#include "tilewright/tilewright.h"

namespace tw = tilewright;

static const auto copy = tw::kernel("copy", [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    out[tile] = x[tile];
#if defined(TILE_AS_A_NUMBER)
    out[tile] = tile * 2;
#elif defined(NUMBER_PLUS_TILE)
    out[tile] = x[1 + tile];
#elif defined(TENSOR_AS_A_VALUE)
    out[tile] = x + 1;
#elif defined(ARRAY_AS_A_VALUE)
    tw::Array data = tw::Array::empty({4});
    out[tile] = tw::exp(data);
#elif defined(CONDITION_ON_A_VALUE)
    if (x[tile] > 0) out[tile] = 1;
#elif defined(AND_OF_VALUES)
    out[tile] = tw::where(x[tile] > 0 && x[tile] < 1, 1, 0);
#elif defined(FRACTION_AS_A_SUBSCRIPT)
    out[0.5] = x[tile];
#elif defined(BRANCH_ON_SIZES)
    tw::if_(x.size(0) > 4, [&] { out[tile] = 1; });
#elif defined(WRONG_COMBINER)
    out[tile] = tw::reduce([](tw::Value a) { return a; }, x[tile], 0);
#elif defined(STORE_TO_A_RESULT)
    tw::exp(x[tile]) = 1;
#endif
  }
  return out;
});

#if defined(WRONG_COUNT)
tw::Array wrong_count(tw::Array x) { return copy(x, x); }
#elif defined(KERNEL_IN_A_KERNEL)
static const auto twice = tw::kernel("twice", [](tw::Tensor x) {
  copy(x);
  for (auto tile : tw::tile(x.size(0))) x[tile] = 1;
});
#elif defined(POINTER_PARAMETER)
static const auto raw = tw::kernel("raw", [](tw::Tensor x, float* p) {
  for (auto tile : tw::tile(x.size(0))) x[tile] = *p;
});
void call_raw(tw::Array x, float* p) { raw(x, p); }
#elif defined(RETURNS_A_VALUE)
static const auto value = tw::kernel("value", [](tw::Tensor x) {
  tw::Value v;
  for (auto tile : tw::tile(x.size(0))) v = x[tile];
  return v;
});
void call_value(tw::Array x) { value(x); }
#elif defined(MUTABLE_LAMBDA)
static const auto counting = tw::kernel("counting", [n = 0](tw::Tensor x) mutable {
  for (auto tile : tw::tile(x.size(0))) x[tile] = n++;
});
void call_counting(tw::Array x) { counting(x); }
#endif
