// Where an access to an array goes, and atomic accesses.
#include "backends/cpu/loop_lowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright::cpu {

SmallVector<NestDim> LoopLowering::dims_of_access(AccessOp access) {
  SmallVector<NestDim> dims;
  if (auto type = dyn_cast<RankedTensorType>(access.block()))
    for (int64_t size : type.getShape()) dims.push_back({size, {size, {}}});
  for (auto [dim, valid] : access.bounds()) dims[dim].bound.value = mapping_.lookup(valid);
  return dims;
}

Value LoopLowering::as_index(Value number) {
  if (number.getType().isIndex()) return number;
  return make<arith::IndexCastOp>(current_->getLoc(), {number}, b_.getIndexType(), number);
}

Value LoopLowering::as_int64(Value numbers) {
  auto type = cast<VectorType>(numbers.getType());
  if (type.getElementTypeBitWidth() == 64) return numbers;
  return make<arith::ExtSIOp>(current_->getLoc(), {numbers}, VectorType::get(type.getShape(), b_.getI64Type()),
                              numbers);
}

Value LoopLowering::offsets_along(Value numbers, Value stride) {
  Location loc = current_->getLoc();
  Value factor = broadcast_to(stride, cast<VectorType>(numbers.getType()).getNumElements());
  return make<arith::MulIOp>(loc, {numbers, factor}, numbers, factor);
}

// Lanes that the nest around does not walk beyond need no condition.
LoopLowering::ResolvedAccess LoopLowering::resolve(AccessOp access, ArrayRef<Lanes> at) {
  Location loc = access.operation()->getLoc();
  const Buffer& array = buffers_.find(access.array())->second;
  ResolvedAccess resolved;
  LaneChoice& choice = resolved.choice;
  for (const Lanes& lane : at)
    if (lane.count > 1) {
      resolved.lanes = lane.count;
      choice.existing = lane.existing;
    }
  Value condition;
  for (auto [dim, valid] : access.bounds()) {
    Value bound = mapping_.lookup(valid);
    const Lanes& lane = at[dim];
    if (bound == lane.limit.value) continue;
    if (lane.count > 1) {
      Value left = make<arith::SubIOp>(loc, {bound, lane.begin}, bound, lane.begin);
      left = make<arith::MaxSIOp>(loc, {left}, left, index(0));
      left = min(left, index(lane.count));
      choice.existing = choice.existing ? min(choice.existing, left) : left;
    } else {
      Value inside = make<arith::CmpIOp>(loc, {lane.begin, bound}, arith::CmpIPredicate::slt, lane.begin, bound);
      condition = condition ? make<arith::AndIOp>(loc, {condition, inside}, condition, inside) : inside;
    }
  }
  if (condition) {
    Value all = choice.existing ? choice.existing : index(resolved.lanes);
    choice.existing = make<arith::SelectOp>(loc, {condition, all}, condition, all, index(0));
  }
  for (auto [dim, use] : llvm::enumerate(access.subscripts())) {
    Lanes lane = use.block_dim >= 0 && !use.is_gather() ? at[use.block_dim] : Lanes{index(0)};
    if (use.kind == Subscript::Scalar) lane.begin = mapping_.lookup(use.operand);
    if (use.kind == Subscript::Block) lane.begin = add(mapping_.lookup(use.operand), lane.begin);
    if (use.is_gather()) {
      Value element = evaluate(use.operand, at.slice(use.block_dim, use.block_rank));
      if (isa<VectorType>(element.getType())) {
        Value offsets = offsets_along(as_int64(element), stride_of(array, dim));
        choice.offsets =
            choice.offsets ? make<arith::AddIOp>(loc, {choice.offsets, offsets}, choice.offsets, offsets) : offsets;
      } else {
        lane.begin = as_index(element);
      }
    }
    resolved.where.push_back(lane);
  }
  // Lanes side by side that all go to one element.
  bool apart = choice.offsets || llvm::any_of(resolved.where, [](const Lanes& lane) { return lane.count > 1; });
  if (resolved.lanes > 1 && !apart)
    choice.offsets = constant(b_.getZeroAttr(VectorType::get(resolved.lanes, b_.getI64Type())), loc);
  if (Value mask = access.mask()) choice.mask = evaluate(mask, at);
  return resolved;
}

//===----------------------------------------------------------------------===//
// Atomic accesses
//===----------------------------------------------------------------------===//

// What an element becomes. `max` and `min` prefer a number to NaN.
static Value changed(OpBuilder& b, Location loc, AtomicKind kind, Value old, Value value) {
  bool floating = isa<FloatType>(old.getType()), boolean = old.getType().isInteger(1);
  switch (kind) {
  case AtomicKind::Add:
    if (boolean) return b.create<arith::XOrIOp>(loc, old, value);
    return floating ? b.create<arith::AddFOp>(loc, old, value).getResult() : b.create<arith::AddIOp>(loc, old, value);
  case AtomicKind::And: return b.create<arith::AndIOp>(loc, old, value);
  case AtomicKind::Or: return b.create<arith::OrIOp>(loc, old, value);
  case AtomicKind::Xor: return b.create<arith::XOrIOp>(loc, old, value);
  case AtomicKind::Max:
    if (boolean) return b.create<arith::OrIOp>(loc, old, value);
    return floating ? b.create<arith::MaxNumFOp>(loc, old, value).getResult()
                    : b.create<arith::MaxSIOp>(loc, old, value);
  case AtomicKind::Min:
    if (boolean) return b.create<arith::AndIOp>(loc, old, value);
    return floating ? b.create<arith::MinNumFOp>(loc, old, value).getResult()
                    : b.create<arith::MinSIOp>(loc, old, value);
  case AtomicKind::Exchange: return value;
  }
  llvm_unreachable("unknown atomic");
}

// One lane at a time. An element is changed by a memref.generic_atomic_rmw, whose body computes what it becomes from
// what it was.
void LoopLowering::lower_atomic(AccessOp access) {
  Operation* op = access.operation();
  Location loc = op->getLoc();
  auto atomic = dyn_cast<AtomicOp>(op);
  auto compare = dyn_cast<AtomicCasOp>(op);
  const Buffer& array = buffers_.find(access.array())->second;
  Value result = op->getResult(0);
  bool is_tensor = isa<RankedTensorType>(result.getType());
  bool wanted = !result.use_empty();
  if (wanted && is_tensor) buffers_[result] = destination_of(result);
  Type stored = cast<MemRefType>(array.memref.getType()).getElementType();
  Type computed = compute_type(array.element);
  nest(dims_of_access(access), -1, 1, [&](ArrayRef<Lanes> at) {
    ResolvedAccess resolved = resolve(access, at);
    // The scalar lanes of the nest exist; only a mask or a bound that the nest does not know is left.
    Value condition = resolved.choice.mask;
    if (Value existing = resolved.choice.existing) {
      Value exists = make<arith::CmpIOp>(loc, {existing}, arith::CmpIPredicate::sgt, existing, index(0));
      condition = condition ? make<arith::AndIOp>(loc, {condition, exists}, condition, exists) : exists;
    }
    Value value = evaluate(atomic ? atomic.getValue() : compare.getValue(), at);
    Value expected = compare ? evaluate(compare.getExpected(), at) : Value();
    SmallVector<Value> indices = memref_indices(array, resolved.where);
    restore_innermost();
    auto exchange = [&]() -> Operands {
      auto rmw = b_.create<memref::GenericAtomicRMWOp>(loc, array.memref, indices);
      Value old = rmw.getCurrentValue(), next;
      push_level(&rmw.getRegion().front());
      if (atomic) {
        Value before = convert(old, computed), with = convert(value, computed);
        restore_innermost();
        next = convert(changed(b_, loc, atomic.getKind(), before, with), array.element);
        next = convert(next, stored);
      } else {
        Value wanted = convert(expected, stored), other = convert(value, stored);
        auto bits = b_.getIntegerType(stored.getIntOrFloatBitWidth());
        auto pattern = [&](Value number) -> Value {
          return stored.isInteger() ? number : b_.create<arith::BitcastOp>(loc, bits, number).getResult();
        };
        restore_innermost();
        Value same = b_.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, pattern(old), pattern(wanted));
        next = b_.create<arith::SelectOp>(loc, same, other, old);
      }
      restore_innermost();
      b_.create<memref::AtomicYieldOp>(loc, next);
      pop_level();
      return {convert(rmw.getResult(), array.element)};
    };
    Value old;
    if (condition) {
      Value zero = constant(b_.getZeroAttr(array.element), loc);
      old = choose(condition, array.element, exchange, [&]() -> Operands { return {zero}; })[0];
    } else {
      old = exchange()[0];
    }
    if (!wanted) return;
    if (is_tensor)
      write(buffers_[result], at, old);
    else
      mapping_.map(result, old);
  });
}

} // namespace tilewright::cpu
