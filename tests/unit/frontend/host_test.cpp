// The host part: sizes, checks, allocation, arguments and results.
#include "tracing.h"

#include <array>
#include <cmath>

namespace tw = tilewright;
using namespace tw::testing;

namespace {

const tw::Array kMatrix = tw::Array::empty({64, 32});

TEST(Sizes, stay_symbolic_under_plus_minus_and_times) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty({m * n + 2 * m - 1, 3}, tw::bfloat16);
    for (auto tile : tw::tile(m)) out[tile, 0] = x[tile, n - 1];
    return out;
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix),
                    {"-> !tile.array<bf16, [s0 * s1 + 2 * s0 + -1, 3]>", "tile.empty", "tile.extent <s1 + -1>"}));
}

TEST(Sizes, are_plain_numbers_where_the_kernel_asks_for_them) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty({tw::cdiv(m, 10), n / 3, tw::min(m, n), tw::next_power_of_2(n + 1), m % 7});
    double scale = 1 / std::sqrt(double(m));
    for (auto tile : tw::tile(m)) x[tile, 0] = x[tile, 0] * scale;
    return out;
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix), {"!tile.array<f32, [7, 10, s1, 64, 1]>", "1.250000e-01 : f32"}));
}

TEST(Sizes, steer_an_if) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    for (auto tile : tw::tile(m)) {
      if (n > 16)
        x[tile, 0] = 1;
      else
        x[tile, 0] = 2;
    }
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix), {"1.000000e+00"}));
  EXPECT_TRUE(holds(trace_of(kernel, tw::Array::empty({64, 8})), {"2.000000e+00"}));
}

TEST(Checks, are_recorded_and_hold_now) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x, tw::Tensor y) {
    auto m = x.size(0);
    line = __LINE__ + 1;
    tw::check(m == y.size(0), "x has {} rows and y {}", m, y.size(0));
    tw::check(m == m, "never");
    tw::check(true, "never");
    for (auto tile : tw::tile(m)) x[tile, 0] = y[tile];
  });
  std::string text = trace_of(kernel, kMatrix, tw::Array::empty({64}));
  EXPECT_TRUE(holds(text, {"arith.cmpi eq, %0, %1", "tile.check %2, \"x has {} rows and y {}\"(%0, %1)"}));
  EXPECT_EQ(count(text, "tile.check"), 1);
  EXPECT_ERROR_AT(line, "x has 64 rows and y 63", trace_of(kernel, kMatrix, tw::Array::empty({63})));
}

TEST(Checks, belong_before_the_loop) {
  int line = 0;
  auto inside = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      line = __LINE__ + 1;
      tw::check(x.size(0) > 1, "small");
      x[tile, 0] = 1;
    }
  });
  EXPECT_ERROR_AT(line, "tw::check is host work: it belongs before the outermost tile loop", trace_of(inside, kMatrix));
  auto after = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) x[tile, 0] = 1;
    line = __LINE__ + 1;
    auto out = tw::empty_like(x);
    return out;
  });
  EXPECT_ERROR_AT(line, "tw::empty_like stands after the tile loop: it belongs before it", trace_of(after, kMatrix));
  auto message = tw::kernel("k", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    tw::check(x.size(0) > 1, "found {}");
    for (auto tile : tw::tile(x.size(0))) x[tile, 0] = 1;
  });
  EXPECT_ERROR_AT(line, "the message of tw::check has 1 {} for 0 values: \"found {}\"", trace_of(message, kMatrix));
}

TEST(Allocation, is_host_work) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    auto out = tw::zeros({x.size(0)});
    for (auto tile : tw::tile(x.size(0))) x[tile, 0] = out;
  });
  EXPECT_ERROR_AT(line,
                  "tw::zeros makes a value on the device, so it belongs into a tile loop; before it, tw::empty "
                  "allocates a tensor, and the loop fills it",
                  trace_of(kernel, kMatrix));
  auto negative = tw::kernel("k", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    auto out = tw::empty({x.size(1) - x.size(0)});
    for (auto tile : tw::tile(x.size(0))) out[tile] = 1;
  });
  EXPECT_ERROR_AT(line, "tw::empty with a size of -32", trace_of(negative, kMatrix));
}

TEST(Arguments, have_names_in_messages_and_in_the_ir) {
  auto named = tw::kernel("k", {"x", "scale"}, [](tw::Tensor x, tw::Scalar<float> scale) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = x[tile] * scale;
  });
  EXPECT_TRUE(
      holds(trace_of(named, tw::Array::empty({7}), 2),
            {"tile.kernel @k(%arg0: !tile.array<f32, [s0]> {tile.name = \"x\"}, %arg1: f32 {tile.name = \"scale\"})"}));
  EXPECT_EQ(error_of([&] { trace_of(named, tw::Array(), 2); }).message,
            "x is an array without data; make one as with tw::Array::empty");
}

TEST(Arguments, plain_numbers_and_captures_are_constants) {
  double captured = 0.75;
  auto kernel = tw::kernel("k", [captured](tw::Tensor x, int n, bool twice, tw::DType dtype) {
    for (auto tile : tw::tile(x.size(0))) {
      auto v = x[tile].to(dtype) + n * captured;
      x[tile] = twice ? v + v : v;
    }
  });
  std::string text = trace_of(kernel, tw::Array::empty({7}), 4, true, tw::float64);
  EXPECT_TRUE(holds(text, {"tile.kernel @k(%arg0: !tile.array<f32, [s0]> {tile.name = \"arg0\"})", "arith.extf",
                           "3.000000e+00 : f64", "arith.addf", "arith.addf"}));
}

TEST(Arguments, callables_are_inlined) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, auto epilogue) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = epilogue(x[tile], tile);
  });
  float slope = 0.5f;
  EXPECT_TRUE(holds(
      trace_of(kernel, tw::Array::empty({7}), [slope](tw::Value v, tw::Tile) { return tw::maximum(v, v * slope); }),
      {"5.000000e-01", "arith.mulf", "arith.maximumf"}));
}

TEST(Results, are_tensors_tuples_or_nothing) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto rows = tw::empty({m}), columns = tw::empty({n});
    for (auto tile : tw::tile(m)) rows[tile] = x[tile, 0];
    return std::tuple{rows, columns, x};
  });
  EXPECT_TRUE(holds(trace_of(kernel, kMatrix), {"tile.return %0, %1, %arg0 : !tile.array<f32, [s0]>, !tile.array<f32, "
                                                "[s1]>, !tile.array<f32, [s0, s1]>"}));
}

TEST(Kernels, cannot_call_kernels) {
  auto inner = tw::kernel("inner", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = 1;
  });
  tw::Array data = tw::Array::empty({7});
  int line = 0;
  auto outer = tw::kernel("outer", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    inner(data);
    for (auto tile : tw::tile(x.size(0))) x[tile] = 1;
  });
  EXPECT_ERROR_AT(line,
                  "kernel inner is called while another one is recorded; write what they share as a function of "
                  "tw::Value",
                  trace_of(outer, data));
}

TEST(Kernels, bound_at_run_time_check_their_arguments) {
  int line = __LINE__ + 1;
  auto kernel = tw::kernel("scaled", {"x", "scale"}, [](tw::Tensor x, tw::Scalar<float> scale) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = x[tile] * scale;
  });
  tw::Array x = tw::Array::empty({7});
  std::array<tw::AnyArgument, 1> one{x};
  EXPECT_ERROR_AT(line, "kernel scaled takes 2 arguments (x, scale), found 1", kernel.bind_any(one));
  std::array<tw::AnyArgument, 2> swapped{2.0, x};
  EXPECT_EQ(error_of([&] { kernel.bind_any(swapped); }).message.find(" of kernel scaled is a "), size_t(5));
  std::array<tw::AnyArgument, 2> right{x, 2.0};
  EXPECT_TRUE(holds(tw::trace_to_text(kernel.bind_any(right)), {"tile.kernel @scaled"}));
}

} // namespace
