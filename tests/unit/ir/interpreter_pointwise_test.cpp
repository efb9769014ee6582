// Pointwise ops, each run as a program over whole one-dimensional arrays.
#include "ir/interpreter.h"

#include "ir/ir_text.h"
#include "support/error_of.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

const double kNan = std::nan("");
const double kInf = HUGE_VAL;

std::string type_name(DType dtype) {
  switch (dtype) {
  case boolean: return "i1";
  case int8: return "i8";
  case int32: return "i32";
  case int64: return "i64";
  case float16: return "f16";
  case bfloat16: return "bf16";
  case float32: return "f32";
  default: return "f64";
  }
}

// The arrays are %x, %y, ... and `$n` their length; `op` says what %r is.
Array apply(const std::string& op, const std::vector<Array>& operands, DType result) {
  std::string arguments, loads;
  std::vector<InterpreterArgument> values;
  int64_t n = operands[0].numel();
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string name(1, "xyz"[i]), type = type_name(operands[i].dtype());
    std::string array = "!tile.array<" + type + ", [$n], strides [1]>";
    arguments += "%" + name + "_array: " + array + ", ";
    loads += "%" + name + " = tile.load %" + name + "_array[:] : " + array + " -> tensor<$nx" + type + ">\n";
    values.push_back(operands[i]);
  }
  Array out = Array::zeros({n}, result);
  values.push_back(out);
  std::string type = type_name(result);
  IrText ir(with("tile.program @p(" + arguments + "%out: !tile.array<" + type +
                     ", [$n], strides [1]>) attributes {programs = 1 : i64} {\n" + loads + op +
                     "\ntile.store %r, %out[:] : tensor<$nx" + type + ">, !tile.array<" + type +
                     ", [$n], strides [1]>\ntile.return\n}\n",
                 {{"n", n}}));
  interpret_program(ir.program(), values);
  return out;
}

Array unary(const std::string& op, const Array& x) {
  return apply("%r = " + op + " %x : tensor<$nx" + type_name(x.dtype()) + ">", {x}, x.dtype());
}
Array binary(const std::string& op, const Array& x, const Array& y) {
  return apply("%r = " + op + " %x, %y : tensor<$nx" + type_name(x.dtype()) + ">", {x, y}, x.dtype());
}
Array cast(const std::string& op, const Array& x, DType to) {
  return apply("%r = " + op + " %x : tensor<$nx" + type_name(x.dtype()) + "> to tensor<$nx" + type_name(to) + ">", {x},
               to);
}
Array compare(const std::string& op, const Array& x, const Array& y) {
  return apply("%r = " + op + ", %x, %y : tensor<$nx" + type_name(x.dtype()) + ">", {x, y}, boolean);
}

template <class T> Array array(const std::vector<T>& values) { return Array::from_vector(values); }
using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Bools = std::vector<bool>;

TEST(InterpretPointwise, arithmetic_rounds_to_the_element_type) {
  EXPECT_EQ(binary("arith.addf", array(Floats{1, 1}), array(Floats{0x1p-24f, 0x1.8p-24f})).to_vector<float>(),
            (Floats{1, 1 + 0x1p-23f}));
  Array x = array(Doubles{1, 256, 3}).to(bfloat16), y = array(Doubles{0x1p-8, 1, 5}).to(bfloat16);
  EXPECT_EQ(binary("arith.addf", x, y).to_vector<double>(), (Doubles{1, 256, 8}));
  EXPECT_EQ(binary("arith.divf", x, y).to_vector<double>(), (Doubles{256, 256, 0.6015625}));
  EXPECT_EQ(binary("arith.mulf", array(Floats{1.1f}), array(Floats{1.1f})).to_vector<float>(), (Floats{1.1f * 1.1f}));
  EXPECT_EQ(binary("arith.divf", array(Doubles{1}), array(Doubles{3})).to_vector<double>(), (Doubles{1.0 / 3}));
}

TEST(InterpretPointwise, float64_arithmetic_is_rounded_once) {
  // In long double this sum is a tie of float64.
  EXPECT_EQ(binary("arith.addf", array(Doubles{1}), array(Doubles{0x1.000000000002p-53})).to_vector<double>(),
            (Doubles{1 + 0x1p-52}));
  Doubles a{0.1, 1e300, 3e-310, 7}, b{0.3, 1e-5, 2.5, 3};
  Doubles product = binary("arith.mulf", array(a), array(b)).to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(product[i], a[i] * b[i]);
}

TEST(InterpretPointwise, maximum_and_minimum_hand_on_nan) {
  Array x = array(Floats{1, float(kNan), 2, -0.f}), y = array(Floats{3, 1, float(kNan), 0.f});
  Floats larger = binary("arith.maximumf", x, y).to_vector<float>();
  EXPECT_EQ(larger[0], 3);
  EXPECT_TRUE(std::isnan(larger[1]));
  EXPECT_TRUE(std::isnan(larger[2]));
  EXPECT_FALSE(std::signbit(larger[3]));
  EXPECT_TRUE(std::signbit(binary("arith.minimumf", x, y).to_vector<float>()[3]));
  EXPECT_EQ(binary("arith.maxnumf", x, y).to_vector<float>(), (Floats{3, 1, 2, 0}));
}

TEST(InterpretPointwise, integers_wrap_around) {
  EXPECT_EQ(binary("arith.addi", array(Ints{INT32_MAX, -5}), array(Ints{1, 3})).to_vector<int32_t>(),
            (Ints{INT32_MIN, -2}));
  EXPECT_EQ(binary("arith.muli", array(Longs{INT64_MAX, 1 << 20}), array(Longs{2, 1 << 20})).to_vector<int64_t>(),
            (Longs{-2, 1LL << 40}));
  EXPECT_EQ(unary("math.absi", array(Ints{-3, 3, INT32_MIN})).to_vector<int32_t>(), (Ints{3, 3, INT32_MIN}));
}

TEST(InterpretPointwise, integer_divisions_round_as_they_are_named) {
  Array x = array(Ints{7, -7, 7, -7, 6}), y = array(Ints{2, 2, -2, -2, 3});
  EXPECT_EQ(binary("arith.divsi", x, y).to_vector<int32_t>(), (Ints{3, -3, -3, 3, 2}));
  EXPECT_EQ(binary("arith.floordivsi", x, y).to_vector<int32_t>(), (Ints{3, -4, -4, 3, 2}));
  EXPECT_EQ(binary("arith.ceildivsi", x, y).to_vector<int32_t>(), (Ints{4, -3, -3, 4, 2}));
  EXPECT_EQ(binary("arith.remsi", x, y).to_vector<int32_t>(), (Ints{1, -1, 1, -1, 0}));
  EXPECT_EQ(binary("arith.divui", array(Ints{-1}), array(Ints{2})).to_vector<int32_t>(), (Ints{INT32_MAX}));
  EXPECT_EQ(binary("arith.remui", array(Ints{-1}), array(Ints{16})).to_vector<int32_t>(), (Ints{15}));
  EXPECT_EQ(binary("arith.remsi", array(Ints{INT32_MIN}), array(Ints{-1})).to_vector<int32_t>(), (Ints{0}));
}

TEST(InterpretPointwise, shifts_and_bits) {
  EXPECT_EQ(binary("arith.shli", array(Ints{1, -1, 3}), array(Ints{31, 4, 0})).to_vector<int32_t>(),
            (Ints{INT32_MIN, -16, 3}));
  EXPECT_EQ(binary("arith.shrsi", array(Ints{-16, 16}), array(Ints{2, 2})).to_vector<int32_t>(), (Ints{-4, 4}));
  EXPECT_EQ(binary("arith.shrui", array(Ints{-1, 16}), array(Ints{28, 2})).to_vector<int32_t>(), (Ints{15, 4}));
  EXPECT_EQ(binary("arith.xori", array(Ints{6, -1}), array(Ints{3, -1})).to_vector<int32_t>(), (Ints{5, 0}));
  EXPECT_EQ(unary("math.ctlz", array(Ints{0, 1, -1})).to_vector<int32_t>(), (Ints{32, 31, 0}));
  EXPECT_EQ(unary("math.cttz", array(Ints{0, 8, -1})).to_vector<int32_t>(), (Ints{32, 3, 0}));
  EXPECT_EQ(unary("math.ctpop", array(Ints{0, 7, -1})).to_vector<int32_t>(), (Ints{0, 3, 32}));
}

TEST(InterpretPointwise, undefined_integers_are_refused_where_they_are_stored) {
  const std::string message = "tile.store to argument 2 writes lane [1], which holds no defined number";
  EXPECT_EQ(error_of([] { binary("arith.divsi", array(Ints{1, 1}), array(Ints{1, 0})); }), message);
  EXPECT_EQ(error_of([] { binary("arith.remui", array(Ints{1, 1}), array(Ints{1, 0})); }), message);
  EXPECT_EQ(error_of([] { binary("arith.divsi", array(Ints{1, INT32_MIN}), array(Ints{1, -1})); }), message);
  EXPECT_EQ(error_of([] { binary("arith.divsi", array(Longs{1, INT64_MIN}), array(Longs{1, -1})); }), message);
  EXPECT_EQ(error_of([] { binary("arith.shli", array(Ints{1, 1}), array(Ints{1, 32})); }), message);
  EXPECT_EQ(error_of([] { cast("arith.fptosi", array(Floats{1, 3e9f}), int32); }),
            "tile.store to argument 1 writes lane [1], which holds no defined number");
  EXPECT_EQ(error_of([] { cast("arith.fptosi", array(Doubles{1, kNan}), int64); }),
            "tile.store to argument 1 writes lane [1], which holds no defined number");
}

TEST(InterpretPointwise, select_needs_only_the_operand_it_takes) {
  const std::string quotient_or_zero = "%none = arith.constant dense<0> : tensor<$nxi32>\n"
                                       "%some = arith.cmpi ne, %y, %none : tensor<$nxi32>\n"
                                       "%q = arith.divsi %x, %y : tensor<$nxi32>\n"
                                       "%r = arith.select %some, %q, %none : tensor<$nxi1>, tensor<$nxi32>";
  EXPECT_EQ(apply(quotient_or_zero, {array(Ints{6, 6}), array(Ints{2, 0})}, int32).to_vector<int32_t>(), (Ints{3, 0}));
}

TEST(InterpretPointwise, casts) {
  EXPECT_EQ(cast("arith.fptosi", array(Floats{2.9f, -2.9f}), int32).to_vector<int32_t>(), (Ints{2, -2}));
  EXPECT_EQ(cast("arith.fptoui", array(Floats{3e9f}), int32).to_vector<int32_t>(), (Ints{int32_t(3000000000u)}));
  EXPECT_EQ(cast("arith.sitofp", array(Ints{-3, 16777217}), float32).to_vector<float>(), (Floats{-3, 16777216}));
  EXPECT_EQ(cast("arith.uitofp", array(Bools{true, false}), float32).to_vector<float>(), (Floats{1, 0}));
  EXPECT_EQ(cast("arith.extsi", array(Bools{true, false}), int32).to_vector<int32_t>(), (Ints{-1, 0}));
  EXPECT_EQ(cast("arith.extui", array(Bools{true, false}), int32).to_vector<int32_t>(), (Ints{1, 0}));
  EXPECT_EQ(cast("arith.trunci", array(Longs{(1LL << 32) + 5, -1}), int32).to_vector<int32_t>(), (Ints{5, -1}));
  EXPECT_EQ(cast("arith.truncf", array(Doubles{1 + 0x1p-8 + 0x1p-40}), bfloat16).to_vector<double>(),
            (Doubles{1 + 0x1p-7}));
  EXPECT_EQ(cast("arith.extf", array(Doubles{1.5}).to(float16), float32).to_vector<float>(), (Floats{1.5}));
  EXPECT_EQ(cast("arith.bitcast", array(Floats{1}), int32).to_vector<int32_t>(), (Ints{0x3f800000}));
}

TEST(InterpretPointwise, comparisons_of_integers) {
  Array x = array(Ints{1, -1, 2}), y = array(Ints{1, 1, 1});
  EXPECT_EQ(compare("arith.cmpi slt", x, y).to_vector<bool>(), (Bools{false, true, false}));
  EXPECT_EQ(compare("arith.cmpi ult", x, y).to_vector<bool>(), (Bools{false, false, false}));
  EXPECT_EQ(compare("arith.cmpi sge", x, y).to_vector<bool>(), (Bools{true, false, true}));
  EXPECT_EQ(compare("arith.cmpi ne", x, y).to_vector<bool>(), (Bools{false, true, true}));
}

TEST(InterpretPointwise, comparisons_of_reals_with_nan) {
  Array x = array(Doubles{1, 2, kNan}), y = array(Doubles{2, 2, 2});
  EXPECT_EQ(compare("arith.cmpf olt", x, y).to_vector<bool>(), (Bools{true, false, false}));
  EXPECT_EQ(compare("arith.cmpf ult", x, y).to_vector<bool>(), (Bools{true, false, true}));
  EXPECT_EQ(compare("arith.cmpf oeq", x, y).to_vector<bool>(), (Bools{false, true, false}));
  EXPECT_EQ(compare("arith.cmpf une", x, y).to_vector<bool>(), (Bools{true, false, true}));
  EXPECT_EQ(compare("arith.cmpf one", x, y).to_vector<bool>(), (Bools{true, false, false}));
  EXPECT_EQ(compare("arith.cmpf uno", x, x).to_vector<bool>(), (Bools{false, false, true}));
}

TEST(InterpretPointwise, functions_are_right_to_the_last_bit_or_next_to_it) {
  Doubles numbers{0.1, 0.75, 1.5, 3.25, 20};
  auto expect_close = [&](const std::string& op, auto function) {
    Doubles result = unary(op, array(numbers)).to_vector<double>();
    for (size_t i = 0; i < numbers.size(); ++i) EXPECT_DOUBLE_EQ(result[i], function(numbers[i])) << op << numbers[i];
    Array in_float = array(numbers).to(float32);
    Floats rounded = unary(op, in_float).to_vector<float>();
    for (size_t i = 0; i < numbers.size(); ++i)
      EXPECT_EQ(rounded[i], float(function(double(float(numbers[i]))))) << op << numbers[i];
  };
  expect_close("math.exp", [](double x) { return std::exp(x); });
  expect_close("math.exp2", [](double x) { return std::exp2(x); });
  expect_close("math.log", [](double x) { return std::log(x); });
  expect_close("math.log1p", [](double x) { return std::log1p(x); });
  expect_close("math.expm1", [](double x) { return std::expm1(x); });
  expect_close("math.sqrt", [](double x) { return std::sqrt(x); });
  expect_close("math.rsqrt", [](double x) { return 1 / std::sqrt(x); });
  expect_close("math.sin", [](double x) { return std::sin(x); });
  expect_close("math.tanh", [](double x) { return std::tanh(x); });
  expect_close("math.erf", [](double x) { return std::erf(x); });
  expect_close("math.floor", [](double x) { return std::floor(x); });
}

TEST(InterpretPointwise, rounding_functions) {
  Array x = array(Floats{2.5, -2.5, 3.5, -0.3f});
  EXPECT_EQ(unary("math.round", x).to_vector<float>(), (Floats{3, -3, 4, -0.f}));
  EXPECT_EQ(unary("math.roundeven", x).to_vector<float>(), (Floats{2, -2, 4, -0.f}));
  EXPECT_EQ(unary("math.trunc", x).to_vector<float>(), (Floats{2, -2, 3, -0.f}));
  EXPECT_EQ(unary("math.ceil", x).to_vector<float>(), (Floats{3, -2, 4, -0.f}));
}

TEST(InterpretPointwise, powers) {
  EXPECT_EQ(binary("math.powf", array(Doubles{2, -2, 0}), array(Doubles{0.5, 3, 0})).to_vector<double>(),
            (Doubles{std::sqrt(2.0), -8, 1}));
  EXPECT_EQ(binary("math.ipowi", array(Ints{3, -1, 2, -1, 7}), array(Ints{4, -3, -1, 2, 0})).to_vector<int32_t>(),
            (Ints{81, -1, 0, 1, 1}));
  EXPECT_EQ(apply("%r = math.fpowi %x, %y : tensor<$nxf64>, tensor<$nxi32>",
                  {array(Doubles{2, 10}), array(Ints{10, -1})}, float64)
                .to_vector<double>(),
            (Doubles{1024, 0.1}));
}

TEST(InterpretPointwise, fused_multiply_add_rounds_once) {
  // The product is halfway between two numbers of bfloat16; what is added decides, though no double can hold the sum.
  auto number = [](double value) { return array(Doubles{value}).to(bfloat16); };
  auto fma = [&](double x, double y, double z) {
    return apply("%r = math.fma %x, %y, %z : tensor<$nxbf16>", {number(x), number(y), number(z)}, bfloat16)
        .item<double>();
  };
  EXPECT_EQ(fma(1 + 0x1p-7, 1.5, 0), 1.5 + 0x1p-6);
  EXPECT_EQ(fma(1 + 0x1p-7, 1.5, -0x1p-100), 1.5 + 0x1p-7);
}

TEST(InterpretPointwise, composites_keep_their_digits_where_the_formula_would_cancel) {
  auto composite = [](const std::string& name, const Doubles& x) {
    return unary("tile.composite " + name, array(x)).to_vector<double>();
  };
  EXPECT_EQ(composite("sigmoid", {0, -kInf, kInf}), (Doubles{0.5, 0, 1}));
  EXPECT_DOUBLE_EQ(composite("sigmoid", {-40})[0], std::exp(-40.0));
  EXPECT_DOUBLE_EQ(composite("silu", {2})[0], 2 / (1 + std::exp(-2.0)));
  EXPECT_DOUBLE_EQ(composite("gelu", {1})[0], 0.8413447460685429);
  EXPECT_DOUBLE_EQ(composite("gelu", {-8})[0], double(-4 * std::erfc(8 / std::sqrt(2.0L))));
  EXPECT_DOUBLE_EQ(composite("gelu_tanh", {1})[0], 0.8411919906082768);
  EXPECT_DOUBLE_EQ(composite("softplus", {0})[0], std::log(2.0));
  EXPECT_EQ(composite("softplus", {1e6, -1e6}), (Doubles{1e6, 0}));
  EXPECT_DOUBLE_EQ(composite("erfc", {9})[0], std::erfc(9.0));
  EXPECT_EQ(composite("erfinv", {0, -1, 1}), (Doubles{0, -kInf, kInf}));
  for (double y : {-5.5, -0.25, 1e-30, 0.5, 2.0}) { // erf is flat at 5.5: y is known to a few digits only
    double x = std::erf(y);
    EXPECT_NEAR(std::erf(composite("erfinv", {x})[0]), x, 1e-16 * std::abs(x));
  }
  EXPECT_DOUBLE_EQ(composite("lgamma", {0.5})[0], std::log(std::sqrt(M_PI)));
  EXPECT_EQ(composite("lgamma", {1, -3}), (Doubles{0, kInf}));
  EXPECT_TRUE(std::isnan(composite("erfinv", {1.5})[0]));
  EXPECT_TRUE(std::isnan(composite("gelu", {kNan})[0]));
  EXPECT_TRUE(std::isnan(composite("silu", {-kInf})[0])); // as PyTorch: -inf * 0
}

TEST(InterpretPointwise, an_unknown_op_is_refused_by_name_at_its_line) {
  auto run = [] {
    apply("%r, %high = arith.mulsi_extended %x, %y : tensor<$nxi32>", {array(Ints{1}), array(Ints{1})}, int32);
  };
  EXPECT_EQ(error_of(run), "the interpreter does not know arith.mulsi_extended");
  EXPECT_EQ(error_line_of(run), 4u);
  EXPECT_EQ(error_of([] {
              apply("%r = arith.truncf %x toward_zero : tensor<$nxf64> to tensor<$nxf32>", {array(Doubles{1})},
                    float32);
            }),
            "the interpreter does not know arith.truncf with the rounding mode toward_zero");
}

} // namespace
} // namespace tilewright
