#include "backends/triton/nan_reach.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tilewright::triton {
namespace {

// Ops whose result is NaN where any operand is.
bool is_strict(Operation* op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::ExtFOp, arith::TruncFOp,
             arith::MaximumFOp, arith::MinimumFOp, math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::SqrtOp,
             math::RsqrtOp, math::AbsFOp, math::FmaOp>(op);
}

class Search {
public:
  explicit Search(ReduceOp reduce) : reduce_(reduce) {}

  bool run() { return !is_seen(reduce_.getResult()); }

private:
  /// How much of a value is NaN for certain when a lane of what is reduced is.
  enum class Extent { Nothing, ThatLane, EveryLane };

  Extent extent(Value value) {
    if (value == reduce_.getSource()) return Extent::ThatLane;
    Operation* op = value.getDefiningOp();
    if (!op || op->getBlock() != reduce_->getBlock()) return Extent::Nothing;
    if (auto known = extents_.find(value); known != extents_.end()) return known->second;
    extents_[value] = Extent::Nothing;
    return extents_[value] = extent_of_op(op);
  }

  Extent extent_of_op(Operation* op) {
    if (op == reduce_) return Extent::Nothing; // that is the question
    if (auto sum = dyn_cast<ReduceOp>(op)) {
      // Over the same lanes, and those of nothing else.
      const bool same = sum.getDims() == reduce_.getDims() && sum.getValid() == reduce_.getValid() &&
                        sum.getValidDims() == reduce_.getValidDims();
      return same && sum.getKind() == Reduction::Add && extent(sum.getSource()) != Extent::Nothing ? Extent::EveryLane
                                                                                                   : Extent::Nothing;
    }
    if (repeats_along_rows(op))
      return extent(op->getOperand(0)) == Extent::EveryLane ? Extent::EveryLane : Extent::Nothing;
    if (!is_strict(op)) return Extent::Nothing;
    Extent most = Extent::Nothing;
    for (Value operand : op->getOperands()) most = std::max(most, extent(operand));
    return most;
  }

  /// Whether it repeats a row's number in each of the row's lanes, where the row was.
  bool repeats_along_rows(Operation* op) {
    const int64_t rank = cast<RankedTensorType>(reduce_.getSource().getType()).getRank();
    if (auto expand = dyn_cast<ExpandDimsOp>(op))
      return static_cast<int64_t>(expand.getDim()) == reduce_.getDims()[0] &&
             cast<RankedTensorType>(expand.getType()).getRank() == rank;
    auto broadcast = dyn_cast<BroadcastOp>(op);
    if (!broadcast) return false;
    auto from = cast<RankedTensorType>(broadcast.getSource().getType()),
         to = cast<RankedTensorType>(broadcast.getType());
    for (int64_t dim = 0; dim < to.getRank(); ++dim)
      if (dim != reduce_.getDims()[0] && from.getDimSize(dim) != to.getDimSize(dim)) return false;
    return to.getRank() == rank;
  }

  // Whether a use of the value, which may lack a NaN, can tell.
  bool is_seen(Value value) {
    if (!visited_.insert(value.getAsOpaquePointer()).second) return false;
    for (Operation* user : value.getUsers()) {
      if (user->getNumResults() != 1 || user->getNumRegions() > 0 || user->getBlock() != reduce_->getBlock())
        return true;
      if (extent(user->getResult(0)) == Extent::EveryLane) continue;
      if (!is_strict(user) && !repeats_along_rows(user)) return true;
      if (is_seen(user->getResult(0))) return true;
    }
    return false;
  }

  ReduceOp reduce_;
  llvm::DenseMap<Value, Extent> extents_;
  llvm::SmallPtrSet<const void*, 16> visited_;
};

} // namespace

bool may_pass_over_nan(ReduceOp reduce) {
  // Of one dimension, so that "the row" has a meaning.
  return reduce.getDims().size() == 1 && Search(reduce).run();
}

} // namespace tilewright::triton
