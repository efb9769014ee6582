#include "schedule/unroll_loops.h"

#include "ir/kernel_loops.h"

#include "mlir/Dialect/SCF/Utils/Utils.h"

using namespace mlir;

namespace tilewright {

void number_loops(KernelOp kernel) {
  Builder builder(kernel.getContext());
  for (auto [number, loop] : llvm::enumerate(sequential_loops(kernel)))
    loop->setAttr(kLoopNumber, builder.getI64IntegerAttr(number));
}

LogicalResult unroll_loops(ProgramOp program, ArrayRef<int64_t> factors) {
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  program.walk([&](scf::ForOp loop) { // inner ones first
    auto number = dyn_cast_or_null<IntegerAttr>(loop->removeAttr(kLoopNumber));
    if (number && number.getInt() < static_cast<int64_t>(factors.size()) && factors[number.getInt()] != 1)
      loops.emplace_back(loop, factors[number.getInt()]);
  });
  for (auto [loop, factor] : loops) {
    if (factor < 1) return loop.emitError() << "cannot be unrolled by " << factor;
    if (failed(loopUnrollByFactor(loop, factor))) return loop.emitError() << "cannot be unrolled";
  }
  return success();
}

} // namespace tilewright
