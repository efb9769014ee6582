#include "ir/validity.h"

#include "ir/reshape.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

using Kind = LaneValidity::Kind;

static void add_tiles(SmallVectorImpl<Value>& tiles, ArrayRef<Value> more) {
  for (Value tile : more)
    if (!llvm::is_contained(tiles, tile)) tiles.push_back(tile);
}

// What two values combined lane by lane have. A whole value beside one with missing lanes has no joint validity.
static std::optional<LaneValidity> combine(const LaneValidity& a, const LaneValidity& b) {
  if (a.kind == Kind::Any) return b;
  if (b.kind == Kind::Any) return a;
  if (a.kind != b.kind) return std::nullopt;
  LaneValidity both = a;
  add_tiles(both.tiles, b.tiles);
  return both;
}

static LogicalResult refuse_mixture(Operation* op, unsigned dim) {
  return op->emitError() << "dimension " << dim
                         << " is whole in one operand and ends early in another; use where() to say what the missing "
                            "lanes are";
}

FailureOr<Validity::Lanes> Validity::join(Operation* op, ValueRange values) {
  Lanes joined;
  for (Value value : values) {
    if (!isa<RankedTensorType>(value.getType())) continue;
    ArrayRef<LaneValidity> lanes = of(value);
    if (joined.empty()) joined.resize(lanes.size());
    for (auto [dim, lane] : llvm::enumerate(lanes)) {
      std::optional<LaneValidity> both = combine(joined[dim], lane);
      if (!both) return refuse_mixture(op, dim);
      joined[dim] = *both;
    }
  }
  return joined;
}

//===----------------------------------------------------------------------===//
// Partial against whole
//===----------------------------------------------------------------------===//

TypedAttr neutral_operand(Operation* op, unsigned index) {
  Type element = op->getNumResults() == 1 ? element_type(op->getResult(0).getType()) : Type();
  if (isa<arith::AddFOp>(op)) return FloatAttr::get(element, -0.0);
  if (isa<arith::SubFOp>(op) && index == 1) return FloatAttr::get(element, 0.0);
  if (isa<arith::SubIOp>(op) && index == 1) return neutral_element(Reduction::Add, element);
  if (isa<arith::AddIOp, arith::XOrIOp>(op)) return neutral_element(Reduction::Add, element);
  if (isa<arith::MulFOp, arith::MulIOp>(op)) return neutral_element(Reduction::Mul, element);
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(op)) return neutral_element(Reduction::Max, element);
  if (isa<arith::MinimumFOp, arith::MinSIOp>(op)) return neutral_element(Reduction::Min, element);
  if (isa<arith::AndIOp>(op)) return neutral_element(Reduction::And, element);
  if (isa<arith::OrIOp>(op)) return neutral_element(Reduction::Or, element);
  return {};
}

ArrayRef<SmallVector<Value, 1>> Validity::completed_by(OpOperand& operand) const {
  auto found = completed_.find(&operand);
  return found == completed_.end() ? ArrayRef<SmallVector<Value, 1>>() : ArrayRef<SmallVector<Value, 1>>(found->second);
}

FailureOr<Validity::Lanes> Validity::pointwise_lanes(Operation* op) {
  for (OpOperand& operand : op->getOpOperands()) completed_.erase(&operand);
  Lanes joined;
  for (OpOperand& operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType())) continue;
    ArrayRef<LaneValidity> lanes = of(operand.get());
    if (joined.empty()) joined.resize(lanes.size());
    for (auto [dim, lane] : llvm::enumerate(lanes)) {
      if (std::optional<LaneValidity> both = combine(joined[dim], lane)) {
        joined[dim] = *both;
        continue;
      }
      // One is whole: the other one's missing lanes are filled, if there is something to fill them with.
      bool whole_so_far = joined[dim].kind == Kind::Whole;
      for (OpOperand& partial : op->getOpOperands()) {
        bool before = partial.getOperandNumber() < operand.getOperandNumber();
        if (whole_so_far ? &partial != &operand : !before) continue;
        if (!isa<RankedTensorType>(partial.get().getType()) || of(partial.get())[dim].kind != Kind::Tiles) continue;
        if (!neutral_operand(op, partial.getOperandNumber())) return refuse_mixture(op, dim);
        Tiles& tiles = completed_[&partial];
        tiles.resize(lanes.size());
        tiles[dim] = of(partial.get())[dim].tiles;
      }
      joined[dim] = {Kind::Whole, {}};
    }
  }
  return joined;
}

// In missing lanes the condition is false; so where the other choice is whole, it completes the value.
FailureOr<Validity::Lanes> Validity::select_lanes(arith::SelectOp op) {
  OpOperand& condition = op->getOpOperand(0);
  completed_.erase(&condition);
  auto lanes_or_none = [&](Value value) { return isa<RankedTensorType>(value.getType()) ? Lanes(of(value)) : Lanes(); };
  Lanes chosen_by = lanes_or_none(op.getCondition()), chosen(of(op.getTrueValue())), other(of(op.getFalseValue()));
  Lanes lanes(chosen.size());
  for (unsigned dim = 0; dim < lanes.size(); ++dim) {
    SmallVector<Value, 1> missing(chosen[dim].tiles);
    if (!chosen_by.empty()) add_tiles(missing, chosen_by[dim].tiles);
    if (other[dim].kind == Kind::Whole && !missing.empty()) {
      if (chosen_by.empty()) return refuse_mixture(op, dim);
      Tiles& tiles = completed_[&condition];
      tiles.resize(lanes.size());
      tiles[dim] = missing;
      lanes[dim] = {Kind::Whole, {}};
      continue;
    }
    std::optional<LaneValidity> joint = combine(chosen[dim], other[dim]);
    if (joint && !chosen_by.empty()) joint = combine(*joint, chosen_by[dim]);
    if (!joint) return refuse_mixture(op, dim);
    lanes[dim] = *joint;
  }
  return lanes;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

// A shifted tile has the lanes of the tile that it is made from.
static Value limiting_tile(Value tile) {
  while (auto shift = tile.getDefiningOp<ShiftOp>()) tile = shift.getTile();
  auto slice = tile.getDefiningOp<SliceOp>();
  return slice && !slice.getEnd() ? Value() : tile;
}

static LaneValidity lanes_of_tile(Value tile) {
  Value limit = limiting_tile(tile);
  if (!limit) return {Kind::Whole, {}};
  return {Kind::Tiles, {limit}};
}

// A tile ends where its loop ends, a gather where its indices do.
FailureOr<Validity::Lanes> Validity::access_lanes(AccessOp access, unsigned rank) {
  Lanes lanes(rank, LaneValidity{Kind::Whole, {}});
  for (const SubscriptUse& use : access.subscripts()) {
    if (use.kind == Subscript::Tile) lanes[use.block_dim] = lanes_of_tile(use.operand);
    if (use.kind == Subscript::Gather)
      for (int dim = 0; dim < use.block_rank; ++dim) lanes[use.block_dim + dim] = of(use.operand)[dim];
  }
  auto meet = [&](unsigned dim, const LaneValidity& other) -> LogicalResult {
    std::optional<LaneValidity> both = combine(lanes[dim], other);
    if (!both) return refuse_mixture(access.operation(), dim);
    lanes[dim] = *both;
    return success();
  };
  for (const SubscriptUse& use : access.subscripts())
    if (use.kind == Subscript::GatherWith)
      for (int dim = 0; dim < use.block_rank; ++dim)
        if (failed(meet(use.block_dim + dim, of(use.operand)[dim]))) return failure();
  if (Value mask = access.mask(); mask && rank > 0)
    for (auto [dim, lane] : llvm::enumerate(of(mask)))
      // Where a mask of a whole value is given, it is false beyond a tile's end as well as before.
      if (!(lane.kind == Kind::Whole && lanes[dim].kind == Kind::Tiles) && failed(meet(dim, lane))) return failure();
  return lanes;
}

FailureOr<Validity::Lanes> Validity::dot_lanes(DotOp dot) {
  unsigned rank = dims_of(dot.getResult()).size();
  Lanes lanes(rank);
  ArrayRef<LaneValidity> a = of(dot.getA()), b = of(dot.getB()), acc = of(dot.getAcc());
  for (unsigned dim = 0; dim < rank; ++dim) {
    SmallVector<const LaneValidity*> parts{&acc[dim]};
    if (dim != rank - 1) parts.push_back(&a[dim]);
    if (dim != rank - 2) parts.push_back(&b[dim]);
    for (const LaneValidity* part : parts) {
      std::optional<LaneValidity> both = combine(lanes[dim], *part);
      if (!both) return dot.emitError("operands of the dot have different lanes along dimension ") << dim;
      lanes[dim] = *both;
    }
  }
  return lanes;
}

FailureOr<Validity::Lanes> Validity::reshape_lanes(ReshapeOp op) {
  SmallVector<Dim> from = dims_of(op.getSource()), to = dims_of(op.getResult());
  ArrayRef<LaneValidity> source = of(op.getSource());
  Lanes lanes(to.size());
  for (const ReshapeGroup& group : reshape_groups(from, to)) {
    if (auto kept = kept_dim(group, from, to)) {
      lanes[kept->second] = source[kept->first];
      continue;
    }
    bool whole = false;
    for (unsigned dim = group.from; dim < group.from_end; ++dim) {
      if (source[dim].kind == Kind::Tiles)
        return op.emitError() << "merges or splits dimension " << dim
                              << ", a tile that may end early; only whole dimensions can be reshaped";
      whole |= source[dim].kind == Kind::Whole;
    }
    if (whole)
      for (unsigned dim = group.to; dim < group.to_end; ++dim) lanes[dim] = {Kind::Whole, {}};
  }
  return lanes;
}

FailureOr<Validity::Lanes> Validity::lanes_of(Operation* op, RankedTensorType type) {
  Lanes any(type.getRank());
  if (AccessOp access(op); access) return access_lanes(access, type.getRank());
  return llvm::TypeSwitch<Operation*, FailureOr<Lanes>>(op)
      .Case([&](IndexOp index) -> FailureOr<Lanes> {
        // The numbers of a range of fixed length are there, whatever they are combined with.
        LaneValidity lane = lanes_of_tile(index.getTile());
        return Lanes{lane.kind == Kind::Whole ? LaneValidity{} : lane};
      })
      .Case([&](FullOp full) -> FailureOr<Lanes> {
        for (LaneValidity& lane : any) lane.kind = Kind::Whole;
        for (auto [dim, tile] : llvm::zip(full.getTileDims(), full.getTiles())) any[dim] = lanes_of_tile(tile);
        return any;
      })
      .Case([&](SplatOp) -> FailureOr<Lanes> { return any; })
      .Case([&](BroadcastOp broadcast) -> FailureOr<Lanes> {
        SmallVector<Dim> from = dims_of(broadcast.getSource()), to = dims_of(broadcast.getResult());
        for (auto [dim, lane] : llvm::enumerate(of(broadcast.getSource())))
          if (from[dim] == to[dim]) any[dim] = lane;
        return any;
      })
      .Case([&](ExpandDimsOp expand) -> FailureOr<Lanes> {
        Lanes lanes;
        if (isa<RankedTensorType>(expand.getSource().getType())) lanes = Lanes(of(expand.getSource()));
        lanes.insert(lanes.begin() + expand.getDim(), {Kind::Any, {}});
        return lanes;
      })
      .Case([&](TransposeOp transpose) -> FailureOr<Lanes> {
        for (auto [dim, source] : llvm::enumerate(transpose.getPermutation()))
          any[dim] = of(transpose.getSource())[source];
        return any;
      })
      .Case([&](SortOp sort) -> FailureOr<Lanes> {
        Lanes lanes(of(sort.getSource()));
        if (lanes[sort.getDim()].kind == Kind::Tiles)
          return sort.emitError() << "sorts along dimension " << sort.getDim()
                                  << ", a tile that may end early; only whole dimensions can be sorted";
        return lanes;
      })
      .Case([&](TakeOp take) -> FailureOr<Lanes> {
        Lanes lanes(of(take.getIndices()));
        for (auto [dim, lane] : llvm::enumerate(of(take.getSource()))) {
          if (dim == take.getDim()) continue;
          std::optional<LaneValidity> both = combine(lanes[dim], lane);
          if (!both) return refuse_mixture(op, dim);
          lanes[dim] = *both;
        }
        return lanes;
      })
      .Case([&](ReduceOp reduce) -> FailureOr<Lanes> {
        Lanes lanes;
        for (auto [dim, lane] : llvm::enumerate(of(reduce.getSource())))
          if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim))) lanes.push_back(lane);
        return lanes;
      })
      .Case([&](ReshapeOp reshape) { return reshape_lanes(reshape); })
      .Case([&](DotOp dot) { return dot_lanes(dot); })
      .Case([&](arith::SelectOp select) { return select_lanes(select); })
      .Default([&](Operation* op) -> FailureOr<Lanes> {
        FailureOr<Lanes> lanes = pointwise_lanes(op);
        return succeeded(lanes) && lanes->empty() ? any : lanes; // a constant has no operands
      });
}

void Validity::set(Value value, Lanes lanes) {
  // The one lane of a dimension of size 1 always exists; the dimension repeats to fit.
  for (auto [lane, dim] : llvm::zip(lanes, dims_of(value)))
    if (dim.is_one()) lane = {};
  lanes_[value] = std::move(lanes);
}

void Validity::set_all(ValueRange values, ValueRange from) {
  for (auto [value, source] : llvm::zip(values, from))
    if (isa<RankedTensorType>(value.getType())) set(value, Lanes(of(source)));
}

// The results of tile.combine and tile.scan.
LogicalResult Validity::visit_combiner(Operation* op, int64_t dropped) {
  auto combine_op = dyn_cast<CombineOp>(op);
  ValueRange sources = combine_op ? ValueRange(combine_op.getSources()) : ValueRange(cast<ScanOp>(op).getSources());
  FailureOr<Lanes> joint = join(op, sources);
  if (failed(joint)) return failure();
  if (dropped >= 0) joint->erase(joint->begin() + dropped);
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType())) set(result, *joint);
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult Validity::visit(Block& block) {
  for (Operation& op : block)
    if (failed(visit(&op))) return failure();
  return success();
}

// Variables of a loop get, besides what they had, what `next` has; says whether that changed something.
FailureOr<bool> Validity::narrow(Operation* op, ValueRange variables, ValueRange next) {
  bool changed = false;
  for (auto [variable, value] : llvm::zip(variables, next)) {
    if (!isa<RankedTensorType>(variable.getType())) continue;
    FailureOr<Lanes> both = join(op, {variable, value});
    if (failed(both)) return failure();
    if (*both == lanes_[variable]) continue;
    lanes_[variable] = *both;
    changed = true;
  }
  return changed;
}

LogicalResult Validity::visit(ForOp loop) {
  set_all(loop.carried(), loop.getInits());
  // What an iteration hands on may have fewer lanes than what the loop started from, so go on until nothing changes.
  // Each round adds a tile to some dimension or is the last.
  for (;;) {
    if (failed(visit(loop.block()))) return failure();
    FailureOr<bool> changed = narrow(loop, loop.carried(), loop.yield().getValues());
    if (failed(changed)) return failure();
    if (!*changed) break;
  }
  set_all(loop.getResults(), loop.carried());
  return success();
}

LogicalResult Validity::visit(scf::WhileOp loop) {
  set_all(loop.getBeforeArguments(), loop.getInits());
  for (;;) {
    if (failed(visit(*loop.getBeforeBody()))) return failure();
    set_all(loop.getAfterArguments(), loop.getConditionOp().getArgs());
    if (failed(visit(*loop.getAfterBody()))) return failure();
    FailureOr<bool> changed = narrow(loop, loop.getBeforeArguments(), loop.getYieldOp().getOperands());
    if (failed(changed)) return failure();
    if (!*changed) break;
  }
  set_all(loop.getResults(), loop.getConditionOp().getArgs());
  return success();
}

LogicalResult Validity::visit(scf::IfOp branch) {
  if (failed(visit(*branch.thenBlock()))) return failure();
  if (branch.elseBlock() && failed(visit(*branch.elseBlock()))) return failure();
  for (unsigned i = 0; i < branch.getNumResults(); ++i) {
    if (!isa<RankedTensorType>(branch.getResult(i).getType())) continue;
    FailureOr<Lanes> both = join(branch, {branch.thenYield().getOperand(i), branch.elseYield().getOperand(i)});
    if (failed(both)) return failure();
    set(branch.getResult(i), *both);
  }
  return success();
}

LogicalResult Validity::visit(Operation* op) {
  if (auto loop = dyn_cast<ForOp>(op)) return visit(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op)) return visit(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op)) return visit(branch);
  if (auto combine_op = dyn_cast<CombineOp>(op)) return visit_combiner(op, combine_op.getDim());
  if (isa<ScanOp>(op)) return visit_combiner(op, -1);
  if (op->getNumResults() != 1) return success();
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type) return success();
  FailureOr<Lanes> lanes = lanes_of(op, type);
  if (failed(lanes)) return failure();
  set(op->getResult(0), std::move(*lanes));
  return success();
}

FailureOr<Validity> Validity::of(KernelOp kernel) {
  Validity validity;
  for (Operation& op : kernel.block()) {
    auto loop = dyn_cast<ForOp>(op);
    if (loop && failed(validity.visit(loop))) return failure();
  }
  return validity;
}

} // namespace tilewright
