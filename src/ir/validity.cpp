#include "ir/validity.h"

using namespace mlir;

namespace tilewright {

using Kind = LaneValidity::Kind;

// What two values combined lane by lane have. A whole value beside one with missing lanes has no joint validity.
static std::optional<LaneValidity> combine(const LaneValidity& a, const LaneValidity& b) {
  if (a.kind == Kind::Any) return b;
  if (b.kind == Kind::Any) return a;
  if (a.kind != b.kind) return std::nullopt;
  LaneValidity both = a;
  for (Value tile : b.tiles)
    if (!llvm::is_contained(both.tiles, tile)) both.tiles.push_back(tile);
  return both;
}

FailureOr<Validity::Lanes> Validity::join(Operation* op, ValueRange values) {
  Lanes joined;
  for (Value value : values) {
    if (!isa<RankedTensorType>(value.getType())) continue;
    ArrayRef<LaneValidity> lanes = of(value);
    if (joined.empty()) joined.resize(lanes.size());
    for (auto [dim, lane] : llvm::enumerate(lanes)) {
      std::optional<LaneValidity> both = combine(joined[dim], lane);
      if (!both)
        return op->emitError() << "dimension " << dim
                               << " is whole in one operand and ends early in another; use where() to say what the "
                                  "missing lanes are";
      joined[dim] = *both;
    }
  }
  return joined;
}

// A tile ends where its loop ends.
static SmallVector<LaneValidity, 2> loaded_lanes(LoadOp load, unsigned rank) {
  SmallVector<LaneValidity, 2> lanes(rank, LaneValidity{Kind::Whole, {}});
  for (const SubscriptUse& use : subscripts_of(load))
    if (use.kind == Subscript::Tile) lanes[use.block_dim] = {Kind::Tiles, {use.operand}};
  return lanes;
}

LogicalResult Validity::visit(ForOp loop) {
  for (auto [init, argument] : llvm::zip(loop.getInits(), loop.carried()))
    if (isa<RankedTensorType>(init.getType())) lanes_[argument] = Lanes(of(init));
  // What an iteration hands on may have fewer lanes than what the loop started from, so go on until nothing changes.
  // Each round adds a tile to some dimension or is the last.
  for (bool changed = true; changed;) {
    for (Operation& op : loop.block())
      if (failed(visit(&op))) return failure();
    changed = false;
    for (auto [argument, next] : llvm::zip(loop.carried(), loop.yield().getValues())) {
      if (!isa<RankedTensorType>(argument.getType())) continue;
      FailureOr<Lanes> both = join(loop, {argument, next});
      if (failed(both)) return failure();
      if (*both != lanes_[argument]) {
        lanes_[argument] = *both;
        changed = true;
      }
    }
  }
  for (auto [argument, result] : llvm::zip(loop.carried(), loop.getResults()))
    if (isa<RankedTensorType>(result.getType())) lanes_[result] = Lanes(of(argument));
  return success();
}

LogicalResult Validity::visit(Operation* op) {
  if (auto loop = dyn_cast<ForOp>(op)) return visit(loop);
  if (op->getNumResults() != 1) return success();
  Value result = op->getResult(0);
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type) return success();
  Lanes lanes(type.getRank());
  if (auto load = dyn_cast<LoadOp>(op)) {
    lanes = loaded_lanes(load, type.getRank());
  } else if (auto index = dyn_cast<IndexOp>(op)) {
    lanes[0] = {Kind::Tiles, {index.getTile()}};
  } else if (auto full = dyn_cast<FullOp>(op)) {
    for (LaneValidity& lane : lanes) lane.kind = Kind::Whole;
    for (auto [dim, tile] : llvm::zip(full.getTileDims(), full.getTiles())) lanes[dim] = {Kind::Tiles, {tile}};
  } else if (isa<SplatOp>(op)) {
    // every lane: Any
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    SmallVector<Dim> from = dims_of(broadcast.getSource()), to = dims_of(result);
    for (auto [dim, lane] : llvm::enumerate(of(broadcast.getSource())))
      if (from[dim] == to[dim]) lanes[dim] = lane;
  } else if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    if (isa<RankedTensorType>(expand.getSource().getType()))
      lanes = Lanes(of(expand.getSource()));
    else
      lanes.clear();
    lanes.insert(lanes.begin() + expand.getDim(), {Kind::Any, {}});
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [dim, source] : llvm::enumerate(transpose.getPermutation()))
      lanes[dim] = of(transpose.getSource())[source];
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    lanes.clear();
    for (auto [dim, lane] : llvm::enumerate(of(reduce.getSource())))
      if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim))) lanes.push_back(lane);
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    unsigned rank = lanes.size();
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
  } else {
    FailureOr<Lanes> joined = join(op, op->getOperands());
    if (failed(joined)) return failure();
    if (!joined->empty()) lanes = *joined;
  }
  // The one lane of a dimension of size 1 always exists; the dimension repeats to fit.
  for (auto [lane, dim] : llvm::zip(lanes, dims_of(result)))
    if (dim.is_one()) lane = {};
  lanes_[result] = std::move(lanes);
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
