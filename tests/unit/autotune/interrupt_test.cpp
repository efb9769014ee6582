#include "autotune/interrupt.h"

#include <csignal>
#include <gtest/gtest.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewright {
namespace {

using Handler = void (*)(int);

Handler current_handler() {
  struct sigaction action{};
  sigaction(SIGINT, nullptr, &action);
  return action.sa_handler;
}

int count_of_own = 0;
void own_handler(int) { ++count_of_own; }

/// Sets a handler for the test's length.
class WithHandler {
public:
  explicit WithHandler(Handler handler) : before_(std::signal(SIGINT, handler)) {}
  ~WithHandler() { std::signal(SIGINT, before_); }

private:
  Handler before_;
};

TEST(Interrupt, the_first_one_is_noted_and_the_handler_before_comes_back) {
  WithHandler own(own_handler);
  count_of_own = 0;
  {
    InterruptScope scope;
    EXPECT_FALSE(scope.requested());
    std::raise(SIGINT);
    EXPECT_TRUE(scope.requested());
    EXPECT_EQ(current_handler(), SIG_DFL) << "the second one kills";
  }
  EXPECT_EQ(current_handler(), own_handler);
  EXPECT_EQ(count_of_own, 0);
}

TEST(Interrupt, a_new_scope_begins_anew) {
  WithHandler own(own_handler);
  {
    InterruptScope scope;
    std::raise(SIGINT);
  }
  InterruptScope scope;
  EXPECT_FALSE(scope.requested());
}

TEST(Interrupt, scopes_that_overlap_share_one_handler_until_the_last_ends) {
  WithHandler own(own_handler);
  std::optional<InterruptScope> first(std::in_place);
  std::optional<InterruptScope> second(std::in_place);
  first.reset();
  std::raise(SIGINT);
  EXPECT_TRUE(second->requested());
  second.reset();
  EXPECT_EQ(current_handler(), own_handler);
}

TEST(Interrupt, a_process_that_ignores_it_goes_on_ignoring_it) {
  WithHandler ignored(SIG_IGN);
  InterruptScope scope;
  std::raise(SIGINT);
  EXPECT_FALSE(scope.requested());
}

TEST(Interrupt, the_second_one_kills) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    InterruptScope scope;
    std::raise(SIGINT);
    std::raise(SIGINT);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

} // namespace
} // namespace tilewright
