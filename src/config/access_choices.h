// What can be decided about each load and store of a kernel: the options `indexing`, `load_eviction_policies` and
// `store_eviction_policies`.
#pragma once

#include "config/backend_limits.h"
#include "ir/tile_dialect.h"

#include <string>
#include <vector>

namespace tilewright {

struct AccessChoice {
  mlir::Operation* op;            // a LoadOp or a StoreOp
  std::vector<std::string> kinds; // the ways to reach memory that make a difference, the default first; at least one
  bool walks;                     // a block of several elements, and programs or loops move on from one to the next
};

/// One for each of loads_and_stores(pinned).
llvm::SmallVector<AccessChoice> access_choices(KernelOp pinned, const BackendLimits& limits);

} // namespace tilewright
