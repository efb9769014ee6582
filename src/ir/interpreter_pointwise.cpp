#include "ir/interpreter_pointwise.h"

#include "ir/context.h"
#include "ir/interpreter_bounds.h"
#include "support/error.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {

static LaneFunction function_of(Operation* op) {
  if (auto composite = dyn_cast<CompositeOp>(op)) return composite_function(composite.getFunction());
  for (const LaneFunctions* functions : {&arith_functions(), &math_functions()})
    if (auto found = functions->find(op_name(op)); found != functions->end()) return found->second;
  if (LaneFunction function = comparison_or_cast(op)) return function;
  fail(source_location(op->getLoc()), "the interpreter does not know {}", op_name(op));
}

static Lane select_lane(ArrayRef<Lane> lanes) {
  if (lanes[0].state != LaneState::Exists) return {.state = lanes[0].state};
  return lanes[0].integer ? lanes[1] : lanes[2];
}

BlockValue evaluate_pointwise(Operation* op, ArrayRef<const BlockValue*> operands, ArrayRef<int64_t> shape,
                              bool with_bounds) {
  BlockValue result(element_type(op->getResult(0).getType()), shape);
  bool select = isa<arith::SelectOp>(op);
  LaneFunction function = select ? LaneFunction() : function_of(op);
  SmallVector<Lane, 3> lanes(operands.size());
  for (size_t i = 0; i < result.lanes.size(); ++i) {
    // The condition of a select may be a scalar beside tensors.
    for (auto [lane, operand] : llvm::zip(lanes, operands)) lane = operand->lanes[operand->is_scalar() ? 0 : i];
    LaneState state = LaneState::Exists;
    for (const Lane& lane : lanes) state = std::max(state, lane.state);
    if (select)
      result.lanes[i] = select_lane(lanes);
    else if (state != LaneState::Exists)
      result.lanes[i].state = state;
    else
      result.lanes[i] = function(lanes, operands[0]->element, result.element);
    if (!with_bounds || state == LaneState::Missing) continue;
    result.lanes[i].error =
        select ? select_error(lanes, result.element)
               : pointwise_error(op, function, lanes, result.lanes[i], operands[0]->element, result.element);
  }
  return result;
}

} // namespace tilewright
