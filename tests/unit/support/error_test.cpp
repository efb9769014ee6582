#include "support/error.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Error, names_file_and_line_where_they_are_known) {
  try {
    fail(SourceLocation("kernel.cpp", 12, 3), "expected {}, found {}", 2, "three");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "kernel.cpp:12: expected 2, found three");
  }
}

TEST(Error, is_the_message_alone_where_the_place_is_unknown) {
  try {
    fail("cannot open {}", "x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot open x");
    EXPECT_FALSE(error.location().known());
  }
}

void refuse(SourceLocation location = std::source_location::current()) { fail(location, "refused"); }

TEST(Error, carries_the_callers_line_through_a_defaulted_parameter) {
  try {
    refuse();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.location().line, unsigned(__LINE__ - 3));
    EXPECT_STREQ(error.location().file, __FILE__);
  }
}

TEST(Error, does_not_read_braces_in_arguments_as_a_format) {
  try {
    fail("bad config: {}", "{\"block_sizes\": []}");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "bad config: {\"block_sizes\": []}");
  }
}

} // namespace
} // namespace tilewright
