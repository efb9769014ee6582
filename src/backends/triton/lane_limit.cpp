#include "backends/triton/lane_limit.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::triton {

SmallVector<LaneLimit, 1> limits_of(Value valid, int64_t lanes) {
  if (std::optional<int64_t> count = getConstantIntValue(valid)) {
    if (*count >= lanes) return {};
    return {{Value(), Value(), *count}};
  }
  if (auto minimum = valid.getDefiningOp<arith::MinSIOp>()) {
    SmallVector<LaneLimit, 1> limits = limits_of(minimum.getLhs(), lanes);
    llvm::append_range(limits, limits_of(minimum.getRhs(), lanes));
    return limits;
  }
  if (auto left = valid.getDefiningOp<arith::SubIOp>()) {
    if (std::optional<int64_t> end = getConstantIntValue(left.getLhs())) return {{left.getRhs(), Value(), *end}};
    return {{left.getRhs(), left.getLhs()}};
  }
  return {{Value(), valid}};
}

std::optional<int64_t> limit_of_block(const SubscriptUse& use, int64_t lanes) {
  SmallVector<LaneLimit, 1> limits = limits_of(use.valid, lanes);
  if (limits.size() != 1 || limits[0].end) return std::nullopt;
  const bool starts_at_zero = use.kind == Subscript::Whole || getConstantIntValue(use.operand) == 0;
  const bool is_own = limits[0].begin ? limits[0].begin == use.operand : starts_at_zero;
  return is_own ? std::optional(limits[0].constant_end) : std::nullopt;
}

} // namespace tilewright::triton
