#include "frontend/tidy.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace tilewright {

// Ops that stay where they were recorded: statements, which C++ does order.
static bool is_anchor(Operation* op) {
  return isa<StoreOp, AtomicOp, AtomicCasOp, PrintOp, ForOp, scf::IfOp, scf::WhileOp, EmptyOp, CheckOp, BarrierOp>(
             op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

namespace {

/// Ranks the ops of a block in the order in which its anchors need them.
class NeededOrder {
public:
  explicit NeededOrder(Block& block) : block_(block) {
    for (Operation& op : block)
      if (is_anchor(&op)) visit(&op);
  }
  unsigned rank(Operation* op) const { return rank_.lookup(op); }

private:
  void visit(Operation* op) {
    if (!rank_.try_emplace(op, 0).second) return;
    visit_operands(op);
    rank_[op] = next_++;
  }
  void visit_operands(Operation* op) {
    for (Value operand : op->getOperands())
      if (Operation* definition = operand.getDefiningOp(); definition && definition->getBlock() == &block_)
        visit(definition);
    // What a loop uses from outside, in the order of its body, which is ordered already.
    for (Region& region : op->getRegions())
      for (Operation& nested : region.getOps()) visit_operands(&nested);
  }

  Block& block_;
  llvm::DenseMap<Operation*, unsigned> rank_;
  unsigned next_ = 0;
};

} // namespace

static void order_block(Block& block) {
  for (Operation& op : block)
    for (Region& region : op.getRegions())
      if (!region.empty()) order_block(region.front());
  NeededOrder order(block);
  SmallVector<Operation*> between;
  for (Operation& op : llvm::make_early_inc_range(block)) {
    if (!is_anchor(&op)) {
      between.push_back(&op);
      continue;
    }
    llvm::stable_sort(between, [&](Operation* a, Operation* b) { return order.rank(a) < order.rank(b); });
    for (Operation* earlier : between) earlier->moveBefore(&op);
    between.clear();
  }
}

void order_by_operands(KernelOp kernel) { order_block(kernel.block()); }

} // namespace tilewright
