#include "schedule/unroll_loops.h"

#include "ir/kernel_loops.h"
#include "support/planted_bug.h"

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
    if (planted(PlantedBug::lost_carry))
      carried.assign(unrolled.getRegionIterArgs().begin(), unrolled.getRegionIterArgs().end());
    carried = repeat_body(builder, loop, variable, carried);
  }
  if (!carried.empty()) builder.create<scf::YieldOp>(loc, carried);

  if ((end && end == getConstantIntValue(loop.getUpperBound())) || planted(PlantedBug::lost_remainder)) {
    loop.replaceAllUsesWith(unrolled.getResults());
    loop.erase();
    return;
  }
  loop.setLowerBound(middle);
  loop.getInitArgsMutable().assign(unrolled.getResults());
}

// Who asks for more has not asked how long the loop is (config/derive_config_spec.h).
static constexpr int64_t kMostIterations = 256;

static LogicalResult unroll_wholly(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step) return loop.emitError("cannot be unrolled wholly: its bounds are no constants");
  if (*upper - *lower > kMostIterations * *step)
    return loop.emitError() << "cannot be unrolled wholly: it has more than " << kMostIterations << " iterations";
  OpBuilder builder(loop);
  SmallVector<Value> carried(loop.getInitArgs());
  for (int64_t at = *lower; at < *upper; at += *step)
    carried = repeat_body(builder, loop, builder.create<arith::ConstantIndexOp>(loop.getLoc(), at), carried);
  loop.replaceAllUsesWith(carried);
  loop.erase();
  return success();
}

FailureOr<bool> unroll_loops(ProgramOp program, ArrayRef<int64_t> factors, const std::vector<bool>& statics) {
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  SmallVector<scf::ForOp> static_loops;
  program.walk([&](scf::ForOp loop) { // inner ones first
    auto attribute = dyn_cast_or_null<IntegerAttr>(loop->removeAttr(kLoopNumber));
    if (!attribute) return;
    const size_t number = attribute.getInt();
    if (number < statics.size() && statics[number])
      static_loops.push_back(loop);
    else if (number < factors.size() && factors[number] != 1)
      loops.emplace_back(loop, factors[number]);
  });
  for (scf::ForOp loop : static_loops)
    if (failed(unroll_wholly(loop))) return failure();
  for (auto [loop, factor] : loops) {
    if (factor < 1) return loop.emitError() << "cannot be unrolled by " << factor;
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!step) return loop.emitError() << "cannot be unrolled: its step is no constant";
    unroll(loop, *step, factor);
  }
  return !loops.empty() || !static_loops.empty();
}

} // namespace tilewright
