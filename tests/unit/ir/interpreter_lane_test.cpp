#include "ir/interpreter_lane.h"

#include "ir/context.h"

#include "mlir/IR/Builders.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;

namespace tilewright {
namespace {

class Lanes : public testing::Test {
protected:
  std::unique_ptr<MLIRContext> context_ = make_context();
  Builder types_{context_.get()};
  double round(long double exact, Type type) { return real_lane(exact, type).real; }
  int64_t wrap(int64_t exact, Type type) { return integer_lane(exact, type).integer; }
};

TEST_F(Lanes, reals_round_to_nearest_even) {
  EXPECT_EQ(round(1 + 0x1p-24L, types_.getF32Type()), 1);
  EXPECT_EQ(round(1 + 0x1.8p-23L, types_.getF32Type()), 1 + 0x1p-22);
  EXPECT_EQ(round(1 + 0x1p-8L, types_.getBF16Type()), 1);
  EXPECT_EQ(round(1 + 0x1.8p-7L, types_.getBF16Type()), 1 + 0x1p-6);
  EXPECT_EQ(round(1 + 0x1p-11L, types_.getF16Type()), 1);
  EXPECT_EQ(round(1 + 0x1p-53L, types_.getF64Type()), 1);
}

TEST_F(Lanes, reals_round_once) {
  // Just above halfway: rounding to double first would land on the tie and then go down.
  EXPECT_EQ(round(1 + 0x1p-24L + 0x1p-60L, types_.getF32Type()), 1 + 0x1p-23);
  EXPECT_EQ(round(1 + 0x1p-8L + 0x1p-60L, types_.getBF16Type()), 1 + 0x1p-7);
  EXPECT_EQ(round(-(1 + 0x1p-8L + 0x1p-60L), types_.getBF16Type()), -(1 + 0x1p-7));
  EXPECT_EQ(round(1 + 0x1p-11L - 0x1p-60L, types_.getF16Type()), 1);
  EXPECT_EQ(real_lane_from_integer((1LL << 60) + (1LL << 36) + 1, true, types_.getF32Type()).real, 0x1p60 + 0x1p37);
  EXPECT_EQ(real_lane_from_integer(-1, false, types_.getF64Type()).real, 0x1p64);
  EXPECT_EQ(real_lane_from_integer(257, true, types_.getBF16Type()).real, 256);
}

TEST_F(Lanes, reals_overflow_to_infinity_and_underflow_gradually) {
  EXPECT_EQ(round(65519, types_.getF16Type()), 65504);
  EXPECT_EQ(round(65520, types_.getF16Type()), HUGE_VAL);
  EXPECT_EQ(round(-1e40L, types_.getF32Type()), -HUGE_VAL);
  EXPECT_EQ(round(-1e4000L, types_.getBF16Type()), -HUGE_VAL);
  EXPECT_EQ(round(0x1p-25L, types_.getF16Type()), 0);
  EXPECT_EQ(round(0x1.8p-25L, types_.getF16Type()), 0x1p-24);
  EXPECT_EQ(round(0x1p-149L, types_.getF32Type()), 0x1p-149);
  EXPECT_TRUE(std::isnan(round(NAN, types_.getF16Type())));
  EXPECT_TRUE(std::signbit(round(-0.0L, types_.getBF16Type())));
}

TEST_F(Lanes, integers_wrap_around) {
  EXPECT_EQ(wrap(INT64_C(1) << 31, types_.getI32Type()), INT32_MIN);
  EXPECT_EQ(wrap(200, types_.getIntegerType(8)), -56);
  EXPECT_EQ(wrap(3, types_.getI1Type()), 1);
  EXPECT_EQ(wrap(-1, types_.getI1Type()), 1);
  EXPECT_EQ(wrap(INT64_MIN, types_.getIndexType()), INT64_MIN);
}

TEST_F(Lanes, integers_read_as_signed_or_unsigned) {
  Lane all_ones = integer_lane(-1, types_.getI32Type());
  EXPECT_EQ(as_signed(all_ones, types_.getI32Type()), -1);
  EXPECT_EQ(as_unsigned(all_ones, types_.getI32Type()), 0xffffffffu);
  Lane yes = integer_lane(1, types_.getI1Type());
  EXPECT_EQ(as_signed(yes, types_.getI1Type()), -1);
  EXPECT_EQ(as_unsigned(yes, types_.getI1Type()), 1u);
}

TEST_F(Lanes, bits_are_those_in_memory) {
  EXPECT_EQ(lane_bits({.real = 1}, types_.getF32Type()), 0x3f800000u);
  EXPECT_EQ(lane_bits({.real = -2}, types_.getBF16Type()), 0xc000u);
  EXPECT_EQ(lane_bits({.real = 0x1p-24}, types_.getF16Type()), 1u);
  EXPECT_EQ(lane_bits({.integer = -1}, types_.getI32Type()), 0xffffffffu);
  EXPECT_EQ(lane_from_bits(0x0001, types_.getF16Type()).real, 0x1p-24);
  EXPECT_EQ(lane_from_bits(0x7f80, types_.getBF16Type()).real, HUGE_VAL);
  EXPECT_EQ(lane_from_bits(0xff, types_.getIntegerType(8)).integer, -1);
}

} // namespace
} // namespace tilewright
