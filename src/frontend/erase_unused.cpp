#include "frontend/tidy.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace tilewright {

namespace {

/// The ops and carried values that something observable depends on.
class UsedValues {
public:
  explicit UsedValues(KernelOp kernel) {
    kernel->walk([&](Operation* op) {
      auto loop = dyn_cast<ForOp>(op);
      if (isa<StoreOp, CheckOp, ReturnOp>(op) || (loop && loop.getParallel())) use(op);
    });
    while (!pending_.empty()) {
      Operation* op = pending_.pop_back_val();
      auto loop = dyn_cast<ForOp>(op);
      size_t bounds = loop ? 2 * loop.rank() : op->getNumOperands(); // carried values are used one by one
      for (Value operand : op->getOperands().take_front(bounds)) use(operand);
    }
  }

  bool contains(Operation* op) const { return ops_.contains(op); }
  bool is_carried(ForOp loop, unsigned i) const {
    auto found = carried_.find(loop);
    return found != carried_.end() && found->second[i];
  }

private:
  void use(Operation* op) {
    if (!ops_.insert(op).second) return;
    pending_.push_back(op);
    // What runs in a loop needs the loop.
    if (auto loop = dyn_cast_if_present<ForOp>(op->getParentOp())) use(loop.getOperation());
  }

  void use_carried(ForOp loop, unsigned i) {
    BitVector& used = carried_[loop];
    used.resize(loop.getInits().size());
    if (used[i]) return;
    used.set(i);
    use(loop.getInits()[i]);
    use(loop.yield().getValues()[i]);
  }

  void use(Value value) {
    if (auto result = dyn_cast<OpResult>(value)) {
      use(result.getOwner());
      if (auto loop = dyn_cast<ForOp>(result.getOwner())) use_carried(loop, result.getResultNumber());
      return;
    }
    auto argument = cast<BlockArgument>(value);
    auto loop = dyn_cast<ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument.getArgNumber() >= loop.rank()) use_carried(loop, argument.getArgNumber() - loop.rank());
  }

  llvm::DenseSet<Operation*> ops_;
  llvm::DenseMap<Operation*, BitVector> carried_;
  SmallVector<Operation*> pending_;
};

} // namespace

// Replaces a loop by one that carries only what is used.
static void drop_unused_carried(ForOp loop, const UsedValues& used) {
  BitVector dropped(loop.getInits().size());
  SmallVector<Value> initial, yielded;
  for (unsigned i = 0; i < dropped.size(); ++i) {
    if (!used.is_carried(loop, i)) {
      dropped.set(i);
      continue;
    }
    initial.push_back(loop.getInits()[i]);
    yielded.push_back(loop.yield().getValues()[i]);
  }
  if (dropped.none()) return;
  loop.yield().getValuesMutable().assign(yielded);
  OpBuilder ir(loop);
  auto slim = ir.create<ForOp>(loop.getLoc(), TypeRange(ValueRange(initial)), loop.getLower(), loop.getUpper(), initial,
                               loop.getBlocks(), loop.getParallel());
  slim.getBody().takeBody(loop.getBody());
  BitVector arguments(slim.rank());
  arguments.resize(slim.rank() + dropped.size());
  for (unsigned i : dropped.set_bits()) arguments.set(slim.rank() + i);
  unsigned next = 0;
  for (unsigned i = 0; i < dropped.size(); ++i)
    if (!dropped[i]) loop.getResult(i).replaceAllUsesWith(slim.getResult(next++));
  // What is left that uses a dropped value is itself unused and goes next.
  for (unsigned i : dropped.set_bits()) slim.block().getArgument(slim.rank() + i).dropAllUses();
  slim.block().eraseArguments(arguments);
  for (Value result : loop.getResults()) result.dropAllUses();
  loop.erase();
}

void erase_unused(KernelOp kernel) {
  UsedValues used(kernel);
  SmallVector<Operation*> unused;
  SmallVector<ForOp> loops;
  kernel->walk<WalkOrder::PreOrder>([&](Operation* op) {
    if (isa<KernelOp, YieldOp>(op)) return WalkResult::advance();
    if (!used.contains(op)) {
      unused.push_back(op);
      return WalkResult::skip(); // with all that is in it
    }
    if (auto loop = dyn_cast<ForOp>(op)) loops.push_back(loop);
    return WalkResult::advance();
  });
  for (ForOp loop : loops) drop_unused_carried(loop, used);
  for (Operation* op : unused) op->dropAllUses();
  for (Operation* op : unused) op->erase();
}

} // namespace tilewright
