// What a person reads when a call is wrong: their line, what was found, and the cure; and nothing has been written.
#include "tilewright/tilewright.h"

#include <gtest/gtest.h>

#include <string>

namespace tw = tilewright;

namespace {

const auto scale = tw::kernel("scale", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, n] = x.sizes<2>();
  tw::check(y.size(0) == m, "x has {} rows and y has {}", m, y.size(0));
  for (auto [tile_m, tile_n] : tw::tile({m, n})) x[tile_m, tile_n] = x[tile_m, tile_n] * y[tile_m, tile_n];
});

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const tw::Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_contains(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" in: " << text;
}

} // namespace

TEST(errors, a_failed_check_names_its_line_and_values) {
  tw::Array x = tw::Array::ones({4, 3}), y = tw::Array::full({5, 3}, 2);
  expect_contains(error_of([&] { scale(x, y); }), {"errors_test.cpp:", "x has 4 rows and y has 5"});
  EXPECT_TRUE(equal(x, tw::Array::ones({4, 3})));
}

TEST(errors, an_argument_that_is_stored_to_may_not_overlap_another) {
  tw::Array memory = tw::Array::ones({8, 3});
  tw::Array x = memory.narrow(0, 0, 4), y = memory.narrow(0, 3, 4);
  expect_contains(error_of([&] { scale(x, y); }), {"errors_test.cpp:", "stores to x", "overlaps y"});
  EXPECT_TRUE(equal(memory, tw::Array::ones({8, 3})));
}

TEST(errors, an_unknown_option_is_refused_with_the_nearest) {
  tw::Array x = tw::Array::ones({4, 3}), y = tw::Array::ones({4, 3});
  auto misspelt = scale.with(tw::Config{{"block_size", {4, 4}}});
  expect_contains(error_of([&] { misspelt(x, y); }), {"errors_test.cpp:", "block_size", "block_sizes"});
}

TEST(errors, an_illegal_value_is_refused_with_the_legal_ones) {
  tw::Array x = tw::Array::ones({4, 3}), y = tw::Array::ones({4, 3});
  auto negative = scale.with(tw::Config{{"block_sizes", {-4, 4}}});
  expect_contains(error_of([&] { negative(x, y); }), {"errors_test.cpp:", "block_sizes", "-4"});
  auto unknown = scale.with(tw::Config{{"block_sizes", {4, 4}}, {"pid_type", "spiral"}});
  expect_contains(error_of([&] { unknown(x, y); }), {"spiral", "flat", "persistent_blocked"});
}

TEST(errors, a_wrong_rank_names_the_argument) {
  tw::Array x = tw::Array::ones({4}), y = tw::Array::ones({4, 3});
  expect_contains(error_of([&] { scale(x, y); }), {"errors_test.cpp:", "sizes<2>()", "rank 1"});
}
