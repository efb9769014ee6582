#include "frontend/tidy.h"

using namespace mlir;

namespace tilewright {

void number_streams(KernelOp kernel) {
  int32_t next = 0;
  kernel->walk<WalkOrder::PreOrder>([&](arith::ConstantOp constant) {
    if (!constant->hasAttr("tile.stream")) return;
    constant->removeAttr("tile.stream");
    constant.setValueAttr(IntegerAttr::get(constant.getType(), next++));
  });
}

} // namespace tilewright
