// The element-wise sum of two vectors: the smallest kernel there is.
#include <tilewright/registry.h>
#include <tilewright/tilewright.h>

namespace tw = tilewright;

static const auto add = tw::kernel("add", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [n] = x.sizes<1>();
  auto [n2] = y.sizes<1>();
  tw::check(n == n2, "sizes differ: {} and {}", n, n2);
  auto out = tw::empty({n}, tw::promote_types(x.dtype(), y.dtype()));
  for (auto tile : tw::tile(n)) out[tile] = x[tile] + y[tile];
  return out;
});

static std::vector<tw::Array> add_reference(std::span<const tw::AnyArgument> in) {
  tw::Array out = tw::Array::empty(in[0].array().sizes(), tw::float64);
  const double *x = in[0].array().data<double>(), *y = in[1].array().data<double>();
  for (int64_t i = 0, n = out.numel(); i < n; ++i) out.data<double>()[i] = x[i] + y[i];
  return {out};
}

TILEWRIGHT_REGISTER(add) = {
    .summary = "element-wise sum of two vectors",
    .arguments = {"x: T[n]", "y: T[n]"},
    .dtypes = {tw::float32, tw::float64, tw::bfloat16, tw::float16, tw::int32, tw::int64},
    .cases = {{"16M", {{"n", 1 << 24}}}, {"1K", {{"n", 1 << 10}}}},
    .flops = [](const tw::Instance& i) { return double(i["n"]); },
    .reference = add_reference,
};
