// Loops and branches of the program. What they carry or give back is a scalar, or lies in a scratch buffer.
#include "backends/cpu/loop_lowering.h"

using namespace mlir;

namespace tilewright::cpu {

static bool is_tensor(Value value) { return isa<RankedTensorType>(value.getType()); }

SmallVector<Value> LoopLowering::scalars_of(ValueRange values) {
  SmallVector<Value> scalars;
  for (Value value : values)
    if (!is_tensor(value)) scalars.push_back(mapping_.lookup(value));
  return scalars;
}

static SmallVector<Type> scalar_types(ValueRange values) {
  SmallVector<Type> types;
  for (Value value : values)
    if (!is_tensor(value)) types.push_back(value.getType());
  return types;
}

void LoopLowering::map_scalars(ValueRange values, ValueRange lowered) {
  auto next = lowered.begin();
  for (Value value : values)
    if (!is_tensor(value)) mapping_.map(value, *next++);
}

// A buffer for `value` that begins with what `init` is.
Buffer LoopLowering::slot_of(Value value, Value init) {
  Buffer slot = make_scratch(value);
  assign(slot, init, dims_to_walk(init));
  return slot;
}

// Moves values to where the next iteration finds them, all at once: one that lies itself in such a place is copied
// aside before its place is overwritten.
void LoopLowering::carry_on(ValueRange places, ValueRange values) {
  SmallVector<std::pair<Buffer, Value>> moves;
  for (auto [place, value] : llvm::zip(places, values)) {
    if (!is_tensor(value) || value == place) continue;
    Buffer slot = buffers_.find(place)->second;
    auto kept = buffers_.find(value);
    if (kept != buffers_.end() && kept->second.memref == slot.memref) continue; // updated in place
    moves.push_back({slot, value});
  }
  auto is_place = [&](Value value) {
    auto lies = buffers_.find(value);
    return lies != buffers_.end() &&
           llvm::any_of(moves, [&](const auto& move) { return move.first.memref == lies->second.memref; });
  };
  for (auto& [slot, value] : moves) {
    if (!is_place(value) || asides_.contains(value)) continue;
    Buffer aside = make_scratch(value);
    assign(aside, value, dims_to_walk(value));
    asides_[value] = aside;
  }
  for (auto& [slot, value] : moves) {
    auto aside = asides_.find(value);
    Buffer source = aside == asides_.end() ? Buffer() : aside->second;
    if (source.memref) std::swap(buffers_[value], source);
    assign(slot, value, dims_to_walk(value));
    if (source.memref) std::swap(buffers_[value], source);
  }
  asides_.clear();
}

LogicalResult LoopLowering::lower_for(scf::ForOp op) {
  auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
  for (auto [i, argument] : llvm::enumerate(op.getRegionIterArgs())) {
    if (!is_tensor(argument)) continue;
    Buffer slot = slot_of(argument, op.getInitArgs()[i]);
    buffers_[argument] = slot;
    if (plan_.is_updated_in_place(op, i)) destinations_[yield.getOperand(i)] = slot;
  }
  auto step = op.getStep().getDefiningOp<arith::ConstantIndexOp>();
  if (!step) return op.emitError("the cpu backend needs loops of a constant step");
  LogicalResult lowered = success();
  SmallVector<Value> results;
  loop(
      mapping_.lookup(op.getLowerBound()), mapping_.lookup(op.getUpperBound()), step.value(),
      scalars_of(op.getInitArgs()),
      [&](Value variable, ValueRange carried) {
        mapping_.map(op.getInductionVar(), variable);
        map_scalars(op.getRegionIterArgs(), carried);
        lowered = lower_block(*op.getBody());
        if (failed(lowered)) return SmallVector<Value>(carried);
        carry_on(op.getRegionIterArgs(), yield.getOperands());
        return scalars_of(yield.getOperands());
      },
      &results);
  map_scalars(op.getResults(), results);
  for (auto [argument, result] : llvm::zip(op.getRegionIterArgs(), op.getResults()))
    if (is_tensor(result)) buffers_.insert({result, Buffer(buffers_.find(argument)->second)}); // a copy: the map moves
  return lowered;
}

LogicalResult LoopLowering::lower_if(scf::IfOp op) {
  for (Value result : op.getResults())
    if (is_tensor(result)) {
      Buffer slot = make_scratch(result);
      buffers_[result] = slot;
    }
  SmallVector<Type> types = scalar_types(op.getResults());
  LogicalResult lowered = success();
  auto fill = [&](Block* block) -> Operands {
    if (!block || failed(lower_block(*block))) {
      if (block) lowered = failure();
      Operands nothing;
      for (Type type : types) nothing.push_back(constant(b_.getZeroAttr(type), op.getLoc()));
      return nothing;
    }
    ValueRange yielded = block->getTerminator()->getOperands();
    for (auto [result, value] : llvm::zip(op.getResults(), yielded))
      if (is_tensor(value)) assign(buffers_.find(result)->second, value, dims_to_walk(value));
    SmallVector<Value> scalars = scalars_of(yielded);
    return Operands(scalars.begin(), scalars.end());
  };
  Operation* outer = current_;
  auto run = [&](Block* block) {
    Operands yielded = fill(block);
    current_ = outer;
    return yielded;
  };
  Operands results = choose(
      mapping_.lookup(op.getCondition()), types, [&] { return run(op.thenBlock()); },
      [&] { return run(op.elseBlock()); });
  map_scalars(op.getResults(), results);
  return lowered;
}

LogicalResult LoopLowering::lower_while(scf::WhileOp op) {
  Location loc = op.getLoc();
  for (auto [argument, init] : llvm::zip(op.getBeforeArguments(), op.getInits()))
    if (is_tensor(argument)) {
      Buffer slot = slot_of(argument, init);
      buffers_[argument] = slot;
    }
  // What the condition forwards lies where it was carried, or in a buffer of its own.
  ValueRange forwarded = op.getConditionOp().getArgs();
  for (auto [argument, value, result] : llvm::zip(op.getAfterArguments(), forwarded, op.getResults())) {
    if (!is_tensor(argument)) continue;
    Buffer slot =
        llvm::is_contained(op.getBeforeArguments(), value) ? buffers_.find(value)->second : make_scratch(argument);
    buffers_[argument] = slot;
    buffers_[result] = slot;
  }
  restore_innermost();
  auto loop =
      b_.create<scf::WhileOp>(loc, TypeRange(scalar_types(op.getResults())), ValueRange(scalars_of(op.getInits())));
  auto open = [&](Region& region, ValueRange arguments) {
    Block& block = region.emplaceBlock();
    for (Type type : scalar_types(arguments)) block.addArgument(type, loc);
    map_scalars(arguments, block.getArguments());
    push_level(&block);
  };
  Operation* outer = current_;
  open(loop.getBefore(), op.getBeforeArguments());
  LogicalResult lowered = lower_block(*op.getBeforeBody());
  current_ = outer;
  if (succeeded(lowered)) {
    for (auto [argument, value] : llvm::zip(op.getAfterArguments(), forwarded))
      if (is_tensor(argument) && !llvm::is_contained(op.getBeforeArguments(), value))
        assign(buffers_.find(argument)->second, value, dims_to_walk(value));
    restore_innermost();
    b_.create<scf::ConditionOp>(loc, mapping_.lookup(op.getConditionOp().getCondition()), scalars_of(forwarded));
  }
  pop_level();
  if (failed(lowered)) return failure();
  open(loop.getAfter(), op.getAfterArguments());
  lowered = lower_block(*op.getAfterBody());
  current_ = outer;
  if (succeeded(lowered)) {
    carry_on(op.getBeforeArguments(), op.getYieldOp().getOperands());
    restore_innermost();
    b_.create<scf::YieldOp>(loc, scalars_of(op.getYieldOp().getOperands()));
  }
  pop_level();
  map_scalars(op.getResults(), loop.getResults());
  return lowered;
}

} // namespace tilewright::cpu
