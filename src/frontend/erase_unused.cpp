#include "frontend/tidy.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace tilewright {

// Ops with results that are used or not one by one: loops that carry values, and branches.
static bool has_separate_results(Operation* op) { return isa<ForOp, scf::IfOp, scf::WhileOp>(op); }

namespace {

/// The values that result `i` of such an op comes from, in and before it.
SmallVector<Value, 3> sources_of(Operation* op, unsigned i) {
  if (auto loop = dyn_cast<ForOp>(op)) return {loop.getInits()[i], loop.yield().getValues()[i]};
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return {loop.getInits()[i], loop.getConditionOp().getArgs()[i], loop.getYieldOp().getResults()[i]};
  auto branch = cast<scf::IfOp>(op);
  return {branch.thenYield().getResults()[i], branch.elseYield().getResults()[i]};
}

/// What the op needs for itself, whichever of its results are used.
SmallVector<Value> operands_of(Operation* op) {
  if (auto loop = dyn_cast<ForOp>(op)) return llvm::to_vector(loop->getOperands().take_front(2 * loop.rank()));
  if (auto loop = dyn_cast<scf::WhileOp>(op)) return {loop.getConditionOp().getCondition()};
  if (auto branch = dyn_cast<scf::IfOp>(op)) return {branch.getCondition()};
  SmallVector<Value> operands(op->getOperands());
  if (isa<CombineOp, ScanOp>(op)) llvm::append_range(operands, op->getRegion(0).front().getTerminator()->getOperands());
  return operands;
}

/// The ops and the separate results that something observable depends on.
class UsedValues {
public:
  explicit UsedValues(KernelOp kernel) {
    kernel->walk([&](Operation* op) {
      auto loop = dyn_cast<ForOp>(op);
      if (isa<StoreOp, AtomicOp, AtomicCasOp, PrintOp, CheckOp, BarrierOp, ReturnOp>(op) ||
          (loop && loop.getParallel()))
        use(op);
    });
    while (!pending_.empty())
      for (Value operand : operands_of(pending_.pop_back_val())) use(operand);
  }

  bool contains(Operation* op) const { return ops_.contains(op); }
  bool is_used(Operation* op, unsigned result) const {
    auto found = results_.find(op);
    return found != results_.end() && found->second[result];
  }

private:
  void use(Operation* op) {
    if (!ops_.insert(op).second) return;
    pending_.push_back(op);
    // What runs in a loop or a branch needs it.
    if (Operation* parent = op->getParentOp(); parent && !isa<KernelOp, ModuleOp>(parent)) use(parent);
  }

  void use_result(Operation* op, unsigned i) {
    BitVector& used = results_[op];
    used.resize(op->getNumResults());
    if (used[i]) return;
    used.set(i);
    for (Value source : sources_of(op, i)) use(source);
  }

  void use(Value value) {
    if (auto result = dyn_cast<OpResult>(value)) {
      use(result.getOwner());
      if (has_separate_results(result.getOwner())) use_result(result.getOwner(), result.getResultNumber());
      return;
    }
    auto argument = cast<BlockArgument>(value);
    Operation* owner = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<ForOp>(owner);
    unsigned first = loop ? loop.rank() : 0;
    if (has_separate_results(owner) && argument.getArgNumber() >= first)
      use_result(owner, argument.getArgNumber() - first);
  }

  llvm::DenseSet<Operation*> ops_;
  llvm::DenseMap<Operation*, BitVector> results_;
  SmallVector<Operation*> pending_;
};

} // namespace

// The values at the places that are kept.
static SmallVector<Value> kept_values(ValueRange values, const BitVector& dropped) {
  SmallVector<Value> kept;
  for (auto [i, value] : llvm::enumerate(values))
    if (!dropped[i]) kept.push_back(value);
  return kept;
}

// What is left that uses a dropped argument is itself unused and goes next.
static void drop_arguments(Block& block, unsigned first, const BitVector& dropped) {
  BitVector arguments(first);
  arguments.resize(first + dropped.size());
  for (unsigned i : dropped.set_bits()) {
    arguments.set(first + i);
    block.getArgument(first + i).dropAllUses();
  }
  block.eraseArguments(arguments);
}

// Replaces an op with separate results by one that has only those that are used.
static void drop_unused_results(Operation* op, const UsedValues& used) {
  BitVector dropped(op->getNumResults());
  for (unsigned i = 0; i < dropped.size(); ++i)
    if (!used.is_used(op, i)) dropped.set(i);
  if (dropped.none()) return;

  SmallVector<Value> operands;
  if (auto loop = dyn_cast<ForOp>(op)) {
    loop.yield().getValuesMutable().assign(kept_values(loop.yield().getValues(), dropped));
    drop_arguments(loop.block(), loop.rank(), dropped);
    operands = kept_values(loop.getInits(), dropped);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    loop.getConditionOp().getArgsMutable().assign(kept_values(loop.getConditionOp().getArgs(), dropped));
    loop.getYieldOp().getResultsMutable().assign(kept_values(loop.getYieldOp().getResults(), dropped));
    drop_arguments(*loop.getBeforeBody(), 0, dropped);
    drop_arguments(*loop.getAfterBody(), 0, dropped);
    operands = kept_values(loop.getInits(), dropped);
  } else {
    auto branch = cast<scf::IfOp>(op);
    for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()})
      yield.getResultsMutable().assign(kept_values(yield.getResults(), dropped));
    operands = {branch.getCondition()};
  }

  OpBuilder ir(op);
  Operation* slim;
  SmallVector<Value> kept = kept_values(op->getResults(), dropped);
  TypeRange types = ValueRange(kept);
  if (auto loop = dyn_cast<ForOp>(op)) {
    slim = ir.create<ForOp>(op->getLoc(), types, loop.getLower(), loop.getUpper(), operands, loop.getBlocks(),
                            loop.getParallel());
  } else {
    OperationState state(op->getLoc(), op->getName().getStringRef(), operands, types);
    for (unsigned i = 0; i < op->getNumRegions(); ++i) state.addRegion();
    slim = ir.create(state);
  }
  for (auto [to, from] : llvm::zip(slim->getRegions(), op->getRegions())) to.takeBody(from);
  for (auto [from, to] : llvm::zip(kept, slim->getResults())) from.replaceAllUsesWith(to);
  for (Value result : op->getResults()) result.dropAllUses();
  op->erase();
}

// What is taken together is looked at where it is used.
static bool is_used_together(Operation* op, const UsedValues& used) {
  return isa<TogetherOp>(op) && llvm::all_of(op->getOperands(), [&](Value value) {
           return llvm::any_of(value.getUsers(), [&](Operation* user) { return used.contains(user); });
         });
}

void erase_unused(KernelOp kernel) {
  UsedValues used(kernel);
  SmallVector<Operation*> unused, separate;
  kernel->walk<WalkOrder::PreOrder>([&](Operation* op) {
    if (isa<KernelOp>(op) || op->hasTrait<OpTrait::IsTerminator>()) return WalkResult::advance();
    if (!used.contains(op) && !is_used_together(op, used)) {
      unused.push_back(op);
      return WalkResult::skip(); // with all that is in it
    }
    if (has_separate_results(op)) separate.push_back(op);
    return WalkResult::advance();
  });
  for (Operation* op : separate) drop_unused_results(op, used);
  for (Operation* op : unused) op->dropAllUses();
  for (Operation* op : unused) op->erase();
  // An else that does nothing.
  kernel->walk([](scf::IfOp branch) {
    if (branch.getNumResults() == 0 && !branch.getElseRegion().empty() &&
        branch.elseBlock()->getOperations().size() == 1)
      branch.getElseRegion().front().erase();
  });
}

} // namespace tilewright
