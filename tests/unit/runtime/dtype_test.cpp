#include "tilewright/dtype.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

constexpr DType kAll[] = {boolean, int8,     uint8,   int16,   int32,         int64,
                          float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2};

TEST(DType, names_and_sizes) {
  EXPECT_EQ(name(boolean), "bool");
  EXPECT_EQ(name(bfloat16), "bfloat16");
  EXPECT_EQ(size_in_bytes(boolean), 1);
  EXPECT_EQ(size_in_bytes(bfloat16), 2);
  EXPECT_EQ(size_in_bytes(float64), 8);
}

TEST(DType, is_found_by_its_name_and_by_pytorchs_other_names) {
  for (DType dtype : kAll) EXPECT_EQ(dtype_from_name(name(dtype)), dtype);
  EXPECT_EQ(dtype_from_name("float"), float32);
  EXPECT_EQ(dtype_from_name("double"), float64);
  EXPECT_EQ(dtype_from_name("half"), float16);
  EXPECT_EQ(dtype_from_name("short"), int16);
  EXPECT_EQ(dtype_from_name("int"), int32);
  EXPECT_EQ(dtype_from_name("long"), int64);
  EXPECT_EQ(dtype_from_name("float128"), std::nullopt);
  EXPECT_EQ(dtype_from_name(""), std::nullopt);
}

TEST(DType, kinds) {
  for (DType dtype : kAll) {
    bool floating = dtype == float16 || dtype == bfloat16 || dtype == float32 || dtype == float64 || is_float8(dtype);
    EXPECT_EQ(is_floating_point(dtype), floating) << name(dtype);
    EXPECT_EQ(is_integral(dtype), !floating && dtype != boolean) << name(dtype);
    EXPECT_EQ(is_signed(dtype), dtype != boolean && dtype != uint8) << name(dtype);
  }
}

TEST(DType, of_cpp_types) {
  static_assert(dtype_of<bool> == boolean && dtype_of<int8_t> == int8 && dtype_of<uint8_t> == uint8);
  static_assert(dtype_of<int16_t> == int16 && dtype_of<int32_t> == int32 && dtype_of<int64_t> == int64);
  static_assert(dtype_of<long> == int64 && dtype_of<long long> == int64);
  static_assert(dtype_of<Half> == float16 && dtype_of<BFloat16> == bfloat16);
  static_assert(dtype_of<float> == float32 && dtype_of<const double> == float64);
  static_assert(!ElementType<char> && !ElementType<uint32_t> && !ElementType<uint64_t> && !ElementType<void*>);
  static_assert(dtype_of<Float8E4M3FN> == float8_e4m3fn && dtype_of<Float8E5M2> == float8_e5m2);
  static_assert(!ElementType<long double>);
}

// torch.promote_types, row by row. The rules (PyTorch's "Tensor Attributes", type promotion): the higher category of
// bool, integral, floating point decides, and within it the type that holds both; uint8 with a signed type gives the
// next signed type that holds both, float16 with bfloat16 gives float32.
TEST(PromoteTypes, is_pytorchs_table) {
  constexpr DType b1 = boolean, i1 = int8, u1 = uint8, i2 = int16, i4 = int32, i8 = int64;
  constexpr DType f2 = float16, bf = bfloat16, f4 = float32, f8 = float64;
  constexpr DType table[10][10] = {
      //        b1  i1  u1  i2  i4  i8  f2  bf  f4  f8
      /* b1 */ {b1, i1, u1, i2, i4, i8, f2, bf, f4, f8},
      /* i1 */ {i1, i1, i2, i2, i4, i8, f2, bf, f4, f8},
      /* u1 */ {u1, i2, u1, i2, i4, i8, f2, bf, f4, f8},
      /* i2 */ {i2, i2, i2, i2, i4, i8, f2, bf, f4, f8},
      /* i4 */ {i4, i4, i4, i4, i4, i8, f2, bf, f4, f8},
      /* i8 */ {i8, i8, i8, i8, i8, i8, f2, bf, f4, f8},
      /* f2 */ {f2, f2, f2, f2, f2, f2, f2, f4, f4, f8},
      /* bf */ {bf, bf, bf, bf, bf, bf, f4, bf, f4, f8},
      /* f4 */ {f4, f4, f4, f4, f4, f4, f4, f4, f4, f8},
      /* f8 */ {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8},
  };
  for (int a = 0; a < 10; ++a)
    for (int b = 0; b < 10; ++b)
      EXPECT_EQ(promote_types(kAll[a], kAll[b]), table[a][b]) << name(kAll[a]) << " and " << name(kAll[b]);
  // PyTorch refuses these.
  EXPECT_EQ(promote_types(float8_e5m2, float8_e5m2), float8_e5m2);
  EXPECT_EQ(promote_types(float8_e4m3fn, float8_e5m2), f4);
  EXPECT_EQ(promote_types(i8, float8_e5m2), f4);
  EXPECT_EQ(promote_types(float8_e4m3fn, f8), f8);
}

} // namespace
} // namespace tilewright
