#include "schedule/prove_bounds.h"

#include "schedule/linear_form.h"
#include "support/planted_bug.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

//===----------------------------------------------------------------------===//
// min(block, left)
//===----------------------------------------------------------------------===//

// Whether `left` is what a loop around it has still to walk, and the loop's steps of `block` end at its upper bound.
static bool is_left_of_exact_loop(const LinearForm& left, int64_t block) {
  for (auto [atom, coefficient] : left.terms) {
    auto argument = dyn_cast<BlockArgument>(atom);
    auto loop = argument ? dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    if (!loop || loop.getInductionVar() != atom || coefficient != -block) continue;
    if (getConstantIntValue(loop.getStep()) != block) continue;
    LinearForm range = LinearForm::of(loop.getUpperBound()).plus(LinearForm::of(loop.getLowerBound()), -1);
    LinearForm walked; // block * the iteration's number
    walked.terms[atom] = block;
    if ((range.is_multiple_of(block) || planted(PlantedBug::ragged_end_proven)) &&
        left.plus(walked).plus(range, -1).is_zero())
      return true;
  }
  return false;
}

static void settle_minimum(arith::MinSIOp minimum) {
  Value left = minimum.getLhs();
  std::optional<int64_t> block = getConstantIntValue(minimum.getRhs());
  if (!block) {
    block = getConstantIntValue(minimum.getLhs());
    left = minimum.getRhs();
  }
  if (!block) return;
  LinearForm form = LinearForm::of(left);
  std::optional<int64_t> least = form.minimum();
  if (planted(PlantedBug::bound_off_by_one) && least) ++*least;
  if (!(least && *least >= *block) && !is_left_of_exact_loop(form, *block)) return;
  OpBuilder builder(minimum);
  minimum.getResult().replaceAllUsesWith(builder.create<arith::ConstantIndexOp>(minimum.getLoc(), *block));
  minimum.erase();
}

//===----------------------------------------------------------------------===//
// Bounds of ops
//===----------------------------------------------------------------------===//

static bool is_whole(Value valid, Value block, int64_t dim) {
  std::optional<int64_t> lanes = getConstantIntValue(valid);
  return lanes && *lanes >= cast<RankedTensorType>(block.getType()).getDimSize(dim);
}

// Drops those of an op's bounds that limit nothing in `block`, the value they are bounds of.
template <typename Op> static void drop_whole_bounds(Op op, Value block) {
  SmallVector<Value> valid;
  SmallVector<int32_t> dims;
  for (auto [lanes, dim] : llvm::zip(op.getValid(), op.getValidDims())) {
    if (is_whole(lanes, block, dim)) continue;
    valid.push_back(lanes);
    dims.push_back(dim);
  }
  if (valid.size() == op.getValid().size()) return;
  op.getValidMutable().assign(valid);
  op.setValidDims(dims);
}

void prove_bounds(ProgramOp program) {
  SmallVector<arith::MinSIOp> minimums; // those of outer tiles first, since inner ones may lie in them
  program.walk<WalkOrder::PreOrder>([&](arith::MinSIOp minimum) {
    if (minimum.getType().isIndex()) minimums.push_back(minimum);
  });
  for (arith::MinSIOp minimum : minimums) settle_minimum(minimum);
  program.walk([](Operation* op) {
    llvm::TypeSwitch<Operation*>(op)
        .Case<LoadOp, AtomicOp, AtomicCasOp>([](auto access) { drop_whole_bounds(access, access.getResult()); })
        .Case([](StoreOp store) { drop_whole_bounds(store, store.getValue()); })
        .Case([](ReduceOp reduce) { drop_whole_bounds(reduce, reduce.getSource()); })
        .Case([](PrintOp print) {
          if (print.getValue()) drop_whole_bounds(print, print.getValue());
        })
        .Case<CombineOp, ScanOp>([](auto op) {
          if (op.getValid() && is_whole(op.getValid(), op.getSources()[0], op.getDim())) op.getValidMutable().clear();
        })
        .Case([](DotOp dot) {
          int64_t k_dim = cast<RankedTensorType>(dot.getA().getType()).getRank() - 1;
          if (dot.getValid() && is_whole(dot.getValid(), dot.getA(), k_dim)) dot.getValidMutable().clear();
        });
  });
}

} // namespace tilewright
