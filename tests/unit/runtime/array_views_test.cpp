#include "support/error_of.h"
#include "tilewright/array.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

Array counting(const IndexList& sizes) {
  int64_t numel = 1;
  for (int64_t size : sizes) numel *= size;
  return Array::arange(numel).view(sizes);
}

using Values = std::vector<int64_t>;

TEST(ArrayViews, transpose_exchanges_dimensions) {
  Array array = counting({2, 3});
  EXPECT_EQ(array.t().to_vector<int64_t>(), Values({0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(counting({2, 3, 4}).transpose(0, -1).sizes(), IndexList({4, 3, 2}));
  EXPECT_EQ(counting({2, 3, 4}).transpose(0, -1).at<int64_t>({3, 1, 0}), 7);
  EXPECT_EQ(counting({3}).t().sizes(), IndexList({3}));
  EXPECT_EQ(error_of([] { counting({1, 1, 1}).t(); }), "t() takes an array of rank 2 at most, not of sizes [1, 1, 1]");
}

TEST(ArrayViews, permute_reorders_dimensions) {
  Array array = counting({2, 3, 4}).permute({2, 0, -2});
  EXPECT_EQ(array.sizes(), IndexList({4, 2, 3}));
  EXPECT_EQ(array.at<int64_t>({3, 1, 2}), 23);
  EXPECT_EQ(error_of([] { counting({2, 3}).permute({0, 0}); }), "permute([0, 0]): dimension 0 comes twice");
  EXPECT_EQ(error_of([] { counting({2, 3}).permute({0}); }),
            "permute([0]) of an array of rank 2: expected each dimension once");
}

TEST(ArrayViews, select_takes_one_index) {
  Array array = counting({2, 3});
  EXPECT_EQ(array[1].to_vector<int64_t>(), Values({3, 4, 5}));
  EXPECT_EQ(array[-1][0].item<int64_t>(), 3);
  EXPECT_EQ(array.select(1, -1).to_vector<int64_t>(), Values({2, 5}));
  EXPECT_EQ(error_of([&] { array[2]; }), "index 2 of dimension 0 is out of range for an array of sizes [2, 3]");
  EXPECT_EQ(error_of([&] { array[0][0][0]; }), "dimension 0 does not exist in an array of rank 0: expected 0 to -1");
}

TEST(ArrayViews, narrow_takes_a_range) {
  Array array = counting({2, 4});
  EXPECT_EQ(array.narrow(1, 1, 2).to_vector<int64_t>(), Values({1, 2, 5, 6}));
  EXPECT_EQ(array.narrow(1, -2, 2).to_vector<int64_t>(), Values({2, 3, 6, 7}));
  EXPECT_EQ(array.narrow(1, 4, 0).numel(), 0);
  EXPECT_EQ(error_of([&] { array.narrow(1, 3, 2); }),
            "narrow: 2 elements from 3 on do not lie within dimension 1 of an array of sizes [2, 4]");
  EXPECT_EQ(error_of([&] { array.narrow(1, 0, -1); }),
            "narrow: -1 elements from 0 on do not lie within dimension 1 of an array of sizes [2, 4]");
}

TEST(ArrayViews, slice_is_pythons) {
  Array array = counting({7});
  EXPECT_EQ(array.slice(0, 1, 6, 2).to_vector<int64_t>(), Values({1, 3, 5}));
  EXPECT_EQ(array.slice(0, 0, 7, 3).to_vector<int64_t>(), Values({0, 3, 6}));
  EXPECT_EQ(array.slice(0, -3, 100).to_vector<int64_t>(), Values({4, 5, 6}));
  EXPECT_EQ(array.slice(0, -100, -5).to_vector<int64_t>(), Values({0, 1}));
  EXPECT_EQ(array.slice(0, 5, 2).numel(), 0);
  EXPECT_EQ(array.slice(0, 1, 6, 2).slice(0, 1, 3).to_vector<int64_t>(), Values({3, 5}));
  EXPECT_EQ(error_of([&] { array.slice(0, 0, 7, 0); }), "slice: the step is 0; expected a positive one");
}

TEST(ArrayViews, unsqueeze_adds_a_dimension) {
  Array array = counting({2, 3});
  EXPECT_EQ(array.unsqueeze(0).sizes(), IndexList({1, 2, 3}));
  EXPECT_EQ(array.unsqueeze(1).sizes(), IndexList({2, 1, 3}));
  EXPECT_EQ(array.unsqueeze(-1).sizes(), IndexList({2, 3, 1}));
  EXPECT_TRUE(array.unsqueeze(1).is_contiguous());
  EXPECT_EQ(error_of([&] { array.unsqueeze(3); }),
            "dimension 3 does not exist in an array of rank 3: expected -3 to 2");
}

TEST(ArrayViews, expand_repeats) {
  Array row = counting({1, 3}).expand({2, -1});
  EXPECT_EQ(row.strides(), IndexList({0, 1}));
  EXPECT_EQ(row.to_vector<int64_t>(), Values({0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(counting({3}).expand({2, 2, 3}).at<int64_t>({1, 1, 2}), 2);
  EXPECT_EQ(counting({1, 3}).expand({0, 3}).numel(), 0);
  EXPECT_EQ(error_of([] { counting({2, 3}).expand({2, 4}); }), "an array of sizes [2, 3] cannot be expanded to [2, 4]");
  EXPECT_EQ(error_of([] { counting({2, 3}).expand({3}); }), "an array of sizes [2, 3] cannot be expanded to [3]");
  EXPECT_EQ(error_of([] { counting({3}).expand({-1, 3}); }), "an array of sizes [3] cannot be expanded to [-1, 3]");
}

TEST(ArrayViews, view_renames_the_sizes_of_a_contiguous_array) {
  Array array = counting({2, 6});
  EXPECT_EQ(array.view({3, -1}).sizes(), IndexList({3, 4}));
  EXPECT_EQ(array.view({12}).data(), array.data());
  EXPECT_EQ(counting({1}).view({}).rank(), 0);
  EXPECT_EQ(error_of([&] { array.view({5, -1}); }), "12 elements cannot be viewed as sizes [5, -1]");
  EXPECT_EQ(error_of([&] { array.view({-1, -1}); }), "12 elements cannot be viewed as sizes [-1, -1]");
  EXPECT_EQ(error_of([&] { array.view({0, -1}); }), "12 elements cannot be viewed as sizes [0, -1]");
  EXPECT_EQ(error_of([&] { array.view({13}); }), "12 elements cannot be viewed as sizes [13]");
  EXPECT_EQ(error_of([&] { array.t().view({12}); }), "view: the array of sizes [6, 2] and strides [1, 6] is not "
                                                     "contiguous; reshape() copies it where needed");
}

TEST(ArrayViews, reshape_copies_where_it_must) {
  Array array = counting({2, 3});
  EXPECT_EQ(array.reshape({3, 2}).data(), array.data());
  EXPECT_EQ(array.t().reshape({6}).to_vector<int64_t>(), Values({0, 3, 1, 4, 2, 5}));
}

TEST(ArrayViews, writing_through_a_view_writes_the_array) {
  Array array = counting({3, 3});
  array.select(1, 1).fill(-1);
  array.t().narrow(0, 2, 1).copy_from(Array::full({1}, 7, int64));
  EXPECT_EQ(array.to_vector<int64_t>(), Values({0, -1, 7, 3, -1, 7, 6, -1, 7}));
}

} // namespace
} // namespace tilewright
