// The time a tuning run goes by. It is handed in, so that tests of budgets and repeats do not depend on real time.
#pragma once

#include <chrono>

namespace tilewright {

class Clock {
public:
  virtual ~Clock() = default;
  /// Since some fixed moment; never goes back.
  virtual double seconds() = 0;
};

class SteadyClock final : public Clock {
public:
  double seconds() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

} // namespace tilewright
