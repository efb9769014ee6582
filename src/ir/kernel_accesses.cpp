#include "ir/kernel_accesses.h"

using namespace mlir;

namespace tilewright {

SmallVector<Operation*> loads_and_stores(KernelOp kernel) {
  SmallVector<Operation*> accesses;
  kernel.walk<WalkOrder::PreOrder>([&](Operation* op) {
    if (isa<LoadOp, StoreOp>(op)) accesses.push_back(op);
  });
  return accesses;
}

} // namespace tilewright
