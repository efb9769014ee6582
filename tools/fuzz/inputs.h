// The arrays that fuzzed kernels run on: by seed, so that a printed test has the same.
#pragma once

#include "fuzz/fuzz_kernel.h"

#include "tilewright/array.h"

namespace tilewright::fuzz {

/// An array in some layout, with contents of some kind. Not aligned: its first element lies an element past a multiple
/// of 16 bytes.
Array input(const IndexList& sizes, DType dtype, Layout layout, Contents contents, bool aligned, uint64_t seed);

/// Those of a kernel, for each of its tensors that it does not allocate.
std::vector<Array> inputs_of(const FuzzKernel& kernel);

} // namespace tilewright::fuzz
