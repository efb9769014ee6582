#include "backends/cpu/fuse_reductions.h"

using namespace mlir;

namespace tilewright::cpu {

// Whether lowering makes nothing of the op where it stands but scalars.
static bool is_computed_elsewhere(Operation* op, const StoragePlan& plan) {
  return is_inlinable(op) && llvm::none_of(op->getResults(), [&](Value result) {
           return plan.is_kept(result) || !plan.packed_here(result).empty();
         });
}

ReduceOp reduction_to_fuse(Value kept, const StoragePlan& plan) {
  if (!plan.packed_here(kept).empty()) return {};
  Operation* next = kept.getDefiningOp()->getNextNode();
  while (next && is_computed_elsewhere(next, plan)) next = next->getNextNode();
  auto reduce = dyn_cast_or_null<ReduceOp>(next);
  return reduce && plan.is_computed_lane_by_lane(kept, reduce) ? reduce : ReduceOp();
}

} // namespace tilewright::cpu
