// Running error bounds of the interpreter: what is exact has none, what is not has enough, what jumps is infinite.
#include "driver/arguments.h"
#include "driver/compile_context.h"
#include "driver/specialisation.h"
#include "ir/interpreter.h"
#include "tilewright/tilewright.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tw = tilewright;

namespace {

/// The bounds of a kernel's one result, with all of its tiles of `block`.
std::vector<double> bounds_of(const tw::BoundCall& call, int64_t block = 8) {
  tw::Specialisation specialisation = tw::specialise(call.core().definition(), call.call());
  tw::ProgramArguments arguments(specialisation, call.call());
  std::vector<tw::InterpreterArgument> all = arguments.interpreter_arguments();
  std::vector<tw::Array> allocations{std::get<tw::Array>(all.back())};
  all.pop_back();
  tw::ErrorBounds bounds;
  tw::with_kernel(specialisation.tile_ir, [&](tw::KernelOp kernel) {
    tw::interpret_kernel(kernel, {block, block}, all, allocations, &bounds);
  });
  return bounds.allocations[0];
}

/// out[t] = f(x[t])
template <class F> auto pointwise(tw::DType result, F f) {
  return tw::kernel("pointwise", {"x"}, [=](tw::Tensor x) {
    auto out = tw::empty({x.size(0)}, result);
    for (auto tile : tw::tile(x.size(0))) out[tile] = f(x[tile]);
    return out;
  });
}

tw::Array numbers(const std::vector<double>& values) { return tw::Array::from_vector(values).to(tw::float32); }

const double kUlp = std::ldexp(1, -23);

} // namespace

TEST(error_bounds, of_exact_results_are_zero) {
  auto kernel = pointwise(tw::float32, [](tw::Value x) { return x * x - tw::maximum(x, 3) + tw::floor(x / 2); });
  for (double bound : bounds_of(kernel.bind(numbers({-4, -1, 0, 2, 7, 100})))) EXPECT_EQ(bound, 0);
}

TEST(error_bounds, of_a_rounded_result_are_an_ulp) {
  auto kernel = pointwise(tw::float32, [](tw::Value x) { return x / 3; });
  std::vector<double> bounds = bounds_of(kernel.bind(numbers({3, 4})));
  EXPECT_EQ(bounds[0], 0);
  EXPECT_EQ(bounds[1], kUlp);
}

TEST(error_bounds, grow_as_an_operation_magnifies) {
  // The quotient is off by an ulp of 1/3; the exponential makes it exp(100 / 3) * 100 times that.
  auto kernel = pointwise(tw::float32, [](tw::Value x) { return tw::exp(x / 3 * 100); });
  double bound = bounds_of(kernel.bind(numbers({1})))[0], value = std::exp(100.0 / 3);
  EXPECT_GT(bound, value * 100 / 3 * kUlp / 4);
  EXPECT_LT(bound, value * 100 * kUlp);
}

TEST(error_bounds, survive_cancellation) {
  auto kernel = pointwise(tw::float32, [](tw::Value x) { return x / 3 - x / 3 * 0.99999; });
  double bound = bounds_of(kernel.bind(numbers({1})))[0];
  EXPECT_GE(bound, kUlp / 4) << "relative to the small result this is large";
}

TEST(error_bounds, are_infinite_where_a_comparison_could_go_either_way) {
  auto kernel = pointwise(tw::boolean, [](tw::Value x) { return x / 3 * 3 == x; });
  EXPECT_EQ(bounds_of(kernel.bind(numbers({7})))[0], HUGE_VAL);
  auto far = pointwise(tw::boolean, [](tw::Value x) { return x / 3 > x; });
  EXPECT_EQ(bounds_of(far.bind(numbers({7})))[0], 0);
}

TEST(error_bounds, are_infinite_at_a_pole_and_one_at_a_step) {
  auto pole = pointwise(tw::float32, [](tw::Value x) { return 1 / (x / 3 * 3 - x); });
  EXPECT_EQ(bounds_of(pole.bind(numbers({7})))[0], HUGE_VAL);
  auto step = pointwise(tw::float32, [](tw::Value x) { return tw::floor(x / 3 + 0.1 - 0.1); });
  EXPECT_GE(bounds_of(step.bind(numbers({6})))[0], 1);
}

TEST(error_bounds, of_a_choice_follow_what_is_taken) {
  auto kernel = pointwise(tw::float32, [](tw::Value x) { return tw::where(x > 5, x, x / 3); });
  std::vector<double> bounds = bounds_of(kernel.bind(numbers({7, 4})));
  EXPECT_EQ(bounds[0], 0);
  EXPECT_GT(bounds[1], 0);
}

TEST(error_bounds, of_sums_count_terms_unless_all_is_exact) {
  auto kernel = tw::kernel("total", {"x"}, [](tw::Tensor x) {
    auto out = tw::empty({1}, tw::float32);
    for (auto tile : tw::tile(1)) out[tile] = tw::sum(x[tw::_]);
    return out;
  });
  EXPECT_EQ(bounds_of(kernel.bind(tw::Array::randint(-4, 5, {100}, 1, tw::float32)))[0], 0);
  double bound = bounds_of(kernel.bind(tw::Array::rand({100}, 1)))[0];
  EXPECT_GT(bound, 100 * 20 * kUlp / 2);
  EXPECT_LT(bound, 100 * 100 * kUlp);
}

TEST(error_bounds, of_an_extremum_are_those_of_its_terms) {
  auto kernel = tw::kernel("largest", {"x"}, [](tw::Tensor x) {
    auto out = tw::empty({1}, tw::float32);
    for (auto tile : tw::tile(1)) out[tile] = tw::amax(x[tw::_] / 3);
    return out;
  });
  double bound = bounds_of(kernel.bind(numbers({1, 2, 4})))[0];
  EXPECT_GT(bound, 0);
  EXPECT_LE(bound, kUlp);
}

TEST(error_bounds, go_through_memory) {
  auto kernel = tw::kernel("twice", {"x"}, [](tw::Tensor x) {
    auto out = tw::empty({x.size(0)}, tw::float32);
    for (auto tile : tw::tile(x.size(0))) {
      out[tile] = x[tile] / 3;
      out[tile] = out[tile] * 1;
    }
    return out;
  });
  double bound = bounds_of(kernel.bind(numbers({4})))[0];
  EXPECT_GT(bound, 1.1 * kUlp) << "of the quotient, which was stored, and of the product, whose operand is inexact";
  EXPECT_LE(bound, 2.5 * kUlp);
}
