#include "schedule/unroll_loops.h"

#include "ir/kernel_loops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {

void number_loops(KernelOp kernel) {
  Builder builder(kernel.getContext());
  for (auto [number, loop] : llvm::enumerate(sequential_loops(kernel)))
    loop->setAttr(kLoopNumber, builder.getI64IntegerAttr(number));
}

// The bound up to which whole steps of `stride` fit from the lower bound on.
static Value whole_steps_end(OpBuilder& builder, scf::ForOp loop, int64_t stride) {
  const Location loc = loop.getLoc();
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  if (lower && upper)
    return builder.create<arith::ConstantIndexOp>(loc,
                                                  *lower + std::max<int64_t>(*upper - *lower, 0) / stride * stride);
  Value step = builder.create<arith::ConstantIndexOp>(loc, stride);
  Value zero = builder.create<arith::ConstantIndexOp>(loc, 0);
  Value length = builder.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(), loop.getLowerBound());
  length = builder.createOrFold<arith::MaxSIOp>(loc, length, zero);
  Value steps = builder.createOrFold<arith::DivUIOp>(loc, length, step);
  Value walked = builder.createOrFold<arith::MulIOp>(loc, steps, step);
  return builder.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), walked);
}

// Clones the body of `loop` once, at `variable` and with these carried values; gives those of the next iteration.
static SmallVector<Value> repeat_body(OpBuilder& builder, scf::ForOp loop, Value variable, ValueRange carried) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), variable);
  mapping.map(loop.getRegionIterArgs(), carried);
  for (Operation& op : loop.getBody()->without_terminator()) builder.clone(op, mapping);
  return llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) { return mapping.lookupOrDefault(value); });
}

static void unroll(scf::ForOp loop, int64_t step, int64_t factor) {
  OpBuilder builder(loop);
  const Location loc = loop.getLoc();
  Value middle = whole_steps_end(builder, loop, step * factor);
  std::optional<int64_t> end = getConstantIntValue(middle);
  if (end && end == getConstantIntValue(loop.getLowerBound())) return;

  Value stride = builder.create<arith::ConstantIndexOp>(loc, step * factor);
  auto unrolled = builder.create<scf::ForOp>(loc, loop.getLowerBound(), middle, stride, loop.getInitArgs());
  builder.setInsertionPointToStart(unrolled.getBody());
  SmallVector<Value> carried(unrolled.getRegionIterArgs());
  for (int64_t i = 0; i < factor; ++i) {
    Value variable = unrolled.getInductionVar();
    if (i > 0)
      variable = builder.create<arith::AddIOp>(loc, variable, builder.create<arith::ConstantIndexOp>(loc, i * step));
    carried = repeat_body(builder, loop, variable, carried);
  }
  if (!carried.empty()) builder.create<scf::YieldOp>(loc, carried);

  if (end && end == getConstantIntValue(loop.getUpperBound())) {
    loop.replaceAllUsesWith(unrolled.getResults());
    loop.erase();
    return;
  }
  loop.setLowerBound(middle);
  loop.getInitArgsMutable().assign(unrolled.getResults());
}

FailureOr<bool> unroll_loops(ProgramOp program, ArrayRef<int64_t> factors) {
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  program.walk([&](scf::ForOp loop) { // inner ones first
    auto number = dyn_cast_or_null<IntegerAttr>(loop->removeAttr(kLoopNumber));
    if (number && number.getInt() < static_cast<int64_t>(factors.size()) && factors[number.getInt()] != 1)
      loops.emplace_back(loop, factors[number.getInt()]);
  });
  for (auto [loop, factor] : loops) {
    if (factor < 1) return loop.emitError() << "cannot be unrolled by " << factor;
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!step) return loop.emitError() << "cannot be unrolled: its step is no constant";
    unroll(loop, *step, factor);
  }
  return !loops.empty();
}

} // namespace tilewright
