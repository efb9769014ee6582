// arith on scalars and vectors: results equal those of C++, whatever the lane count and target.
#include "cpu/loops_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

const std::vector<int32_t> kInts = {7, -7, 7, -7, 0, 1, -1, 100, 2147483647, -2147483647, 13, -13};
const std::vector<int32_t> kOtherInts = {3, 3, -3, -3, 5, 1, 1, 7, 2, 2, 13, 4};

template <class T, class F> std::vector<T> apply(F f, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> results;
  for (size_t i = 0; i < a.size(); ++i) results.push_back(f(a[i], b[i]));
  return results;
}

std::vector<int32_t> integer_op(const std::string& name) {
  return evaluate<int32_t>("$r = arith." + name + " $0, $1 : $R", {"i32", "i32"}, "i32", kInts, kOtherInts);
}

TEST(EmitArith, integer_sums_and_products_wrap) {
  auto expected = [](auto f) {
    return apply<int32_t>([&](int32_t a, int32_t b) { return int32_t(f(uint32_t(a), uint32_t(b))); }, kInts,
                          kOtherInts);
  };
  EXPECT_EQ(integer_op("addi"), expected([](uint32_t a, uint32_t b) { return a + b; }));
  EXPECT_EQ(integer_op("subi"), expected([](uint32_t a, uint32_t b) { return a - b; }));
  EXPECT_EQ(integer_op("muli"), expected([](uint32_t a, uint32_t b) { return a * b; }));
}

TEST(EmitArith, bitwise_ops) {
  EXPECT_EQ(integer_op("andi"), apply<int32_t>([](int32_t a, int32_t b) { return a & b; }, kInts, kOtherInts));
  EXPECT_EQ(integer_op("ori"), apply<int32_t>([](int32_t a, int32_t b) { return a | b; }, kInts, kOtherInts));
  EXPECT_EQ(integer_op("xori"), apply<int32_t>([](int32_t a, int32_t b) { return a ^ b; }, kInts, kOtherInts));
}

TEST(EmitArith, divisions_round_as_their_names_say) {
  EXPECT_EQ(integer_op("divsi"), apply<int32_t>([](int32_t a, int32_t b) { return a / b; }, kInts, kOtherInts));
  EXPECT_EQ(integer_op("remsi"), apply<int32_t>([](int32_t a, int32_t b) { return a % b; }, kInts, kOtherInts));
  auto rounded = [](double (*round)(double)) {
    return apply<int32_t>([=](int32_t a, int32_t b) { return int32_t(round(double(a) / b)); }, kInts, kOtherInts);
  };
  EXPECT_EQ(integer_op("floordivsi"), rounded(std::floor));
  EXPECT_EQ(integer_op("ceildivsi"), rounded(std::ceil));
  auto unsigned_op = [](auto f) {
    return apply<int32_t>([=](int32_t a, int32_t b) { return int32_t(f(uint32_t(a), uint32_t(b))); }, kInts,
                          kOtherInts);
  };
  EXPECT_EQ(integer_op("divui"), unsigned_op([](uint32_t a, uint32_t b) { return a / b; }));
  EXPECT_EQ(integer_op("remui"), unsigned_op([](uint32_t a, uint32_t b) { return a % b; }));
  EXPECT_EQ(integer_op("ceildivui"), unsigned_op([](uint32_t a, uint32_t b) { return a / b + (a % b != 0); }));
}

TEST(EmitArith, shifts) {
  std::vector<int32_t> amounts = {0, 1, 2, 3, 31, 30, 4, 5, 6, 7, 8, 9};
  auto shift = [&](const std::string& name) {
    return evaluate<int32_t>("$r = arith." + name + " $0, $1 : $R", {"i32", "i32"}, "i32", kInts, amounts);
  };
  EXPECT_EQ(shift("shli"),
            apply<int32_t>([](int32_t a, int32_t b) { return int32_t(uint32_t(a) << b); }, kInts, amounts));
  EXPECT_EQ(shift("shrsi"), apply<int32_t>([](int32_t a, int32_t b) { return a >> b; }, kInts, amounts));
  EXPECT_EQ(shift("shrui"),
            apply<int32_t>([](int32_t a, int32_t b) { return int32_t(uint32_t(a) >> b); }, kInts, amounts));
}

TEST(EmitArith, integer_minima_and_maxima_by_signedness) {
  EXPECT_EQ(integer_op("minsi"),
            apply<int32_t>([](int32_t a, int32_t b) { return std::min(a, b); }, kInts, kOtherInts));
  EXPECT_EQ(integer_op("maxsi"),
            apply<int32_t>([](int32_t a, int32_t b) { return std::max(a, b); }, kInts, kOtherInts));
  EXPECT_EQ(integer_op("minui"),
            apply<int32_t>([](int32_t a, int32_t b) { return int32_t(std::min(uint32_t(a), uint32_t(b))); }, kInts,
                           kOtherInts));
  EXPECT_EQ(integer_op("maxui"),
            apply<int32_t>([](int32_t a, int32_t b) { return int32_t(std::max(uint32_t(a), uint32_t(b))); }, kInts,
                           kOtherInts));
}

TEST(EmitArith, extended_products_and_sums) {
  auto part = [](const std::string& op, int which, const std::string& types) {
    std::string result = which == 0 ? "%lo" : "%hi";
    return evaluate<int32_t>("%lo, %hi = arith." + op + " $0, $1 : " + types + "\n$r = arith.ori " + result + ", " +
                                 result + " : $R",
                             {"i32", "i32"}, "i32", kInts, kOtherInts);
  };
  EXPECT_EQ(part("mulsi_extended", 1, "$R"),
            apply<int32_t>([](int32_t a, int32_t b) { return int32_t(int64_t(a) * b >> 32); }, kInts, kOtherInts));
  EXPECT_EQ(part("mului_extended", 1, "$R"),
            apply<int32_t>([](int32_t a, int32_t b) { return int32_t(uint64_t(uint32_t(a)) * uint32_t(b) >> 32); },
                           kInts, kOtherInts));
  EXPECT_EQ(part("mului_extended", 0, "$R"), integer_op("muli"));
  EXPECT_EQ(part("addui_extended", 0, "$R, $M"), integer_op("addi"));
}

TEST(EmitArith, integer_comparisons) {
  auto compare = [](const std::string& predicate) {
    return evaluate<int8_t>("%c = arith.cmpi " + predicate + ", $0, $1 : $T0\n$r = arith.extui %c : $M to $R",
                            {"i32", "i32"}, "i8", kInts, kOtherInts);
  };
  auto expected = [](auto f) {
    std::vector<int8_t> results;
    for (size_t i = 0; i < kInts.size(); ++i) results.push_back(f(kInts[i], kOtherInts[i]));
    return results;
  };
  EXPECT_EQ(compare("eq"), expected([](int32_t a, int32_t b) { return a == b; }));
  EXPECT_EQ(compare("ne"), expected([](int32_t a, int32_t b) { return a != b; }));
  EXPECT_EQ(compare("slt"), expected([](int32_t a, int32_t b) { return a < b; }));
  EXPECT_EQ(compare("sle"), expected([](int32_t a, int32_t b) { return a <= b; }));
  EXPECT_EQ(compare("sgt"), expected([](int32_t a, int32_t b) { return a > b; }));
  EXPECT_EQ(compare("sge"), expected([](int32_t a, int32_t b) { return a >= b; }));
  EXPECT_EQ(compare("ult"), expected([](uint32_t a, uint32_t b) { return a < b; }));
  EXPECT_EQ(compare("ule"), expected([](uint32_t a, uint32_t b) { return a <= b; }));
  EXPECT_EQ(compare("ugt"), expected([](uint32_t a, uint32_t b) { return a > b; }));
  EXPECT_EQ(compare("uge"), expected([](uint32_t a, uint32_t b) { return a >= b; }));
}

const std::vector<float> kFloats = {1, -2, 3.5f, 0.0f, -0.0f, kInf, -kInf, kNaN, 1, 1e-40f, 3e38f, 5};
const std::vector<float> kOtherFloats = {2, 5, -0.25f, -0.0f, 0.0f, 1, kInf, 1, kNaN, 1e-41f, 3e38f, 5};

// Bits, with every NaN the same.
std::vector<uint32_t> bits(const std::vector<float>& values) {
  std::vector<uint32_t> result;
  for (float value : values) {
    uint32_t pattern;
    std::memcpy(&pattern, &value, sizeof pattern);
    result.push_back(std::isnan(value) ? 0x7fc00000u : pattern);
  }
  return result;
}

std::vector<uint32_t> float_op(const std::string& name) {
  return bits(evaluate<float>("$r = arith." + name + " $0, $1 : $R", {"f32", "f32"}, "f32", kFloats, kOtherFloats));
}

template <class F> std::vector<uint32_t> float_expected(F f) { return bits(apply<float>(f, kFloats, kOtherFloats)); }

TEST(EmitArith, float_arithmetic) {
  EXPECT_EQ(float_op("addf"), float_expected([](float a, float b) { return a + b; }));
  EXPECT_EQ(float_op("subf"), float_expected([](float a, float b) { return a - b; }));
  EXPECT_EQ(float_op("mulf"), float_expected([](float a, float b) { return a * b; }));
  EXPECT_EQ(float_op("divf"), float_expected([](float a, float b) { return a / b; }));
  EXPECT_EQ(float_op("remf"), float_expected([](float a, float b) { return std::fmod(a, b); }));
}

TEST(EmitArith, negation_flips_the_sign_of_zero) {
  auto negated = evaluate<float>("$r = arith.negf $0 : $R", {"f32"}, "f32", kFloats);
  EXPECT_EQ(bits(negated), bits(apply<float>([](float a, float) { return -a; }, kFloats, kFloats)));
}

TEST(EmitArith, maximum_and_minimum_propagate_nan_and_order_zeros) {
  auto pick = [](float a, float b, bool larger) {
    if (std::isnan(a) || std::isnan(b)) return kNaN;
    if (a == b) return std::signbit(a) == larger ? b : a;
    return (a > b) == larger ? a : b;
  };
  EXPECT_EQ(float_op("maximumf"), float_expected([&](float a, float b) { return pick(a, b, true); }));
  EXPECT_EQ(float_op("minimumf"), float_expected([&](float a, float b) { return pick(a, b, false); }));
}

TEST(EmitArith, maxnum_and_minnum_prefer_numbers_to_nan) {
  auto larger = evaluate<float>("$r = arith.maxnumf $0, $1 : $R", {"f32", "f32"}, "f32", kFloats, kOtherFloats);
  auto smaller = evaluate<float>("$r = arith.minnumf $0, $1 : $R", {"f32", "f32"}, "f32", kFloats, kOtherFloats);
  for (size_t i = 0; i < kFloats.size(); ++i) {
    EXPECT_EQ(larger[i], std::fmax(kFloats[i], kOtherFloats[i])) << i;
    EXPECT_EQ(smaller[i], std::fmin(kFloats[i], kOtherFloats[i])) << i;
  }
}

TEST(EmitArith, float_comparisons_by_order) {
  auto compare = [](const std::string& predicate) {
    return evaluate<int8_t>("%c = arith.cmpf " + predicate + ", $0, $1 : $T0\n$r = arith.extui %c : $M to $R",
                            {"f32", "f32"}, "i8", kFloats, kOtherFloats);
  };
  auto expected = [](auto f) {
    std::vector<int8_t> results;
    for (size_t i = 0; i < kFloats.size(); ++i) results.push_back(f(kFloats[i], kOtherFloats[i]));
    return results;
  };
  auto unordered = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
  EXPECT_EQ(compare("oeq"), expected([](float a, float b) { return a == b; }));
  EXPECT_EQ(compare("olt"), expected([](float a, float b) { return a < b; }));
  EXPECT_EQ(compare("ole"), expected([](float a, float b) { return a <= b; }));
  EXPECT_EQ(compare("ogt"), expected([](float a, float b) { return a > b; }));
  EXPECT_EQ(compare("oge"), expected([](float a, float b) { return a >= b; }));
  EXPECT_EQ(compare("one"), expected([](float a, float b) { return a < b || a > b; }));
  EXPECT_EQ(compare("ord"), expected([&](float a, float b) { return !unordered(a, b); }));
  EXPECT_EQ(compare("uno"), expected([&](float a, float b) { return unordered(a, b); }));
  EXPECT_EQ(compare("ueq"), expected([&](float a, float b) { return unordered(a, b) || a == b; }));
  EXPECT_EQ(compare("ult"), expected([](float a, float b) { return !(a >= b); }));
  EXPECT_EQ(compare("ule"), expected([](float a, float b) { return !(a > b); }));
  EXPECT_EQ(compare("ugt"), expected([](float a, float b) { return !(a <= b); }));
  EXPECT_EQ(compare("uge"), expected([](float a, float b) { return !(a < b); }));
  EXPECT_EQ(compare("une"), expected([](float a, float b) { return a != b; }));
  EXPECT_EQ(compare("true"), expected([](float, float) { return true; }));
  EXPECT_EQ(compare("false"), expected([](float, float) { return false; }));
}

TEST(EmitArith, select_by_lane) {
  auto chosen = evaluate<float>("%c = arith.cmpf olt, $0, $1 : $T0\n$r = arith.select %c, $0, $1 : $M, $R",
                                {"f32", "f32"}, "f32", kFloats, kOtherFloats);
  EXPECT_EQ(bits(chosen), float_expected([](float a, float b) { return a < b ? a : b; }));
}

TEST(EmitArith, a_rounded_product_is_not_fused_with_the_sum_it_goes_into) {
  // (1 + 2^-12)^2 - 1: fused, the last bit of the square survives.
  std::vector<float> x = {1 + 0x1p-12f};
  std::string sum = "$r = arith.subf %p, $1 : $R";
  auto apart = evaluate<float>("%p = arith.mulf $0, $0 {tile.rounded} : $R\n" + sum, {"f32", "f32"}, "f32", x,
                               std::vector<float>{1});
  EXPECT_EQ(apart[0], 0x1p-11f);
}

TEST(EmitArith, dense_and_splat_constants) {
  LoopsKernel kernel(loops_function("%y: memref<8xi32>, %z: memref<4xbf16>, ", R"(
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %a = arith.constant dense<[3, 1, 4, 1]> : vector<4xi32>
    %b = arith.constant dense<-5> : vector<4xi32>
    %c = arith.constant dense<1.5> : vector<4xbf16>
    vector.store %a, %y[%c0] : memref<8xi32>, vector<4xi32>
    vector.store %b, %y[%c4] : memref<8xi32>, vector<4xi32>
    vector.store %c, %z[%c0] : memref<4xbf16>, vector<4xbf16>)"));
  std::vector<int32_t> y(8);
  std::vector<uint16_t> z(4);
  kernel.run({y.data(), z.data()});
  EXPECT_EQ(y, (std::vector<int32_t>{3, 1, 4, 1, -5, -5, -5, -5}));
  EXPECT_EQ(z, std::vector<uint16_t>(4, 0x3fc0));
}

} // namespace
