#include "support/log.h"

#include "support/error_of.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

class Log : public testing::Test {
protected:
  ~Log() override { set_log_level(LogLevel::info); }

  template <class Function> std::string written_by(Function&& function) {
    testing::internal::CaptureStderr();
    function();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Log, writes_lines_to_stderr_as_they_are) {
  EXPECT_EQ(written_by([] { log_info("generation {}: {{}} {}", 3, "{braces}"); }), "generation 3: {} {braces}\n");
}

TEST_F(Log, leaves_out_what_is_below_the_level) {
  set_log_level(LogLevel::warning);
  EXPECT_EQ(log_level(), LogLevel::warning);
  EXPECT_EQ(written_by([] {
              log_info("no");
              log_warning("yes");
            }),
            "yes\n");
  set_log_level(LogLevel::off);
  EXPECT_EQ(written_by([] { log_line(LogLevel::error, "no"); }), "");
}

using LogDeathTest = Log;

// In a process of its own, since the level is read once.
TEST_F(LogDeathTest, takes_its_level_from_the_environment) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto first_use = [](const char* level) {
    setenv("TILEWRIGHT_LOG", level, 1);
    std::string error = error_of([] { log_debug("line"); });
    if (error != "nothing was thrown") fputs(error.c_str(), stderr);
    std::exit(0);
  };
  EXPECT_EXIT(first_use("debug"), testing::ExitedWithCode(0), "^line\n$");
  EXPECT_EXIT(first_use("info"), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(first_use("loud"), testing::ExitedWithCode(0),
              "TILEWRIGHT_LOG is \"loud\"; expected trace, debug, info, warning, error or off");
}

} // namespace
} // namespace tilewright
