// Makes a failing case smaller for as long as it fails in the same stage.
#pragma once

#include "fuzz/fuzz_case.h"

#include <functional>

namespace tilewright::fuzz {

struct ShrunkCase {
  FuzzCase fuzz_case;
  CheckReport report;
  int attempts = 0;
};

using CaseRunner = std::function<CheckReport(const FuzzCase&)>;

/// Delta debugging on the kernel's own description: statements go away or become ones(), sizes get smaller, tensors
/// plain, config options their defaults; until none of these leaves a failure. There are at most `most_attempts`.
ShrunkCase shrink(FuzzCase failing, CheckReport report, const CaseRunner& run, int most_attempts = 1500);

} // namespace tilewright::fuzz
