// Other arguments for a kernel with run-time sizes, to see whether one specialisation serves them too.
#pragma once

#include "fuzz/fuzz_kernel.h"

#include <optional>

namespace tilewright::fuzz {

/// The same kernel with some of its arguments' extents larger, and those that follow from them. Nothing where none can
/// be: those of size 1 say what kernel it is, and numbers in the kernel's text go with the extents that it allocates.
std::optional<FuzzKernel> with_larger_sizes(const FuzzKernel& kernel);

} // namespace tilewright::fuzz
