// The loads and stores of a kernel in tile IR. A config's lists have their entries in the order of this function's
// results, which is that of the source.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright {

/// LoadOps and StoreOps. Atomic accesses are not among them.
llvm::SmallVector<mlir::Operation*> loads_and_stores(KernelOp kernel);

/// What a config says of how an access is done goes with it wherever it is rewritten. On LoadOp and StoreOp.
template <typename Op> Op with_hints_of(Op access, Op original) {
  access.setAccessAttr(original.getAccessAttr());
  access.setEvictionAttr(original.getEvictionAttr());
  return access;
}

} // namespace tilewright
