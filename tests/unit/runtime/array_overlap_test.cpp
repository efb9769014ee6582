#include "tilewright/array.h"

#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

namespace tilewright {
namespace {

TEST(Overlap, of_ranges) {
  Array array = Array::zeros({10});
  EXPECT_TRUE(overlap(array, array));
  EXPECT_TRUE(overlap(array.narrow(0, 0, 5), array.narrow(0, 4, 5)));
  EXPECT_FALSE(overlap(array.narrow(0, 0, 5), array.narrow(0, 5, 5)));
  EXPECT_FALSE(overlap(array, Array::zeros({10})));
  EXPECT_FALSE(overlap(array, Array()));
  EXPECT_FALSE(overlap(array, array.narrow(0, 3, 0)));
}

TEST(Overlap, interleaved_views_share_nothing) {
  Array matrix = Array::zeros({1000, 1000});
  EXPECT_FALSE(overlap(matrix.narrow(1, 0, 500), matrix.narrow(1, 500, 500)));
  EXPECT_TRUE(overlap(matrix.narrow(1, 0, 501), matrix.narrow(1, 500, 500)));
  EXPECT_FALSE(overlap(matrix.slice(0, 0, 1000, 2), matrix.slice(0, 1, 1000, 2)));
  EXPECT_TRUE(overlap(matrix.slice(0, 0, 1000, 2), matrix.slice(0, 0, 1000, 3)));
  EXPECT_FALSE(overlap(matrix.select(1, 3), matrix.select(1, 4)));
  EXPECT_TRUE(overlap(matrix.select(1, 3), matrix.select(0, 4)));
  EXPECT_TRUE(overlap(matrix, matrix.t()));
}

TEST(Overlap, looks_at_bytes) {
  Array wide = Array::zeros({4}, int64);
  auto* bytes = static_cast<int8_t*>(wide.data());
  Array every_eighth = Array::from_pointer(bytes + 3, {4}, {8}, int8);
  EXPECT_TRUE(overlap(wide, every_eighth));
  EXPECT_FALSE(overlap(Array::from_pointer(bytes, {4}, {2}, int32), Array::from_pointer(bytes + 4, {4}, {8}, int8)));
  EXPECT_TRUE(overlap(Array::from_pointer(bytes, {4}, {2}, int32), every_eighth));
}

std::set<const char*> bytes_of(const Array& array) {
  std::set<const char*> bytes;
  for (int64_t i = 0; i < array.size(0); ++i)
    for (int64_t j = 0; j < array.size(1); ++j) {
      auto* first = static_cast<const char*>(array[i][j].data());
      for (int64_t byte = 0; byte < size_in_bytes(array.dtype()); ++byte) bytes.insert(first + byte);
    }
  return bytes;
}

TEST(Overlap, agrees_with_listing_every_byte) {
  std::mt19937 random(1);
  std::vector<int64_t> memory(400);
  auto* middle = reinterpret_cast<char*>(memory.data() + 200);
  auto pick = [&](int low, int high) { return int64_t(low + int(random() % unsigned(high - low + 1))); };
  auto any_view = [&] {
    DType dtype = random() % 2 ? int16 : int32;
    void* data = middle + pick(-10, 10) * size_in_bytes(dtype);
    return Array::from_pointer(data, {pick(1, 4), pick(1, 4)}, {pick(-12, 12), pick(-12, 12)}, dtype);
  };
  int overlapping = 0;
  for (int i = 0; i < 3000; ++i) {
    Array a = any_view(), b = any_view();
    std::set<const char*> bytes = bytes_of(a);
    bool expected = false;
    for (const char* byte : bytes_of(b)) expected |= bytes.contains(byte);
    ASSERT_EQ(overlap(a, b), expected) << i;
    overlapping += expected;
  }
  EXPECT_GT(overlapping, 500);
  EXPECT_LT(overlapping, 2500);
}

} // namespace
} // namespace tilewright
