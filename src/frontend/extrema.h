// What every extremum asks of what it is taken over.
#pragma once

#include "frontend/builder.h"

namespace tilewright {

/// Of no elements none is the largest. Throws Error where one of `dims` of `x` has none, as PyTorch does.
void require_elements(Builder& builder, const char* name, const Term& x, llvm::ArrayRef<int64_t> dims);

} // namespace tilewright
