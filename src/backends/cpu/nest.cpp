// Loops over the lanes of values, and where in them ops go.
#include "backends/cpu/loop_lowering.h"

#include "support/planted_bug.h"

using namespace mlir;

namespace tilewright::cpu {

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

void LoopLowering::push_level(Block* block) {
  if (!levels_.empty()) levels_.back().anchor = block->getParentOp();
  levels_.push_back({block, nullptr});
  restore_innermost();
}

void LoopLowering::pop_level() {
  levels_.pop_back();
  if (levels_.empty()) return;
  levels_.back().anchor = nullptr;
  restore_innermost();
}

void LoopLowering::restore_innermost() {
  Block* block = levels_.back().block;
  bool ended = !block->empty() && block->back().hasTrait<OpTrait::IsTerminator>();
  if (ended)
    b_.setInsertionPoint(&block->back());
  else
    b_.setInsertionPointToEnd(block);
}

Value LoopLowering::at_level_of(ValueRange operands, llvm::function_ref<Value()> build) {
  size_t level = nest_level_;
  for (Value operand : operands) {
    Block* block = operand.getParentBlock();
    for (size_t i = levels_.size() - 1; i > level; --i)
      if (levels_[i].block == block) level = i;
  }
  OpBuilder::InsertionGuard guard(b_);
  if (levels_[level].anchor) b_.setInsertionPoint(levels_[level].anchor);
  return build();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value LoopLowering::loop(Value from, Value to, int64_t step, ValueRange carried,
                         llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body,
                         SmallVectorImpl<Value>* results) {
  auto op = b_.create<scf::ForOp>(current_->getLoc(), from, to, index(step), carried);
  push_level(op.getBody());
  SmallVector<Value> yielded = body(op.getInductionVar(), op.getRegionIterArgs());
  if (!carried.empty()) b_.create<scf::YieldOp>(current_->getLoc(), yielded);
  pop_level();
  if (results) results->assign(op.result_begin(), op.result_end());
  return carried.empty() ? Value() : op.getResult(0);
}

void LoopLowering::in_branch(Block* block, llvm::function_ref<void()> body) {
  push_level(block);
  size_t outer_level = std::exchange(nest_level_, levels_.size() - 1);
  auto known = computed_;
  body();
  computed_ = std::move(known);
  nest_level_ = outer_level;
  pop_level();
}

// Whole groups of `unroll` vectors first; what is left one vector at a time, the last under a mask.
void LoopLowering::vector_loop(NestDim dim, int64_t lanes, int64_t unroll, llvm::function_ref<void(Lanes)> body) {
  Location loc = current_->getLoc();
  auto over = [&](Value from, Value to, int64_t step, llvm::function_ref<void(Value)> iteration) {
    loop(from, to, step, {}, [&](Value begin, ValueRange) -> SmallVector<Value> {
      iteration(begin);
      return {};
    });
  };
  auto whole = [&](Value begin) { body({begin, lanes, {}, dim.bound}); };
  auto group = [&](Value begin) {
    for (int64_t i = 0; i < unroll; ++i) whole(add(begin, i * lanes));
  };
  int64_t step = lanes * unroll;
  if (dim.bound.value) {
    Value count = dim.bound.value;
    if (lanes == 1) return over(index(0), count, 1, whole);
    Value rest = make<arith::RemUIOp>(loc, {count}, count, index(step));
    Value grouped = make<arith::SubIOp>(loc, {count, rest}, count, rest);
    if (dim.extent >= step) over(index(0), grouped, step, group);
    return over(grouped, count, lanes, [&](Value begin) {
      Value left = make<arith::SubIOp>(loc, {count, begin}, count, begin);
      body({begin, lanes, min(left, index(lanes)), dim.bound});
    });
  }
  int64_t count = dim.bound.number, grouped = count / step * step, full = count / lanes * lanes;
  if (grouped == step)
    group(index(0));
  else if (grouped > 0)
    over(index(0), index(grouped), step, group);
  if (full == grouped + lanes)
    whole(index(grouped));
  else if (full > grouped)
    over(index(grouped), index(full), lanes, whole);
  if (planted(PlantedBug::tail_one_lane_short) && full + 1 < count) --count;
  if (full < count) body({index(full), lanes, index(count - full), dim.bound});
}

void LoopLowering::nest(ArrayRef<NestDim> dims, int vector_dim, int64_t lanes,
                        llvm::function_ref<void(ArrayRef<Lanes>)> body) {
  size_t outer_level = std::exchange(nest_level_, levels_.size() - 1);
  computed_.clear();
  SmallVector<Lanes> at(dims.size());
  std::function<void(unsigned)> walk = [&](unsigned dim) {
    if (static_cast<int>(dim) == vector_dim) return walk(dim + 1);
    if (dim < dims.size()) {
      return vector_loop(dims[dim], 1, 1, [&](Lanes lane) {
        at[dim] = lane;
        walk(dim + 1);
      });
    }
    if (vector_dim < 0) return body(at);
    int64_t unroll = dims[vector_dim].extent >= 2 * kUnrolledVectors * lanes ? kUnrolledVectors : 1;
    vector_loop(dims[vector_dim], lanes, unroll, [&](Lanes lane) {
      at[vector_dim] = lane;
      body(at);
    });
  };
  walk(0);
  computed_.clear();
  nest_level_ = outer_level;
}

//===----------------------------------------------------------------------===//
// What there is to walk
//===----------------------------------------------------------------------===//

Value LoopLowering::to_value(const Bound& bound) { return bound.value ? bound.value : index(bound.number); }

SmallVector<Value> LoopLowering::existing_lanes(Value value) {
  KnownLanes known;
  return existing_lanes(value, known);
}

SmallVector<Value> LoopLowering::existing_lanes(Value value, KnownLanes& known) {
  if (auto found = known.find(value); found != known.end()) return found->second;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) return {};
  SmallVector<Value> lanes(type.getRank());
  Operation* op = value.getDefiningOp();
  if (!op) return lanes;
  auto visible = [&](Value bound) {
    return bound && bound.getParentRegion()->isAncestor(current_->getParentRegion()) ? bound : Value();
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    for (auto [dim, valid] : llvm::zip(load.getValidDims(), load.getValid())) lanes[dim] = visible(valid);
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    SmallVector<Value> source = existing_lanes(transpose.getSource(), known);
    for (auto [dim, from] : llvm::enumerate(transpose.getPermutation())) lanes[dim] = source[from];
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    ArrayRef<int64_t> from = broadcast.getSource().getType().getShape();
    for (auto [dim, bound] : llvm::enumerate(existing_lanes(broadcast.getSource(), known)))
      if (from[dim] == type.getDimSize(dim)) lanes[dim] = bound;
  } else if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    lanes = existing_lanes(expand.getSource(), known);
    lanes.insert(lanes.begin() + expand.getDim(), Value());
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    lanes.clear();
    for (auto [dim, bound] : llvm::enumerate(existing_lanes(reduce.getSource(), known)))
      if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim))) lanes.push_back(bound);
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    SmallVector<Value> a = existing_lanes(dot.getA(), known), b = existing_lanes(dot.getB(), known);
    for (unsigned dim = 0; dim < lanes.size(); ++dim) lanes[dim] = dim + 1 == lanes.size() ? b[dim] : a[dim];
  } else if (isa<TakeOp>(op)) {
    // all of them
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    lanes = existing_lanes(yield.getOperand(cast<OpResult>(value).getResultNumber()), known);
  } else if (is_inlinable(op)) {
    // Where operands disagree, all lanes are walked, and each load guards itself.
    BitVector unknown(lanes.size());
    for (Value operand : op->getOperands()) {
      for (auto [dim, bound] : llvm::enumerate(existing_lanes(operand, known))) {
        if (bound && lanes[dim] && bound != lanes[dim]) unknown.set(dim);
        if (bound) lanes[dim] = bound;
      }
    }
    for (unsigned dim : unknown.set_bits()) lanes[dim] = Value();
  }
  known[value] = lanes;
  return lanes;
}

SmallVector<NestDim> LoopLowering::dims_to_walk(Value value) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  SmallVector<NestDim> dims;
  for (auto [size, bound] : llvm::zip(shape, existing_lanes(value)))
    dims.push_back({size, {size, bound ? mapping_.lookup(bound) : Value()}});
  return dims;
}

int64_t LoopLowering::native_lanes(Type element, int64_t extent) {
  int bits = element.isIndex() ? 64 : std::max<int>(32, element.getIntOrFloatBitWidth());
  int64_t lanes = target_.lanes(bits);
  while (lanes > 1 && lanes / 2 >= extent) lanes /= 2;
  return lanes;
}

//===----------------------------------------------------------------------===//
// Which dimension to make vectors along
//===----------------------------------------------------------------------===//

// Adds to scores[d] how well accesses in `value` suit vectors along dimension d of the nest; dims maps the value's
// dimensions to the nest's.
void LoopLowering::score(Value value, SmallVector<int> dims, SmallVectorImpl<int>& scores, int depth) {
  auto favour = [&](int dim, int weight) {
    if (dim >= 0) scores[dim] += weight;
  };
  if (auto buffer = buffers_.find(value); buffer != buffers_.end()) return favour(dims[buffer->second.order.back()], 2);
  Operation* op = value.getDefiningOp();
  if (!op || depth > 8 || !is_inlinable(op) || !isa<RankedTensorType>(value.getType())) return;
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (load.getAccess() == Access::Pointer) return; // goes along with what suits the others
    auto array = cast<ArrayType>(load.getArray().getType());
    for (auto [dim, use] : llvm::enumerate(subscripts_of(load)))
      if (use.is_gather())
        for (int i = 0; i < use.block_rank; ++i) favour(dims[use.block_dim + i], -2);
      else if (use.block_dim >= 0 && array.stride(dim) != 0)
        favour(dims[use.block_dim], array.stride(dim) == 1 ? 4 : -2);
    return;
  }
  if (isa<TakeOp>(op)) return;
  SmallVector<int> source = dims;
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [dim, from] : llvm::enumerate(transpose.getPermutation())) source[from] = dims[dim];
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [dim, size] : llvm::enumerate(broadcast.getSource().getType().getShape()))
      if (size != broadcast.getResult().getType().getDimSize(dim)) source[dim] = -1;
  } else if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    source.erase(source.begin() + expand.getDim());
  }
  for (Value operand : op->getOperands()) score(operand, source, scores, depth + 1);
}

int LoopLowering::choose_vector_dim(Value value, ArrayRef<bool> candidates, int preferred) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  int rank = shape.size();
  SmallVector<int> dims = llvm::to_vector(llvm::seq(0, rank)), scores(rank, 0);
  if (preferred >= 0) scores[preferred] += 3;
  score(value, dims, scores, 0);
  int best = -1;
  for (int dim = rank - 1; dim >= 0; --dim)
    if (candidates[dim] && shape[dim] > 1 && (best < 0 || scores[dim] > scores[best])) best = dim;
  return best;
}

} // namespace tilewright::cpu
