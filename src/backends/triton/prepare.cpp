#include "backends/triton/prepare.h"

#include "schedule/linear_form.h"
#include "schedule/simplify.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::triton {

static std::optional<bool> uniform_condition(Value condition) {
  if (auto splat = condition.getDefiningOp<SplatOp>()) condition = splat.getScalar();
  std::optional<int64_t> known = getConstantIntValue(condition);
  return known ? std::optional(*known != 0) : std::nullopt;
}

// x + 0, x ^ 0, x << 0, ...
static bool changes_nothing(Operation* op) {
  if (!isa<arith::AddIOp, arith::SubIOp, arith::XOrIOp, arith::OrIOp, arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(
          op))
    return false;
  auto splat = op->getOperand(1).getDefiningOp<SplatOp>();
  return splat && getConstantIntValue(splat.getScalar()) == 0;
}

void fold_uniform_values(ProgramOp program) {
  SmallVector<Operation*> ops;
  program.walk([&](Operation* op) {
    if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
        isa<RankedTensorType>(op->getResult(0).getType()))
      ops.push_back(op);
  });
  for (Operation* op : ops) {
    if (auto select = dyn_cast<arith::SelectOp>(op))
      if (std::optional<bool> condition = uniform_condition(select.getCondition())) {
        select.replaceAllUsesWith(*condition ? select.getTrueValue() : select.getFalseValue());
        select.erase();
        continue;
      }
    if (changes_nothing(op)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
      continue;
    }
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands()) {
      auto splat = operand.getDefiningOp<SplatOp>();
      if (!splat && isa<RankedTensorType>(operand.getType())) break;
      scalars.push_back(splat ? splat.getScalar() : operand);
    }
    if (scalars.size() != op->getNumOperands()) continue;
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    OperationState state(op->getLoc(), op->getName(), scalars, {type.getElementType()}, op->getAttrs());
    Operation* scalar = builder.create(state);
    Value value = scalar->getResult(0);
    SmallVector<Value> folded;
    if (succeeded(builder.tryFold(scalar, folded)) && folded.size() == 1) {
      value = folded[0];
      scalar->erase();
    }
    op->getResult(0).replaceAllUsesWith(builder.create<SplatOp>(op->getLoc(), type, value));
    op->erase();
  }
}

// Settles the branches by which a program finds the loop that it is of.
static void settle_branches(ProgramOp program) {
  program.walk([](arith::CmpIOp compare) {
    if (compare.getPredicate() != arith::CmpIPredicate::slt || !compare.getLhs().getType().isIndex()) return;
    LinearForm left = LinearForm::of(compare.getRhs()).plus(LinearForm::of(compare.getLhs()), -1); // positive: true
    std::optional<int64_t> least = left.minimum(), most = left.maximum();
    if (!(least && *least > 0) && !(most && *most <= 0)) return;
    OpBuilder builder(compare);
    Value known = builder.create<arith::ConstantOp>(compare.getLoc(), builder.getBoolAttr(least && *least > 0));
    compare.replaceAllUsesWith(known);
  });
  SmallVector<scf::IfOp> branches;
  program.walk([&](scf::IfOp branch) { branches.push_back(branch); });
  for (scf::IfOp branch : branches) {
    auto known = branch.getCondition().getDefiningOp<arith::ConstantOp>();
    if (!known || branch.getNumResults() > 0) continue;
    Block* taken = cast<BoolAttr>(known.getValue()).getValue() ? branch.thenBlock() : branch.elseBlock();
    if (taken)
      for (Operation& op : llvm::make_early_inc_range(taken->without_terminator())) op.moveBefore(branch);
    branch.erase();
  }
}

SmallVector<OwningOpRef<ProgramOp>> split_phases(ProgramOp program) {
  SmallVector<OwningOpRef<ProgramOp>> parts;
  std::optional<ArrayRef<int64_t>> phases = program.getPhases();
  if (!phases) {
    parts.emplace_back(cast<ProgramOp>(program->clone()));
    return parts;
  }
  int64_t first = 0;
  for (int64_t count : *phases) {
    ProgramOp part = cast<ProgramOp>(program->clone());
    parts.emplace_back(part);
    part.removePhasesAttr();
    part.setPrograms(count);
    SmallVector<ProgramIdOp> ids;
    part.walk([&](ProgramIdOp id) { ids.push_back(id); });
    for (ProgramIdOp id : ids) {
      if (first == 0) break;
      OpBuilder builder(id.getContext());
      builder.setInsertionPointAfter(id);
      Value offset = builder.create<arith::ConstantIndexOp>(id.getLoc(), first);
      auto number = builder.create<arith::AddIOp>(id.getLoc(), id, offset);
      id.getResult().replaceAllUsesExcept(number, number);
    }
    settle_branches(part);
    first += count;
  }
  return parts;
}

} // namespace tilewright::triton
