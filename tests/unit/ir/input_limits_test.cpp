#include "ir/input_limits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace tilewright {
namespace {

std::string repeated(const std::string& text, size_t count) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}

TEST(InputLimits, ordinary_text_is_within_them) {
  EXPECT_FALSE(find_input_problem(""));
  EXPECT_FALSE(find_input_problem("tile.kernel @k() -> (tensor<4xf32>) {\n}\n"));
  EXPECT_FALSE(find_input_problem(repeated("(", 256) + repeated(")", 256)));
  EXPECT_FALSE(find_input_problem(repeated("([]{}<>)", 1000)));
}

TEST(InputLimits, nesting_is_refused_at_its_line) {
  for (const char* open : {"(", "[", "{", "<", "([", "<(", "tuple<"}) {
    auto problem = find_input_problem(fmt::format("\n\n{}", repeated(open, 257)));
    ASSERT_TRUE(problem) << open;
    EXPECT_EQ(problem->line, 3u);
    EXPECT_EQ(problem->message,
              "more than 256 brackets are open here; IR does not nest so deeply, so one is probably not closed");
  }
}

TEST(InputLimits, what_is_no_bracket_does_not_count) {
  EXPECT_FALSE(find_input_problem(fmt::format("// {}", repeated("(", 300))));
  EXPECT_FALSE(find_input_problem(fmt::format("\"{}\"", repeated("(\\\"", 300))));
  EXPECT_FALSE(find_input_problem(repeated("<=", 300)));
}

TEST(InputLimits, what_closes_nothing_makes_no_room) {
  EXPECT_TRUE(find_input_problem(repeated("<()->()", 300)));
  EXPECT_TRUE(find_input_problem(repeated("(>", 300)));
  EXPECT_TRUE(find_input_problem(repeated("(\"\n", 300))) << "a string ends with its line";
  EXPECT_TRUE(find_input_problem(repeated("(//)\n", 300)));
}

TEST(InputLimits, text_that_is_too_long_is_refused) {
  EXPECT_FALSE(find_input_problem(std::string(size_t(1) << 20, ' ')));
  auto problem = find_input_problem(std::string((size_t(1) << 20) + 1, ' '));
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->message, "the text has 1048577 bytes, and at most 1048576 are read; split it");
}

TEST(InputLimits, bytecode_is_refused) { EXPECT_TRUE(find_input_problem("ML\xefR\1\2\3")); }

} // namespace
} // namespace tilewright
