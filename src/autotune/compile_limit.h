// How long a candidate may take to compile: a multiple of what others took, so that one that takes minutes costs
// seconds.
#pragma once

#include <mutex>
#include <vector>

namespace tilewright {

class CompileLimit {
public:
  struct Policy {
    double factor = 4;         // times the median of those that compiled
    double least_seconds = 2;  // a limit that spares what is only unlucky
    double most_seconds = 15;  // also the limit as long as nothing is known
    size_t enough_samples = 3; // to know something
  };

  explicit CompileLimit(Policy policy) : policy_(policy) {}

  // All from any thread.
  void learn(double seconds);
  double seconds() const;

private:
  const Policy policy_;
  mutable std::mutex mutex_;
  std::vector<double> sorted_; // of those that compiled
};

} // namespace tilewright
