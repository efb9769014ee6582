// Sizes and strides of arrays, as plain functions.
#pragma once

#include "tilewright/dtype.h"
#include "tilewright/error.h"
#include "tilewright/index_list.h"

#include <cstdint>

namespace tilewright {

// Strides of a row-major array without gaps; a size of 0 counts as 1, so that no stride is 0.
IndexList contiguous_strides(const IndexList& sizes);

// The bytes of a contiguous array. Throws Error where a size is negative or the bytes exceed 64 bits.
int64_t checked_bytes(const IndexList& sizes, DType dtype, const SourceLocation& location);

// What view(sizes) makes of `numel` elements: `sizes` with its -1, if any, replaced by what is left. Throws Error where
// they do not hold that many elements.
IndexList inferred_sizes(const IndexList& sizes, int64_t numel, const SourceLocation& location);

} // namespace tilewright
