#include "tilewright/index_list.h"

#include "support/error_of.h"

#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace tilewright {
namespace {

TEST(IndexList, is_made_from_what_callers_have) {
  int n = 3;
  IndexList from_braces = {2, n};
  EXPECT_EQ(from_braces, IndexList(std::vector<int64_t>{2, 3}));
  EXPECT_EQ(from_braces, IndexList(std::array<int64_t, 2>{2, 3}));
  EXPECT_EQ(from_braces, IndexList(std::span<const int64_t>(from_braces)));
  EXPECT_NE(from_braces, IndexList({2}));
  EXPECT_NE(from_braces, IndexList({2, 4}));
  EXPECT_TRUE(IndexList().empty());
}

TEST(IndexList, inserts_and_erases) {
  IndexList list = {1, 3};
  list.insert(1, 2);
  list.push_back(4);
  EXPECT_EQ(list, IndexList({1, 2, 3, 4}));
  list.erase(0);
  list.erase(2);
  EXPECT_EQ(list, IndexList({2, 3}));
}

TEST(IndexList, refuses_more_than_the_largest_rank) {
  EXPECT_EQ(error_of([] { IndexList({1, 1, 1, 1, 1, 1, 1, 1, 1}); }), "an array may have 8 dimensions at most, not 9");
  IndexList full = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(error_of([&] { full.push_back(9); }), "an array may have 8 dimensions at most");
  EXPECT_EQ(error_line_of([&] { full.push_back(9); }), __LINE__);
  EXPECT_EQ(full.size(), 8);
}

} // namespace
} // namespace tilewright
