// How arrays are made, what they say of themselves, and access to their elements.
#include "tilewright/array.h"

#include "support/error_of.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Array, new_memory_is_contiguous_and_aligned) {
  for (int64_t rows : {1, 3, 1000}) {
    Array array = Array::empty({rows, 333}, float32);
    EXPECT_EQ(array.sizes(), IndexList({rows, 333}));
    EXPECT_EQ(array.strides(), IndexList({333, 1}));
    EXPECT_EQ(array.numel(), rows * 333);
    EXPECT_TRUE(array.is_contiguous());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % 64, 0u);
    EXPECT_EQ(array.device(), Device());
  }
}

TEST(Array, default_constructed_has_no_data) {
  Array array;
  EXPECT_FALSE(array.defined());
  EXPECT_EQ(array.to_string(), "array(undefined)");
  std::string expected = "the array has no data: it was default-constructed and never assigned";
  EXPECT_EQ(error_of([&] { array.data<float>(); }), expected);
  EXPECT_EQ(error_of([&] { array.size(0); }), expected);
  EXPECT_EQ(error_of([&] { array.clone(); }), expected);
  EXPECT_EQ(error_of([&] { array.item<int>(); }), expected);
  EXPECT_EQ(error_of([&] { array.to_dlpack(); }), expected);
  EXPECT_EQ(error_of([&] { array.expand({2}); }), expected);
  EXPECT_EQ(error_of([&] { array.fill(1); }), "the array to write has no data");
  EXPECT_EQ(error_of([&] { Array::zeros({2}).copy_from(array); }), expected);
  EXPECT_EQ(error_of([&] { equal(array, array); }), "an array to compare has no data");
}

TEST(Array, known_values) {
  EXPECT_EQ(Array::zeros({2, 2}).to_vector<float>(), std::vector<float>({0, 0, 0, 0}));
  EXPECT_EQ(Array::ones({3}, bfloat16).to_vector<float>(), std::vector<float>({1, 1, 1}));
  EXPECT_EQ(Array::full({2}, int64_t(1) << 62, int64).to_vector<int64_t>(),
            std::vector<int64_t>({int64_t(1) << 62, int64_t(1) << 62}));
  EXPECT_EQ(Array::full({}, 2.5).item<float>(), 2.5f);
  EXPECT_EQ(Array::full({1}, 2.5, int32).item<int>(), 2);
  EXPECT_EQ(Array::full({1}, true, boolean).item<bool>(), true);
  EXPECT_EQ(Array::full({1}, Half(1.5f), float64).item<double>(), 1.5);
  EXPECT_EQ(Array::arange(4).to_vector<int64_t>(), std::vector<int64_t>({0, 1, 2, 3}));
  EXPECT_EQ(Array::arange(0).numel(), 0);
  EXPECT_EQ(Array::arange(1, 2, 0.25).to_vector<double>(), std::vector<double>({1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(Array::arange(3, 0, -2, int32).to_vector<int>(), std::vector<int>({3, 1}));
  EXPECT_EQ(error_of([] { Array::arange(-1); }), "arange(-1): the end is before 0");
  EXPECT_EQ(error_of([] { Array::arange(0, 1, 0); }),
            "arange(0, 1, 0): the step does not lead from the begin to the end");
  EXPECT_EQ(error_of([] { Array::arange(0, 1, -1); }),
            "arange(0, 1, -1): the step does not lead from the begin to the end");
}

TEST(Array, is_a_view_of_shared_memory) {
  Array a = Array::zeros({2, 2});
  Array b = a;
  b.at<float>({0, 1}) = 5;
  EXPECT_EQ(a.at<float>({0, 1}), 5);
  Array c = a.clone();
  c.at<float>({0, 1}) = 6;
  EXPECT_EQ(a.at<float>({0, 1}), 5);
}

TEST(Array, memory_lives_as_long_as_its_last_view) {
  auto owner = std::make_shared<std::vector<float>>(6, 1.0f);
  std::weak_ptr<std::vector<float>> watched = owner;
  Array row;
  {
    float* data = owner->data();
    Array array = Array::from_pointer(data, {2, 3}, float32, std::move(owner));
    row = array[1];
  }
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(row.to_vector<float>(), std::vector<float>({1, 1, 1}));
  row = Array();
  EXPECT_TRUE(watched.expired());
}

TEST(Array, borrows_memory_with_any_strides) {
  std::vector<int32_t> data = {0, 1, 2, 3, 4, 5};
  Array columns = Array::from_pointer(data.data(), {3, 2}, {1, 3}, int32);
  EXPECT_EQ(columns.to_vector<int32_t>(), std::vector<int32_t>({0, 3, 1, 4, 2, 5}));
  columns.at<int32_t>({2, 1}) = 50;
  EXPECT_EQ(data[5], 50);
  Array backwards = Array::from_pointer(&data[4], {5}, {-1}, int32);
  EXPECT_EQ(backwards.to_vector<int32_t>(), std::vector<int32_t>({4, 3, 2, 1, 0}));
  EXPECT_EQ(Array::from_pointer(nullptr, {0, 3}, float32).numel(), 0);
}

TEST(Array, from_pointer_refuses_what_cannot_be_an_array) {
  float data[4] = {};
  EXPECT_EQ(error_of([&] { Array::from_pointer(nullptr, {4}, float32); }), "from_pointer: the pointer is null");
  EXPECT_EQ(error_of([&] { Array::from_pointer(data, {2, 2}, {1}, float32); }), "from_pointer: 2 sizes but 1 strides");
  EXPECT_EQ(error_of([&] { Array::from_pointer(data, {-2}, float32); }),
            "an array cannot have the sizes [-2]: -2 is negative");
  std::string error = error_of([&] { Array::from_pointer(reinterpret_cast<char*>(data) + 2, {2}, float32); });
  EXPECT_TRUE(error.ends_with("is not aligned for float32 elements")) << error;
}

TEST(Array, copies_a_vector) {
  EXPECT_EQ(Array::from_vector<float>({1, 2, 3}).sizes(), IndexList({3}));
  EXPECT_EQ(Array::from_vector<float>({1, 2, 3, 4}, {2, -1}).at<float>({1, 0}), 3);
  EXPECT_EQ(Array::from_vector<bool>({true, false}).to_vector<bool>(), std::vector<bool>({true, false}));
  EXPECT_EQ(Array::from_vector<Half>({Half(1), Half(2)}).dtype(), float16);
  EXPECT_EQ(Array::from_vector<float>({}).sizes(), IndexList({0}));
  EXPECT_EQ(Array::from_vector<float>({}, {0, 3}).sizes(), IndexList({0, 3}));
  EXPECT_EQ(Array::from_vector<float>({7}, {}).rank(), 0);
  EXPECT_EQ(error_of([] { Array::from_vector<float>({1, 2, 3}, {2, 2}); }),
            "3 elements cannot be viewed as sizes [2, 2]");
}

TEST(Array, sizes_by_dimension_count_from_either_end) {
  Array array = Array::empty({2, 3, 4});
  EXPECT_EQ(array.size(0), 2);
  EXPECT_EQ(array.size(-1), 4);
  EXPECT_EQ(array.stride(-2), 4);
  EXPECT_EQ(error_of([&] { array.size(3); }), "dimension 3 does not exist in an array of rank 3: expected -3 to 2");
  EXPECT_EQ(error_of([&] { array.size(-4); }), "dimension -4 does not exist in an array of rank 3: expected -3 to 2");
}

TEST(Array, elements_are_checked) {
  Array array = Array::from_vector<int64_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(array.at<int64_t>({1, 2}), 6);
  EXPECT_EQ(array.at<int64_t>({-1, -3}), 4);
  EXPECT_EQ(array.data<int64_t>()[4], 5);
  EXPECT_EQ(error_of([&] { array.at<int64_t>({1, 3}); }),
            "index 3 of dimension 1 is out of range for an array of sizes [2, 3]");
  EXPECT_EQ(error_of([&] { array.at<int64_t>({-3, 0}); }),
            "index -3 of dimension 0 is out of range for an array of sizes [2, 3]");
  EXPECT_EQ(error_of([&] { array.at<int64_t>({1}); }), "1 indices for an array of sizes [2, 3]; expected 2");
  EXPECT_EQ(error_of([&] { array.at<float>({0, 0}); }),
            "the array's elements are int64, but were asked for as float32");
  EXPECT_EQ(error_of([&] { array.data<int32_t>(); }), "the array's elements are int64, but were asked for as int32");
}

TEST(Array, item_converts_the_only_element) {
  EXPECT_EQ(Array::full({1, 1}, 3.75).item<int>(), 3);
  EXPECT_EQ(Array::arange(5)[3].item<double>(), 3);
  EXPECT_EQ(error_of([] { Array::arange(2).item<int>(); }), "item() of an array of sizes [2]: expected one element");
}

TEST(Array, errors_name_the_callers_line) {
  Array array = Array::empty({2, 3});
  EXPECT_EQ(error_line_of([&] { array.at<float>({5, 5}); }), __LINE__);
  EXPECT_EQ(error_line_of([&] { array[7]; }), __LINE__);
  EXPECT_EQ(error_line_of([&] { array.t().view({6}); }), __LINE__);
  EXPECT_EQ(error_line_of([&] { Array::zeros({-1}); }), __LINE__);
  EXPECT_EQ(error_line_of([&] { array.copy_from(Array::zeros({4})); }), __LINE__);
  EXPECT_EQ(error_line_of([&] { allclose(array, Array::zeros({4})); }), __LINE__);
}

TEST(Array, refuses_sizes_that_no_machine_holds) {
  int64_t large = int64_t(1) << 40;
  EXPECT_EQ(error_of([&] { Array::empty({large, large}); }),
            "an array of sizes [1099511627776, 1099511627776] and float32 is too large for this machine");
  EXPECT_EQ(error_of([&] { Array::empty({large, 1 << 20}, int8); }),
            "there is no memory for an array of sizes [1099511627776, 1048576] and int8: 1152921504606846976 bytes");
  EXPECT_EQ(error_of([&] { Array::empty({2, -3}); }), "an array cannot have the sizes [2, -3]: -3 is negative");
}

TEST(Array, may_be_empty) {
  Array array = Array::empty({3, 0, 2});
  EXPECT_EQ(array.numel(), 0);
  EXPECT_TRUE(array.is_contiguous());
  EXPECT_TRUE(array.defined());
  array.fill(1);
  EXPECT_TRUE(equal(array, array.clone()));
  EXPECT_TRUE(array.transpose(0, 2).contiguous().to(int64).to_vector<int64_t>().empty());
}

TEST(Array, gaps_and_order_decide_contiguity) {
  Array array = Array::empty({4, 6});
  EXPECT_FALSE(array.t().is_contiguous());
  EXPECT_FALSE(array.narrow(1, 0, 3).is_contiguous());
  EXPECT_TRUE(array.narrow(0, 1, 2).is_contiguous());
  EXPECT_TRUE(array.narrow(0, 1, 1).t().is_contiguous()); // strides of dimensions of size 1 are of no meaning
}

} // namespace
} // namespace tilewright
