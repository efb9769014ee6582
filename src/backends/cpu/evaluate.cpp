// The lanes of a value, computed from the lanes of what it is made of.
#include "backends/cpu/loop_lowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright::cpu {

//===----------------------------------------------------------------------===//
// Scalars and vectors
//===----------------------------------------------------------------------===//

Value LoopLowering::constant(TypedAttr attribute, Location loc) {
  Value& value = constants_[attribute];
  if (!value) {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(&function_.getBody().front());
    value = b_.create<arith::ConstantOp>(function_.getLoc(), attribute);
  }
  return value;
}

Value LoopLowering::index(int64_t number) { return constant(b_.getIndexAttr(number), function_.getLoc()); }

static std::optional<int64_t> known(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantIndexOp>();
  return constant ? std::optional(constant.value()) : std::nullopt;
}

Value LoopLowering::add(Value a, Value b) {
  if (known(a) == 0) return b;
  if (known(b) == 0) return a;
  if (known(a) && known(b)) return index(*known(a) + *known(b));
  return make<arith::AddIOp>(current_->getLoc(), {a, b}, a, b);
}

Value LoopLowering::add(Value a, int64_t b) { return add(a, index(b)); }

Value LoopLowering::min(Value a, Value b) {
  if (known(a) && known(b)) return index(std::min(*known(a), *known(b)));
  return make<arith::MinSIOp>(current_->getLoc(), {a, b}, a, b);
}

Value LoopLowering::broadcast_to(Value value, int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType())) return value;
  return make<vector::BroadcastOp>(current_->getLoc(), {value}, VectorType::get(lanes, value.getType()), value);
}

static Type with_element(Type shape, Type element) {
  auto vector = dyn_cast<VectorType>(shape);
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

// Between the types that one value has in memory, in scratch and in arithmetic. i1 is stored as i8, 0 or 1.
Value LoopLowering::convert(Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element) return value;
  Location loc = current_->getLoc();
  Type type = with_element(value.getType(), element);
  if (isa<FloatType>(from) && isa<FloatType>(element)) {
    bool same_width = from.getIntOrFloatBitWidth() == element.getIntOrFloatBitWidth();
    if (same_width) return convert(convert(value, b_.getF32Type()), element);
    if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
      return make<arith::ExtFOp>(loc, {value}, type, value);
    return make<arith::TruncFOp>(loc, {value}, type, value);
  }
  if (element.isInteger(1)) {
    Value zero = constant(b_.getZeroAttr(value.getType()), loc);
    return make<arith::CmpIOp>(loc, {value}, arith::CmpIPredicate::ne, value, zero);
  }
  if (from.isInteger(1)) return make<arith::ExtUIOp>(loc, {value}, type, value);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return make<arith::ExtSIOp>(loc, {value}, type, value);
  return make<arith::TruncIOp>(loc, {value}, type, value);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static int64_t lanes_of(ArrayRef<Lanes> at) {
  for (const Lanes& lanes : at)
    if (lanes.count > 1) return lanes.count;
  return 1;
}

Value LoopLowering::evaluate_full(Value value, ArrayRef<Lanes> at) {
  return broadcast_to(evaluate(value, at), lanes_of(at));
}

Value LoopLowering::evaluate(Value value, ArrayRef<Lanes> at) {
  if (!isa<RankedTensorType>(value.getType())) return mapping_.lookup(value);
  std::vector<const void*> key{value.getAsOpaquePointer()};
  for (const Lanes& lanes : at) {
    key.push_back(lanes.begin.getAsOpaquePointer());
    key.push_back(lanes.existing ? lanes.existing.getAsOpaquePointer() : nullptr);
    key.push_back(reinterpret_cast<const void*>(lanes.count));
  }
  auto found = computed_.find(key);
  if (found != computed_.end()) return found->second;
  Value result = compute(value, at);
  computed_[key] = result;
  return result;
}

Value LoopLowering::compute(Value value, ArrayRef<Lanes> at) {
  if (auto buffer = buffers_.find(value); buffer != buffers_.end()) return read(buffer->second, at);
  Operation* op = value.getDefiningOp();
  if (auto load = dyn_cast<LoadOp>(op)) return compute_load(load, at);
  if (auto splat = dyn_cast<SplatOp>(op)) return mapping_.lookup(splat.getScalar());
  if (auto iota = dyn_cast<IotaOp>(op)) return compute_iota(iota, at);
  if (auto take = dyn_cast<TakeOp>(op)) return compute_take(take, at);
  SmallVector<Lanes> source(at);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    ArrayRef<int64_t> from = broadcast.getSource().getType().getShape();
    ArrayRef<int64_t> to = cast<RankedTensorType>(value.getType()).getShape();
    for (unsigned dim = 0; dim < from.size(); ++dim)
      if (from[dim] != to[dim]) source[dim] = {index(0), 1, {}, {1, {}}};
    return evaluate(broadcast.getSource(), source);
  }
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    source.erase(source.begin() + expand.getDim());
    return evaluate(expand.getSource(), source);
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [dim, from] : llvm::enumerate(transpose.getPermutation())) source[from] = at[dim];
    return evaluate(transpose.getSource(), source);
  }
  return compute_pointwise(op, at);
}

Value LoopLowering::compute_iota(IotaOp iota, ArrayRef<Lanes> at) {
  Location loc = iota.getLoc();
  Type element = element_type(iota.getType());
  Value first = add(mapping_.lookup(iota.getBegin()), at[0].begin);
  Value scalar = make<arith::IndexCastOp>(loc, {first}, element, first);
  if (at[0].count == 1) return scalar;
  auto type = VectorType::get(at[0].count, element);
  SmallVector<Attribute> steps;
  for (int64_t lane = 0; lane < at[0].count; ++lane) steps.push_back(b_.getIntegerAttr(element, lane));
  Value step = constant(DenseElementsAttr::get(type, steps), loc);
  Value begin = broadcast_to(scalar, at[0].count);
  return make<arith::AddIOp>(loc, {begin, step}, begin, step);
}

// Lanes that the nest does not walk beyond are read as they are; others under a mask, and are zero.
Value LoopLowering::compute_load(LoadOp load, ArrayRef<Lanes> at) {
  ResolvedAccess access = resolve(AccessOp(load), at);
  const LaneChoice& choice = access.choice;
  bool plain = access.lanes > 1 && !choice.existing && !choice.mask && !choice.offsets;
  if ((prefetch_ != Prefetch::Nothing || load.getEviction()) && plain) prefetch(load, access.where);
  return read(buffers_.find(load.getArray())->second, access.where, choice);
}

// An index beyond the source is as good as any that is not.
Value LoopLowering::compute_take(TakeOp take, ArrayRef<Lanes> at) {
  Location loc = take.getLoc();
  const Buffer& source = buffers_.find(take.getSource())->second;
  Value element = evaluate(take.getIndices(), at);
  const int64_t last = take.getSource().getType().getDimSize(take.getDim()) - 1;
  SmallVector<Lanes> where(at);
  Lanes& lane = where[take.getDim()];
  auto clip = [&](Value number, Type type) {
    Value most = broadcast_to(constant(b_.getIntegerAttr(getElementTypeOrSelf(type), last), loc), lanes_of(at));
    if (!isa<VectorType>(number.getType())) most = constant(b_.getIntegerAttr(type, last), loc);
    return make<arith::MinUIOp>(loc, {number, most}, number, most);
  };
  if (!isa<VectorType>(element.getType())) {
    bool was_vector = lane.count > 1;
    lane = {clip(as_index(element), b_.getIndexType()), 1, {}, {}};
    Value value = read(source, where);
    return was_vector ? broadcast_to(value, lanes_of(at)) : value;
  }
  Value i = as_int64(element);
  auto wide = cast<VectorType>(i.getType());
  i = clip(i, wide);
  LaneChoice choice;
  for (const Lanes& lanes : at)
    if (lanes.count > 1) choice.existing = lanes.existing; // beyond them there is no scratch
  choice.offsets = offsets_along(i, stride_of(source, take.getDim()));
  if (lane.count == 1) { // the vector lies along another dimension
    for (auto [dim, other] : llvm::enumerate(where)) {
      if (other.count == 1) continue;
      SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, wide.getNumElements()));
      Value neighbours = constant(DenseIntElementsAttr::get(wide, numbers), loc);
      Value along = offsets_along(neighbours, stride_of(source, dim));
      choice.offsets = make<arith::AddIOp>(loc, {choice.offsets, along}, choice.offsets, along);
      other.count = 1;
    }
  }
  lane = {index(0), 1, {}, {}};
  return read(source, where, choice);
}

// Rows of the right operand that packing fetches ahead: the latency of memory over the time a row takes
// (docs/loops-prototype.md).
static constexpr int64_t kRowsAhead = 4;

// As LLVM has it: what leaves the caches first is fetched past them, what leaves last into the first one, else the
// second.
static unsigned locality_of(std::optional<Eviction> eviction) {
  if (!eviction) return 2;
  return *eviction == Eviction::First ? 0 : 3;
}

// Fetches what will be read here a few rows or one tile later: further along the first dimension that is walked in
// blocks. Past the array's end that asks for nothing.
void LoopLowering::prefetch(LoadOp load, ArrayRef<Lanes> at) {
  Location loc = load.getLoc();
  SmallVector<Lanes> next(at);
  auto uses = subscripts_of(load);
  auto* block = llvm::find_if(uses, [](const SubscriptUse& use) {
    return use.kind == Subscript::Block && !use.operand.getDefiningOp<arith::ConstantOp>();
  });
  if (block == uses.end()) return;
  int64_t tile = cast<RankedTensorType>(load.getType()).getDimSize(block->block_dim);
  Lanes& lane = next[block - uses.begin()];
  lane.begin = add(lane.begin, prefetch_ == Prefetch::NextRows ? kRowsAhead : tile);
  const Buffer& array = buffers_.find(load.getArray())->second;
  SmallVector<Value> indices = memref_indices(array, next);
  at_level_of(indices, [&]() -> Value {
    b_.create<memref::PrefetchOp>(loc, array.memref, indices, /*isWrite=*/false, locality_of(load.getEviction()),
                                  /*isDataCache=*/true);
    return {};
  });
}

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

Value LoopLowering::compute_pointwise(Operation* op, ArrayRef<Lanes> at) {
  if (auto constant_op = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = cast<SplatElementsAttr>(constant_op.getValue());
    return constant(cast<TypedAttr>(splat.getSplatValue<Attribute>()), op->getLoc());
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) operands.push_back(evaluate(operand, at));
  return pointwise(op, operands);
}

// A divisor or shift that would trap or be undefined belongs to a lane that does not exist, or to a user's own mistake:
// 0, and -1 under the smallest number, divide as 1; shifts are taken modulo the width.
static bool divides(Operation* op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp>(op);
}
static bool is_safe_divisor(Value divisor) {
  auto constant = divisor.getDefiningOp<arith::ConstantOp>();
  auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return number && !number.getValue().isZero() && !number.getValue().isAllOnes();
}
static bool shifts(Operation* op) { return isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op); }

Value LoopLowering::pointwise(Operation* op, ArrayRef<Value> inputs) {
  Location loc = op->getLoc();
  SmallVector<Value> operands(inputs);
  int64_t lanes = 1;
  for (Value operand : operands)
    if (auto type = dyn_cast<VectorType>(operand.getType())) lanes = type.getNumElements();
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  // Casts say their own types; selects move values; all else computes 16-bit floats in float32.
  bool computes = !isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::BitcastOp>(op);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (computes) operand = convert(operand, compute_type(getElementTypeOrSelf(operand.getType())));
    bool scalar_condition = i == 0 && isa<arith::SelectOp>(op);
    if (!scalar_condition) operand = broadcast_to(operand, lanes);
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) return convert(operands[0], result);
  auto mask_to_one = [&](Value divisor, Value condition) {
    Value one = constant(b_.getOneAttr(getElementTypeOrSelf(divisor.getType())), loc);
    one = broadcast_to(one, lanes);
    return make<arith::SelectOp>(loc, {condition, one, divisor}, condition, one, divisor);
  };
  if (divides(op) && !is_safe_divisor(operands[1])) {
    Value x = operands[0], divisor = operands[1];
    Type type = divisor.getType(), element = getElementTypeOrSelf(type);
    auto splat = [&](APInt value) { return broadcast_to(constant(b_.getIntegerAttr(element, value), loc), lanes); };
    auto equals = [&](Value value, APInt number) {
      Value other = splat(number);
      return make<arith::CmpIOp>(loc, {value, other}, arith::CmpIPredicate::eq, value, other);
    };
    unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    Value zero = equals(divisor, APInt::getZero(width));
    Value overflows = equals(divisor, APInt::getAllOnes(width)), smallest = equals(x, APInt::getSignedMinValue(width));
    overflows = make<arith::AndIOp>(loc, {overflows, smallest}, overflows, smallest);
    operands[1] = mask_to_one(mask_to_one(divisor, zero), overflows);
  }
  if (shifts(op)) {
    Type element = getElementTypeOrSelf(operands[1].getType());
    Value width = constant(b_.getIntegerAttr(element, element.getIntOrFloatBitWidth() - 1), loc);
    width = broadcast_to(width, lanes);
    operands[1] = make<arith::AndIOp>(loc, {operands[1], width}, operands[1], width);
  }
  Type computed = computes ? compute_type(result) : result;
  Type type = lanes > 1 ? Type(VectorType::get(lanes, computed)) : computed;
  Value value = at_level_of(operands, [&]() -> Value {
    OperationState state(loc, op->getName());
    state.addOperands(operands);
    state.addTypes(type);
    state.addAttributes(op->getAttrs());
    return b_.create(state)->getResult(0);
  });
  return convert(value, result);
}

} // namespace tilewright::cpu
