#include "autotune/interrupt.h"

#include <atomic>
#include <csignal>
#include <mutex>

namespace tilewright {
namespace {

// Written by the signal handler, in whatever thread the signal lands.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

std::mutex scopes_mutex;
int living_scopes = 0;
struct sigaction action_before;

void on_interrupt(int) { interrupted = true; }

} // namespace

InterruptScope::InterruptScope() {
  std::lock_guard lock(scopes_mutex);
  if (living_scopes++ > 0) return;
  interrupted = false;
  sigaction(SIGINT, nullptr, &action_before);
  if (action_before.sa_handler == SIG_IGN) return;
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART | SA_RESETHAND; // after the first SIGINT the default holds again: the second one kills
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

InterruptScope::~InterruptScope() {
  std::lock_guard lock(scopes_mutex);
  if (--living_scopes == 0) sigaction(SIGINT, &action_before, nullptr);
}

bool InterruptScope::requested() const { return interrupted; }

} // namespace tilewright
