// A run of the fuzzer over many kernels.
//
// The work is done in child processes, some hundred kernels each, so that no kernel can end the run and no memory piles
// up; this process only watches. A failure is made smaller and printed as a C++ test by the child; where the child
// itself came to its end, by the next one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tilewright::fuzz {

struct SessionOptions {
  uint64_t seed = 1;
  std::optional<int64_t> kernels;
  std::optional<double> seconds;
  int configs = 3;       // tried for each kernel
  int most_failures = 5; // after which the run ends
  int64_t first = 0;     // number of the first kernel, to see one again
  bool print_kernels = false;
};

/// Prints failures and, at the end, what was used how often. Returns the exit status: 0 where nothing failed and, after
/// 1000 kernels or more, nothing was left out.
int run_session(const SessionOptions& options);

} // namespace tilewright::fuzz
