// Takes out of a kernel what nothing needs.
#pragma once

#include "fuzz/fuzz_kernel.h"

namespace tilewright::fuzz {

/// Values that are never read, loops of nothing, tensors and run-time numbers that no statement names. The outermost
/// loop stays.
void tidy(FuzzKernel& kernel);

} // namespace tilewright::fuzz
