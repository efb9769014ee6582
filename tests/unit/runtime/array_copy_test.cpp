// Conversions, fills and copies between layouts.
#include "runtime/convert_element.h"
#include "runtime/visit_dtype.h"
#include "support/error_of.h"
#include "tilewright/array.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tilewright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(CopyFrom, small_numbers_keep_their_value_between_all_types) {
  for (int from = 0; from < kDTypeCount; ++from)
    for (int to = 0; to < kDTypeCount; ++to) {
      Array source = Array::from_vector<float>({0, 1, 1, 0}).to(DType(from));
      EXPECT_EQ(source.to(DType(to)).to_vector<double>(), std::vector<double>({0, 1, 1, 0}))
          << name(DType(from)) << " to " << name(DType(to));
    }
}

template <class To, class From> To converted(From value) {
  Array result = Array::full({1}, value, dtype_of<From>).to(dtype_of<To>);
  return result.item<To>();
}

TEST(CopyFrom, floating_point_to_integer_truncates_and_saturates) {
  EXPECT_EQ(converted<int32_t>(2.9), 2);
  EXPECT_EQ(converted<int32_t>(-2.9), -2);
  EXPECT_EQ(converted<int8_t>(127.9f), 127);
  EXPECT_EQ(converted<int8_t>(128.0f), 127);
  EXPECT_EQ(converted<int8_t>(-1000.0), -128);
  EXPECT_EQ(converted<uint8_t>(-1.0f), 0);
  EXPECT_EQ(converted<uint8_t>(256.0), 255);
  EXPECT_EQ(converted<int32_t>(2147483647.0), 2147483647);
  EXPECT_EQ(converted<int32_t>(2147483648.0f), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(converted<int64_t>(0x1p63), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(converted<int64_t>(0x1.fffffffffffffp62), 0x7ffffffffffffc00);
  EXPECT_EQ(converted<int64_t>(-0x1p63), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(converted<int64_t>(-kInfinity), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(converted<int32_t>(std::nan("")), 0);
  EXPECT_EQ(converted<int16_t>(Half(INFINITY)), 32767);
  EXPECT_EQ(converted<int32_t>(BFloat16(3.5f)), 3);
}

TEST(CopyFrom, integers_wrap_around) {
  EXPECT_EQ(converted<int8_t>(int32_t(300)), 44);
  EXPECT_EQ(converted<uint8_t>(int64_t(-1)), 255);
  EXPECT_EQ(converted<int32_t>(int64_t(1) << 32), 0);
  EXPECT_EQ(converted<int64_t>(uint8_t(200)), 200);
}

TEST(CopyFrom, anything_but_zero_is_true) {
  EXPECT_FALSE(converted<bool>(-0.0));
  EXPECT_TRUE(converted<bool>(1e-300));
  EXPECT_TRUE(converted<bool>(std::nan("")));
  EXPECT_TRUE(converted<bool>(int32_t(256)));
  EXPECT_TRUE(converted<bool>(Half::from_bits(1)));
  EXPECT_FALSE(converted<bool>(BFloat16(-0.0f)));
  EXPECT_EQ(converted<float>(true), 1);
}

TEST(CopyFrom, rounds_once_to_sixteen_bits) {
  EXPECT_EQ(converted<Half>(1 + 0x1p-11 + 0x1p-40).bits, Half(1).bits + 1);
  EXPECT_EQ(converted<BFloat16>(int64_t(0x1010000000000001)).bits, BFloat16(0x1p60).bits + 1);
}

TEST(CopyFrom, expands_the_source) {
  Array target = Array::zeros({2, 3});
  target.copy_from(Array::from_vector<int32_t>({1, 2, 3}));
  EXPECT_EQ(target.to_vector<float>(), std::vector<float>({1, 2, 3, 1, 2, 3}));
  target.copy_from(Array::full({}, 9));
  EXPECT_EQ(target.to_vector<float>(), std::vector<float>(6, 9.0f));
  EXPECT_EQ(error_of([&] { target.copy_from(Array::zeros({2, 2})); }),
            "an array of sizes [2, 2] cannot be expanded to [2, 3]");
}

TEST(CopyFrom, source_may_overlap_the_target) {
  Array array = Array::arange(8);
  array.narrow(0, 1, 7).copy_from(array.narrow(0, 0, 7));
  EXPECT_EQ(array.to_vector<int64_t>(), std::vector<int64_t>({0, 0, 1, 2, 3, 4, 5, 6}));
  Array square = Array::arange(9).view({3, 3});
  square.copy_from(square.t());
  EXPECT_EQ(square.to_vector<int64_t>(), std::vector<int64_t>({0, 3, 6, 1, 4, 7, 2, 5, 8}));
}

TEST(CopyFrom, refuses_to_write_an_expanded_array) {
  Array expanded = Array::zeros({1, 3}).expand({2, 3});
  std::string expected = "an array of sizes [2, 3] and strides [0, 1] cannot be written: several of its indices are "
                         "one element";
  EXPECT_EQ(error_of([&] { expanded.copy_from(Array::ones({2, 3})); }), expected);
  EXPECT_EQ(error_of([&] { expanded.fill(1); }), expected);
}

// Layouts against a plain loop over indices; the large one is copied by several threads.
TEST(CopyFrom, every_layout_arrives) {
  for (int64_t scale : {1, 40}) {
    Array base = Array::randint(-1000, 1000, {3 * scale, 5, 7 * scale}, 1, int32);
    Array sources[] = {base,
                       base.transpose(0, 2),
                       base.transpose(1, 2),
                       base.slice(2, 1, 100000, 2),
                       base.permute({1, 2, 0}).narrow(1, 2, 4),
                       base.narrow(1, 0, 1).expand({3 * scale, 4, 7 * scale}),
                       base.select(1, 3).unsqueeze(0)};
    for (const Array& source : sources) {
      Array target = Array::full({source.size(2), source.size(0), source.size(1)}, -1, float64).permute({1, 2, 0});
      target.copy_from(source);
      int64_t wrong = 0;
      for (int64_t i = 0; i < source.size(0); ++i)
        for (int64_t j = 0; j < source.size(1); ++j)
          for (int64_t k = 0; k < source.size(2); ++k)
            wrong += target.at<double>({i, j, k}) != source.at<int32_t>({i, j, k});
      EXPECT_EQ(wrong, 0) << "strides " << source.stride(0) << ", " << source.stride(1) << ", " << source.stride(2);
    }
  }
}

TEST(Fill, writes_every_element_and_no_other) {
  Array array = Array::zeros({300, 400}, int16);
  array.narrow(1, 100, 200).fill(5);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 300; ++i)
    for (int64_t j = 0; j < 400; ++j) wrong += array.at<int16_t>({i, j}) != (j >= 100 && j < 300 ? 5 : 0);
  EXPECT_EQ(wrong, 0);
  array.t().fill(-2.7);
  EXPECT_TRUE(equal(array, Array::full({300, 400}, -2, int16)));
}

TEST(To, returns_the_array_itself_where_there_is_nothing_to_do) {
  Array array = Array::ones({2, 2});
  EXPECT_EQ(array.to(float32).data(), array.data());
  EXPECT_EQ(array.contiguous().data(), array.data());
  EXPECT_NE(array.clone().data(), array.data());
  EXPECT_NE(array.t().contiguous().data(), array.data());
}

} // namespace
} // namespace tilewright
