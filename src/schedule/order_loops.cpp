#include "schedule/order_loops.h"

#include "ir/kernel_loops.h"
#include "ir/permutation.h"
#include "support/planted_bug.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace tilewright {

static void permute(ForOp loop, ArrayRef<int64_t> order) {
  const unsigned rank = loop.rank();
  SmallVector<Value> lower(loop.getLower()), upper(loop.getUpper());
  SmallVector<DimAttr> blocks(loop.getBlocks().getDims());
  loop.getLowerMutable().assign(applyPermutation(lower, order));
  if (!planted(PlantedBug::swapped_loop_order)) loop.getUpperMutable().assign(applyPermutation(upper, order));
  loop.setBlocksAttr(DimsAttr::get(loop.getContext(), applyPermutation(blocks, order)));

  SmallVector<Value> variables(loop.variables());
  for (auto [i, dim] : llvm::enumerate(order)) {
    Value variable = variables[dim];
    variable.replaceAllUsesWith(loop.block().insertArgument(rank + i, variable.getType(), variable.getLoc()));
  }
  loop.block().eraseArguments(0, rank);
}

LogicalResult order_loops(KernelOp kernel, ArrayRef<std::vector<int64_t>> orders) {
  SmallVector<ForOp> loops = permutable_loops(kernel);
  if (orders.size() > loops.size())
    return kernel.emitError() << "has " << loops.size() << " loops to order, " << orders.size() << " orders are given";
  for (auto [loop, order] : llvm::zip(loops, orders)) {
    if (order.size() != loop.rank() || !is_permutation(order))
      return loop.emitError() << "loop order is no permutation of " << loop.rank() << " dimensions";
    permute(loop, order);
  }
  return success();
}

} // namespace tilewright
