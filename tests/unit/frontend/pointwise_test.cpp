// Operators and pointwise functions: PyTorch's promotion, and what is refused.
#include "tracing.h"

namespace tw = tilewright;
using namespace tw::testing;

namespace {

using tw::Value;

TEST(Promotion, tensors_promote_as_in_pytorch) {
  auto add = [](Value x, Value y) { return x + y; };
  EXPECT_TRUE(holds(trace_pointwise(add, tw::float32, tw::float64), {"arith.extf", "arith.addf", "xf64"}));
  EXPECT_TRUE(
      holds(trace_pointwise(add, tw::bfloat16, tw::float16), {"arith.extf", "arith.extf", "arith.addf", "xf32"}));
  EXPECT_TRUE(holds(trace_pointwise(add, tw::int64, tw::bfloat16), {"arith.sitofp", "arith.addf", "xbf16"}));
  EXPECT_TRUE(holds(trace_pointwise(add, tw::int32, tw::int64), {"arith.extsi", "arith.addi", "xi64"}));
  EXPECT_TRUE(holds(trace_pointwise(add, tw::boolean, tw::int32), {"arith.extui", "arith.addi", "xi32"}));
}

TEST(Promotion, numbers_do_not_widen_within_their_kind) {
  EXPECT_TRUE(holds(trace_pointwise([](Value x) { return x + 1; }, tw::int32), {"constant 1 : i32", "arith.addi"}));
  EXPECT_TRUE(
      holds(trace_pointwise([](Value x) { return 2.5 * x; }, tw::float32), {"2.500000e+00 : f32", "arith.mulf"}));
  EXPECT_TRUE(holds(trace_pointwise([](Value x) { return x * 2; }, tw::bfloat16),
                    {"2.000000e+00 : bf16", "arith.mulf", "xbf16"}));
  EXPECT_TRUE(holds(trace_pointwise([](Value x) { return x + 0.5; }, tw::int64),
                    {"arith.sitofp", "xf32", "arith.addf", "xf32"}));
  EXPECT_TRUE(
      holds(trace_pointwise([](Value x) { return x + 1; }, tw::boolean), {"arith.extui", "i64", "arith.addi", "xi64"}));
}

TEST(Promotion, a_scalar_on_the_device_does_not_widen_a_tensor) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor s) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = x[tile] * s[0];
  });
  EXPECT_TRUE(holds(trace_of(kernel, tw::Array::empty({9}), tw::Array::empty({2}, tw::float64)),
                    {"tile.load %arg1[at %c0]", "-> f64", "arith.truncf", "f64 to f32", "tile.splat", "arith.mulf"}));
}

// 0.1 has more digits than bfloat16: PyTorch multiplies in float32 and rounds once.
TEST(Promotion, numbers_meet_16_bit_floats_in_float32) {
  EXPECT_TRUE(holds(trace_pointwise([](Value x) { return x * 0.1; }, tw::bfloat16),
                    {"arith.extf", "1.000000e-01 : f32", "arith.mulf", "xf32", "arith.truncf"}));
  EXPECT_EQ(count(trace_pointwise([](Value x) { return x > 0.1; }, tw::bfloat16), "arith.extf"), 0);
}

TEST(Promotion, runtime_numbers_sizes_and_tile_bounds_are_numbers) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Scalar<double> scale) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = x[tile] * (scale * 2) + x.size(0) - tile.begin();
  });
  EXPECT_TRUE(holds(trace_of(kernel, tw::Array::empty({9}), 0.5),
                    {"%arg1: f64", "arith.mulf %arg1, %cst : f64", "arith.truncf", "f64 to f32", "arith.index_cast",
                     "arith.sitofp", "i64 to f32", "arith.index_cast", "arith.sitofp", "i64 to f32"}));
}

TEST(Operators, of_integers) {
  EXPECT_TRUE(holds(trace_pointwise([](Value x) { return x / 2; }, tw::int32), {"arith.sitofp", "arith.divf", "xf32"}));
  EXPECT_TRUE(holds(
      trace_pointwise([](Value x) { return x % 3; }, tw::int32),
      {"arith.remsi", "arith.xori", "arith.cmpi slt", "arith.cmpi ne", "arith.andi", "arith.addi", "arith.select"}));
  EXPECT_TRUE(holds(trace_pointwise([](Value x) { return tw::fmod(x, 3); }, tw::int32), {"arith.remsi"}));
  EXPECT_TRUE(holds(trace_pointwise([](Value x) { return tw::floor_divide(x, 3); }, tw::int32), {"arith.floordivsi"}));
  EXPECT_TRUE(holds(trace_pointwise([](Value x, Value y) { return (x & y) | (x ^ 1); }, tw::int32, tw::int32),
                    {"arith.andi", "arith.xori", "arith.ori"}));
  EXPECT_TRUE(
      holds(trace_pointwise([](Value x) { return -x + ~x; }, tw::int32), {"arith.subi", "constant -1", "arith.xori"}));
}

TEST(Operators, of_bools) {
  auto both = [](auto f) { return trace_pointwise(f, tw::boolean, tw::boolean); };
  EXPECT_TRUE(holds(both([](Value x, Value y) { return x + y; }), {"arith.ori"}));
  EXPECT_TRUE(holds(both([](Value x, Value y) { return x * y; }), {"arith.andi"}));
  EXPECT_TRUE(holds(both([](Value x, Value y) { return x < y; }), {"arith.cmpi ult"}));
  EXPECT_TRUE(holds(both([](Value x, Value y) { return tw::maximum(x, y); }), {"arith.ori"}));
  EXPECT_TRUE(holds(both([](Value x, Value y) { return (!x) & ~y; }), {"arith.xori", "arith.xori", "arith.andi"}));
}

TEST(Operators, comparisons_see_nan_as_pytorch_does) {
  auto compare = [](auto f) { return trace_pointwise(f, tw::float32, tw::float32); };
  EXPECT_TRUE(holds(compare([](Value x, Value y) { return x == y; }), {"arith.cmpf oeq"}));
  EXPECT_TRUE(holds(compare([](Value x, Value y) { return x != y; }), {"arith.cmpf une"}));
  EXPECT_TRUE(holds(compare([](Value x, Value y) { return x >= y; }), {"arith.cmpf oge"}));
  EXPECT_TRUE(holds(compare([](Value x, Value y) { return tw::maximum(x, y); }), {"arith.maximumf"}));
}

TEST(Functions, one_line_each) {
  auto apply = [](auto f, tw::DType dtype = tw::float32) { return trace_pointwise(f, dtype); };
  EXPECT_TRUE(holds(apply([](Value x) { return tw::exp(x).log().sqrt(); }), {"math.exp", "math.log", "math.sqrt"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::exp(x); }, tw::int32), {"arith.sitofp", "math.exp", "xf32"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::exp(x); }, tw::bfloat16), {"math.exp", "xbf16"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::sigmoid(x); }), {"tile.composite sigmoid"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::gelu(x); }), {"tile.composite gelu %"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::gelu(x, "tanh"); }), {"tile.composite gelu_tanh"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::relu(x); }), {"arith.maximumf"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::abs(x); }, tw::int64), {"math.absi"}));
  EXPECT_EQ(count(apply([](Value x) { return tw::floor(x); }, tw::int64), "math."), 0);
  EXPECT_TRUE(holds(apply([](Value x) { return tw::round(x); }), {"math.roundeven"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::isnan(x); }), {"arith.cmpf uno"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::isinf(x); }), {"math.absf", "0x7F800000", "arith.cmpf oeq"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::isfinite(x); }), {"math.absf", "arith.cmpf olt"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::reciprocal(x); }), {"1.000000e+00", "arith.divf"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::clamp(x, -1, 1); }), {"arith.maximumf", "arith.minimumf"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::where(x > 0, x, 0); }), {"arith.cmpf ogt", "arith.select"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::atan2(x, 2); }), {"math.atan2"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::remainder(x, 2); }), {"arith.remf", "arith.select"}));
}

// What the table of operations does not say: how formulas meet 16-bit floats, numbers and several spellings.
TEST(Functions, formulas) {
  auto apply = [](auto f, tw::DType dtype = tw::float32) { return trace_pointwise(f, dtype); };
  EXPECT_TRUE(holds(apply([](Value x) { return tw::elu(x); }, tw::bfloat16),
                    {"arith.extf", "math.expm1", "xf32", "arith.select", "arith.truncf"}));
  EXPECT_EQ(count(apply([](Value x) { return tw::elu(x); }), "arith.mulf"), 0) << "alpha is 1";
  EXPECT_EQ(count(apply([](Value x) { return tw::relu6(x); }, tw::bfloat16), "arith.extf"), 0) << "exact as it is";
  EXPECT_TRUE(holds(apply([](Value x) { return tw::softplus(x); }), {"arith.cmpf ogt", "tile.composite softplus"}));
  EXPECT_TRUE(holds(apply([](Value x) { return x % 2; }), {"arith.remf", "arith.select"}));
  EXPECT_TRUE(
      holds(apply([](Value x) { return x << 3; }, tw::int32), {"arith.cmpi uge", "arith.shli", "arith.select"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::div(x, 3, "trunc"); }, tw::int32), {"arith.divsi"}));
  EXPECT_TRUE(holds(apply([](Value x) { return tw::max(x, x * 2); }), {"arith.maximumf"}));
  EXPECT_TRUE(
      holds(apply([](Value x) { return x.addcmul(x, x, 0.5).clamp_min(0); }), {"arith.mulf", "arith.maximumf"}));
  auto scalar = tw::kernel("k", [](tw::Tensor x, tw::Scalar<float> slope) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = tw::leaky_relu(x[tile], slope);
  });
  EXPECT_TRUE(holds(trace_of(scalar, tw::Array::empty({9}), 0.5f), {"tile.splat %arg1", "arith.mulf", "arith.select"}));
}

TEST(Functions, powers_known_while_recording_are_multiplied) {
  auto power = [](tw::DType dtype, auto exponent) {
    return trace_pointwise([exponent](Value x) { return tw::pow(x, exponent); }, dtype);
  };
  EXPECT_EQ(count(power(tw::float32, 3), "arith.mulf"), 2);
  EXPECT_TRUE(holds(power(tw::float32, 0.5), {"math.sqrt"}));
  EXPECT_TRUE(holds(power(tw::float32, 1.7), {"math.powf"}));
  EXPECT_TRUE(holds(power(tw::bfloat16, 3), {"arith.extf", "arith.mulf", "xf32", "arith.truncf"}));
  EXPECT_EQ(count(power(tw::int32, 5), "arith.muli"), 3);
}

TEST(Casts, convert_as_pytorch_does) {
  auto convert = [](tw::DType from, tw::DType to) { return trace_pointwise([to](Value x) { return x.to(to); }, from); };
  EXPECT_TRUE(holds(convert(tw::float32, tw::int32), {"arith.fptosi"}));
  EXPECT_TRUE(holds(convert(tw::float32, tw::boolean), {"arith.cmpf une"}));
  EXPECT_TRUE(holds(convert(tw::int32, tw::boolean), {"arith.cmpi ne"}));
  EXPECT_TRUE(holds(convert(tw::boolean, tw::float32), {"arith.uitofp"}));
  EXPECT_TRUE(holds(convert(tw::float16, tw::bfloat16), {"arith.extf", "xf32", "arith.truncf", "xbf16"}));
  EXPECT_TRUE(holds(convert(tw::int64, tw::int32), {"arith.trunci"}));
  EXPECT_EQ(count(convert(tw::float32, tw::float32), "arith."), 1) << "the loop's lower bound alone";
}

//
// Errors
//

// A kernel over a vector x and a matrix y, whose body is one expression.
template <class F> auto over(F f) {
  return tw::kernel("k", [f](tw::Tensor x, tw::Tensor y) {
    for (auto tile : tw::tile(x.size(0)))
      for (auto inner : tw::tile(y.size(1))) f(x[tile], y[tile, inner], y[inner, tw::_]);
  });
}

const tw::Array kFloats = tw::Array::empty({64}), kIntegers = tw::Array::empty({64}, tw::int32);
const tw::Array kMatrix = tw::Array::empty({64, 64});

TEST(PointwiseErrors, wrong_dtypes) {
  auto message = [](auto f, const tw::Array& x) {
    tw::testing::UserError error = error_of([&] { trace_of(over(f), x, kMatrix); });
    size_t open = error.message.find('['), close = error.message.rfind(']'); // the shape does not matter here
    return open == std::string::npos ? error.message : error.message.substr(0, open) + error.message.substr(close + 1);
  };
  EXPECT_EQ(message([](Value x, auto...) { x << 2; }, kFloats),
            "<< takes integers, found float32 and the number 2; convert it with .to(tw::int32)");
  EXPECT_EQ(message([](Value x, auto...) { tw::gelu(x); }, kIntegers),
            "tw::gelu takes floating point, found int32; convert it with .to(tw::float32)");
  EXPECT_EQ(message([](Value x, auto...) { tw::elu(x, x); }, kFloats),
            "tw::elu takes numbers after its operands, found float32");
  EXPECT_EQ(message([](Value x, auto...) { tw::div(x, 2, "round"); }, kFloats),
            "tw::div knows the rounding modes \"floor\" and \"trunc\", found \"round\"");
  EXPECT_EQ(message([](Value x, auto...) { x & 1; }, kFloats),
            "& takes integers or bools, found float32 and the number 1; compare floating point first, as in x > 0");
  EXPECT_EQ(message([](Value x, auto...) { ~x; }, kFloats),
            "~ takes integers or bools, found float32; tw::logical_not(x) is x == 0");
  EXPECT_EQ(message([](Value x, auto...) { tw::where(x, 1, 0); }, kIntegers),
            "the condition of tw::where must be bool, found int32; write a comparison, as in x != 0");
  EXPECT_EQ(message([](Value x, auto...) { tw::pow(x, -1); }, kIntegers),
            "tw::pow of integers to a negative power, -1; convert the base with .to(tw::float32)");
  EXPECT_EQ(message([](Value x, auto...) { -(x > 0); }, kFloats),
            "tw::neg takes numbers, found bool; convert it with .to(tw::int32)");
  EXPECT_EQ(message([](Value x, auto...) { (x > 0) - (x < 1); }, kFloats),
            "- does not take two bools; ^ is what differs, tw::logical_not is the opposite");
  EXPECT_EQ(message([](Value x, auto...) { x + 3000000000; }, kIntegers), "the number 3000000000 does not fit int32");
  EXPECT_EQ(message([](Value x, auto...) { tw::gelu(x, "fast"); }, kFloats),
            "tw::gelu knows the approximations \"none\" and \"tanh\", found \"fast\"");
}

TEST(PointwiseErrors, shapes_that_do_not_agree) {
  int line = 0;
  auto rows = tw::kernel("k", [&](tw::Tensor x, tw::Tensor y) {
    for (auto tile : tw::tile(x.size(0)))
      for (auto inner : tw::tile(y.size(1))) {
        line = __LINE__ + 1;
        x[tile] = x[tile] + y[inner, 0];
      }
  });
  std::string found = error_of([&] { trace_of(rows, kFloats, kMatrix); }).message;
  EXPECT_EQ(found, "the shapes of + do not agree: float32[tile of line " + std::to_string(line - 3) +
                       "] and float32[tile of line " + std::to_string(line - 2) +
                       "]. Only what is indexed by the same tile fits together; tw::none inserts a dimension that "
                       "repeats");
  auto whole = tw::kernel("k", [&](tw::Tensor x, tw::Tensor y) {
    for (auto tile : tw::tile(x.size(0))) {
      line = __LINE__ + 1;
      x[tile] = (x[tw::_] + y[0, tw::_]).sum();
    }
  });
  EXPECT_ERROR_AT(line, "the shapes of + do not agree: float32[64] and float32[32]",
                  trace_of(whole, kFloats, tw::Array::empty({64, 32})));
}

TEST(PointwiseErrors, two_dimensions_of_one_loop_are_told_apart) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    for (auto [tile_m, tile_n] : tw::tile({x.size(0), x.size(1)})) {
      line = __LINE__ + 1;
      x[tile_m, tile_n] = x[tile_m, 0] + x[tile_m, tile_n];
    }
  });
  tw::testing::UserError error = error_of([&] { trace_of(kernel, kMatrix); });
  std::string at = std::to_string(line - 2);
  EXPECT_EQ(error.message, "the shapes of + do not agree: float32[tile 0 of line " + at +
                               "] and float32[tile 0 of line " + at + ", tile 1 of line " + at +
                               "]. Only what is indexed by the same tile fits together; tw::none inserts a dimension "
                               "that repeats");
}

TEST(PointwiseErrors, device_work_belongs_into_a_loop) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    line = __LINE__ + 1;
    auto v = tw::exp(1.0);
    for (auto tile : tw::tile(x.size(0))) x[tile] = v;
  });
  EXPECT_ERROR_AT(line,
                  "tw::exp is work on the device: it belongs into a tile loop, as in for (auto tile : tw::tile(n))",
                  trace_of(kernel, kFloats));
  EXPECT_ERROR_AT(__LINE__, "tw::exp works on what a kernel is made of: it belongs into the lambda of tw::kernel",
                  tw::exp(1.0));
}

} // namespace
