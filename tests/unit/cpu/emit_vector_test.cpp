// Movement between lanes, masks, reductions.
#include "cpu/loops_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tilewright::cpu;

namespace {

// Reduces vectors of `lanes` elements.
template <class T>
T reduce(const std::string& kind, const std::string& type, const std::vector<T>& values, const CpuTarget& target,
         const std::string& initial = "") {
  std::string lanes = std::to_string(values.size()), vector = "vector<" + lanes + "x" + type + ">";
  std::string array = "memref<" + lanes + "x" + type + ">";
  LoopsKernel kernel(
      loops_function("%x: " + array + ", %y: memref<1x" + type + ">, ",
                     "%c0 = arith.constant 0 : index\n" +
                         (initial.empty() ? "" : "%init = arith.constant " + initial + " : " + type + "\n") +
                         "%v = vector.load %x[%c0] : " + array + ", " + vector + "\n%r = vector.reduction <" + kind +
                         ">, %v" + (initial.empty() ? "" : ", %init") + " : " + vector + " into " + type +
                         "\nmemref.store %r, %y[%c0] : memref<1x" + type + ">"),
      target);
  T result;
  kernel.run({const_cast<T*>(values.data()), &result});
  return result;
}

TEST(EmitVector, integer_reductions_of_every_kind_and_lane_count) {
  for (const CpuTarget& target : runnable_targets())
    for (size_t lanes : {1, 2, 3, 7, 8, 16, 24, 33}) {
      std::vector<int32_t> values;
      for (size_t i = 0; i < lanes; ++i) values.push_back(int32_t(i * 2654435761u) ^ 0x5a5a);
      auto fold = [&](auto f) {
        uint32_t result = values[0];
        for (size_t i = 1; i < lanes; ++i) result = f(result, uint32_t(values[i]));
        return int32_t(result);
      };
      auto check = [&](const char* kind, auto f) {
        EXPECT_EQ(reduce(kind, "i32", values, target), fold(f)) << kind << lanes;
      };
      check("add", [](uint32_t a, uint32_t b) { return a + b; });
      check("mul", [](uint32_t a, uint32_t b) { return a * b; });
      check("and", [](uint32_t a, uint32_t b) { return a & b; });
      check("or", [](uint32_t a, uint32_t b) { return a | b; });
      check("xor", [](uint32_t a, uint32_t b) { return a ^ b; });
      check("minui", [](uint32_t a, uint32_t b) { return std::min(a, b); });
      check("maxui", [](uint32_t a, uint32_t b) { return std::max(a, b); });
      check("minsi", [](uint32_t a, uint32_t b) { return uint32_t(std::min(int32_t(a), int32_t(b))); });
      check("maxsi", [](uint32_t a, uint32_t b) { return uint32_t(std::max(int32_t(a), int32_t(b))); });
    }
}

TEST(EmitVector, float_reductions) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const CpuTarget& target : runnable_targets())
    for (size_t lanes : {1, 5, 8, 16, 64}) {
      std::vector<float> values;
      for (size_t i = 0; i < lanes; ++i) values.push_back(float(int(i * 7 % 11) - 5));
      float sum = 0;
      for (float value : values) sum += value;
      EXPECT_EQ(reduce("add", "f32", values, target), sum);
      EXPECT_EQ(reduce("add", "f32", values, target, "100.0"), sum + 100);
      EXPECT_EQ(reduce("maximumf", "f32", values, target), *std::max_element(values.begin(), values.end()));
      EXPECT_EQ(reduce("minnumf", "f32", values, target), *std::min_element(values.begin(), values.end()));
      values[lanes / 2] = nan;
      EXPECT_TRUE(std::isnan(reduce("maximumf", "f32", values, target)));
      EXPECT_TRUE(std::isnan(reduce("minimumf", "f32", values, target)));
      if (lanes == 1) continue;
      EXPECT_FALSE(std::isnan(reduce("maxnumf", "f32", values, target)));
    }
}

TEST(EmitVector, any_and_all_of_a_mask) {
  for (const CpuTarget& target : runnable_targets()) {
    LoopsKernel kernel(loops_function("%x: memref<16xf32>, %y: memref<2xi8>, ", R"(
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant dense<0.0> : vector<16xf32>
      %v = vector.load %x[%c0] : memref<16xf32>, vector<16xf32>
      %m = arith.cmpf ogt, %v, %zero : vector<16xf32>
      %any = vector.reduction <or>, %m : vector<16xi1> into i1
      %all = vector.reduction <and>, %m : vector<16xi1> into i1
      %a = arith.extui %any : i1 to i8
      %b = arith.extui %all : i1 to i8
      memref.store %a, %y[%c0] : memref<2xi8>
      memref.store %b, %y[%c1] : memref<2xi8>)"),
                       target);
    for (int positive : {0, 1, 15, 16}) {
      std::vector<float> x(16, -1);
      std::fill(x.begin(), x.begin() + positive, 1.0f);
      std::vector<int8_t> y(2);
      kernel.run({x.data(), y.data()});
      EXPECT_EQ(y[0], positive > 0);
      EXPECT_EQ(y[1], positive == 16);
    }
  }
}

TEST(EmitVector, shuffles_of_equal_and_unequal_lengths) {
  LoopsKernel kernel(loops_function("%x: memref<12xi32>, %y: memref<8xi32>, %z: memref<4xi32>, ", R"(
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %a = vector.load %x[%c0] : memref<12xi32>, vector<8xi32>
    %b = vector.load %x[%c8] : memref<12xi32>, vector<4xi32>
    %low = vector.shuffle %a, %a [0, 8, 1, 9, 2, 10, 3, 11] : vector<8xi32>, vector<8xi32>
    %mixed = vector.shuffle %b, %a [3, 4, 0, 11] : vector<4xi32>, vector<8xi32>
    vector.store %low, %y[%c0] : memref<8xi32>, vector<8xi32>
    vector.store %mixed, %z[%c0] : memref<4xi32>, vector<4xi32>)"));
  std::vector<int32_t> x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, y(8), z(4);
  kernel.run({x.data(), y.data(), z.data()});
  EXPECT_EQ(y, (std::vector<int32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(z, (std::vector<int32_t>{11, 0, 8, 7}));
}

TEST(EmitVector, single_lanes_at_constant_and_computed_positions) {
  LoopsKernel kernel(loops_function("%x: memref<4xf32>, %y: memref<8xf32>, %at: index, ", R"(
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
    %first = vector.extract %v[2] : f32 from vector<4xf32>
    %second = vector.extract %v[%at] : f32 from vector<4xf32>
    %third = vector.extractelement %v[%at : index] : vector<4xf32>
    %a = vector.insert %first, %v[0] : f32 into vector<4xf32>
    %b = vector.insert %second, %a[%at] : f32 into vector<4xf32>
    %c = vector.insertelement %third, %b[%c0 : index] : vector<4xf32>
    vector.store %c, %y[%c0] : memref<8xf32>, vector<4xf32>
    memref.store %first, %y[%c4] : memref<8xf32>
    memref.store %second, %y[%c5] : memref<8xf32>)"));
  std::vector<float> x = {10, 11, 12, 13}, y(8);
  int64_t at = 3;
  kernel.run({x.data(), y.data(), &at});
  EXPECT_EQ(y, (std::vector<float>{13, 11, 12, 13, 12, 13, 0, 0}));
}

TEST(EmitVector, broadcasts_splats_steps_and_bitcasts) {
  LoopsKernel kernel(loops_function("%y: memref<4x8xf32>, %s: memref<8xindex>, %h: memref<8xi16>, ", R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %two = arith.constant 2.0 : f32
    %one_lane = arith.constant dense<5.0> : vector<1xf32>
    %a = vector.broadcast %two : f32 to vector<8xf32>
    %b = vector.splat %two : vector<8xf32>
    %c = vector.broadcast %one_lane : vector<1xf32> to vector<8xf32>
    vector.store %a, %y[%c0, %c0] : memref<4x8xf32>, vector<8xf32>
    vector.store %b, %y[%c1, %c0] : memref<4x8xf32>, vector<8xf32>
    vector.store %c, %y[%c2, %c0] : memref<4x8xf32>, vector<8xf32>
    %step = vector.step : vector<8xindex>
    vector.store %step, %s[%c0] : memref<8xindex>, vector<8xindex>
    %w = arith.constant dense<65537> : vector<4xi32>
    %n = vector.bitcast %w : vector<4xi32> to vector<8xi16>
    vector.store %n, %h[%c0] : memref<8xi16>, vector<8xi16>)"));
  std::vector<float> y(32);
  std::vector<int64_t> s(8);
  std::vector<int16_t> h(8);
  kernel.run({y.data(), s.data(), h.data()});
  for (int i = 0; i < 24; ++i) EXPECT_EQ(y[i], i < 16 ? 2 : 5);
  EXPECT_EQ(s, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(h, std::vector<int16_t>(8, 1));
}

TEST(EmitVector, fma_rounds_once) {
  std::vector<float> a = {1 + 0x1p-12f}, c = {-1};
  auto fused = evaluate<float>("$r = math.fma $0, $0, $1 : $R", {"f32", "f32"}, "f32", a, c);
  EXPECT_EQ(fused[0], 0x1p-11f + 0x1p-24f);
}

} // namespace
