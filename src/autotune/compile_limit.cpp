#include "autotune/compile_limit.h"

#include <algorithm>

namespace tilewright {

void CompileLimit::learn(double seconds) {
  std::lock_guard lock(mutex_);
  sorted_.insert(std::ranges::upper_bound(sorted_, seconds), seconds);
}

double CompileLimit::seconds() const {
  std::lock_guard lock(mutex_);
  if (sorted_.size() < policy_.enough_samples) return policy_.most_seconds;
  return std::clamp(policy_.factor * sorted_[sorted_.size() / 2], policy_.least_seconds, policy_.most_seconds);
}

} // namespace tilewright
