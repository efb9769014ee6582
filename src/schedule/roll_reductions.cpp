#include "schedule/roll_reductions.h"

#include "ir/kernel_accesses.h"
#include "ir/kernel_loops.h"
#include "ir/rolling.h"
#include "schedule/count_lanes.h"
#include "schedule/substitute_symbols.h"
#include "support/planted_bug.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
namespace {

Value combine(OpBuilder& builder, Location loc, Reduction kind, Value a, Value b) {
  Type element = element_type(a.getType());
  const bool is_float = isa<FloatType>(element), is_bool = element.isInteger(1);
  switch (kind) {
  case Reduction::Add:
    return is_float ? builder.create<arith::AddFOp>(loc, a, b).getResult() : builder.create<arith::AddIOp>(loc, a, b);
  case Reduction::Mul:
    return is_float ? builder.create<arith::MulFOp>(loc, a, b).getResult() : builder.create<arith::MulIOp>(loc, a, b);
  case Reduction::Max:
    if (is_float) return builder.create<arith::MaximumFOp>(loc, a, b);
    return is_bool ? builder.create<arith::OrIOp>(loc, a, b).getResult() : builder.create<arith::MaxSIOp>(loc, a, b);
  case Reduction::Min:
    if (is_float) return builder.create<arith::MinimumFOp>(loc, a, b);
    return is_bool ? builder.create<arith::AndIOp>(loc, a, b).getResult() : builder.create<arith::MinSIOp>(loc, a, b);
  case Reduction::And: return builder.create<arith::AndIOp>(loc, a, b);
  case Reduction::Or: return builder.create<arith::OrIOp>(loc, a, b);
  }
  llvm_unreachable("unknown reduction");
}

Value neutral_value(OpBuilder& builder, ReduceOp reduce) {
  Type type = reduce.getResult().getType();
  const bool wrong = planted(PlantedBug::wrong_neutral_element);
  Value scalar = builder.create<arith::ConstantOp>(
      reduce.getLoc(), neutral_element(wrong ? Reduction::Add : reduce.getKind(), element_type(type)));
  return isa<RankedTensorType>(type) ? builder.create<SplatOp>(reduce.getLoc(), type, scalar) : scalar;
}

/// Rewrites a kernel for one dimension.
class Roller {
public:
  Roller(KernelOp kernel, uint32_t whole, const Dim& length, uint32_t block)
      : whole_(whole), length_(length), block_(DimAttr::get(kernel.getContext(), Dim(Symbol::block(block)))) {}

  // Leaves the wide part as it was, which nothing uses any more but itself.
  void roll(const RollingPlan::Body& body) {
    Operation* end = body.block->getTerminator();
    for (unsigned stage = 0; stage < body.stage_count() + 1; ++stage) {
      SmallVector<Operation*> sinks;
      for (const RollingPlan::Step& step : body.steps) {
        if (step.stage != stage) continue;
        if (step.sink)
          sinks.push_back(step.op);
        else
          step.op->moveBefore(end);
      }
      if (!sinks.empty()) make_loop(end, sinks);
    }
  }

private:
  // One loop with these sinks and all that they need, before `end`.
  void make_loop(Operation* end, ArrayRef<Operation*> sinks) {
    OpBuilder builder(end);
    const Location loc = sinks.front()->getLoc();
    SmallVector<ReduceOp> reductions;
    SmallVector<Value> inits;
    for (Operation* sink : sinks) {
      auto reduce = dyn_cast<ReduceOp>(sink);
      if (!reduce) continue;
      reductions.push_back(reduce);
      inits.push_back(neutral_value(builder, reduce));
    }
    Value lower = builder.create<arith::ConstantIndexOp>(loc, 0);
    Dim length = length_ - Dim(planted(PlantedBug::rolled_dimension_short));
    Value upper =
        builder.createOrFold<ExtentOp>(loc, builder.getIndexType(), DimAttr::get(builder.getContext(), length));
    auto loop = builder.create<ForOp>(loc, TypeRange(ValueRange(inits)), lower, upper, inits,
                                      DimsAttr::get(builder.getContext(), block_), /*parallel=*/false);
    Block& block = loop.getBody().emplaceBlock();
    Value tile = block.addArgument(TileType::get(builder.getContext(), block_), loc);
    for (Value init : inits) block.addArgument(init.getType(), loc);

    builder.setInsertionPointToStart(&block);
    IRMapping mapping;
    for (Operation* op : ops_of_loop(sinks)) copy(builder, op, tile, mapping);
    SmallVector<Value> yielded;
    for (auto [reduce, carried] : llvm::zip(reductions, loop.carried()))
      yielded.push_back(
          combine(builder, reduce.getLoc(), reduce.getKind(), carried, mapping.lookup(reduce.getResult())));
    builder.create<YieldOp>(loc, yielded);
    for (auto [reduce, result] : llvm::zip(reductions, loop.getResults()))
      reduce.getResult().replaceAllUsesWith(result);
  }

  // The sinks and their slices in the order of the source, those of outer bodies first.
  SmallVector<Operation*> ops_of_loop(ArrayRef<Operation*> sinks) {
    llvm::SetVector<Operation*> ops;
    for (Operation* sink : sinks) {
      ops.set_union(wide_slice(sink, whole_));
      ops.insert(sink);
    }
    SmallVector<Operation*> ordered = ops.takeVector();
    llvm::sort(ordered, [](Operation* a, Operation* b) {
      if (a->getBlock() == b->getBlock()) return a->isBeforeInBlock(b);
      return a->getBlock()->getParent()->isAncestor(b->getBlock()->getParent());
    });
    return ordered;
  }

  Type block_type_of(Type type) {
    return substitute(type, [&](Symbol symbol) -> std::optional<Dim> {
      if (symbol != Symbol::whole(whole_)) return std::nullopt;
      return block_.dim();
    });
  }

  // The subscripts of an access with the tile in place of `:`, or moved to where a slice begins.
  template <typename Op>
  std::pair<SmallVector<Value>, SmallVector<int32_t>> subscripts_with(OpBuilder& builder, Op access, Type value,
                                                                      Value tile, IRMapping& mapping) {
    SmallVector<Value> operands;
    SmallVector<int32_t> kinds;
    SmallVector<Dim> dims = dims_of(value);
    for (const SubscriptUse& use : subscripts_of(access)) {
      bool is_range = use.kind == Subscript::Whole || use.kind == Subscript::Tile;
      bool rolled = is_range && dims[use.block_dim].mentions(Symbol::whole(whole_));
      kinds.push_back(static_cast<int32_t>(rolled ? Subscript::Tile : use.kind));
      if (rolled && use.kind == Subscript::Whole)
        operands.push_back(tile);
      else if (rolled)
        operands.push_back(
            builder.create<ShiftOp>(access.getLoc(), tile, use.operand.template getDefiningOp<SliceOp>().getBegin()));
      else if (use.operand)
        operands.push_back(mapping.lookupOrDefault(use.operand));
    }
    return {operands, kinds};
  }

  void copy(OpBuilder& builder, Operation* op, Value tile, IRMapping& mapping) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      auto [operands, kinds] = subscripts_with(builder, load, load.getType(), tile, mapping);
      auto copy = builder.create<LoadOp>(load.getLoc(), block_type_of(load.getType()), load.getArray(), operands,
                                         ValueRange(), kinds, ArrayRef<int32_t>());
      mapping.map(load.getResult(), with_hints_of(copy, load));
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      auto [operands, kinds] = subscripts_with(builder, store, store.getValue().getType(), tile, mapping);
      auto copy = builder.create<StoreOp>(store.getLoc(), mapping.lookup(store.getValue()), store.getArray(), operands,
                                          ValueRange(), kinds, ArrayRef<int32_t>());
      with_hints_of(copy, store);
    } else if (auto full = dyn_cast<FullOp>(op)) {
      mapping.map(full.getResult(), copy_full(builder, full, tile));
    } else {
      for (Value result : builder.clone(*op, mapping)->getResults()) result.setType(block_type_of(result.getType()));
    }
  }

  // The rolled dimension ends where the loop's tile ends.
  Value copy_full(OpBuilder& builder, FullOp full, Value tile) {
    SmallVector<Value> tiles(full.getTiles());
    SmallVector<int32_t> tile_dims(full.getTileDims());
    for (auto [dim, extent] : llvm::enumerate(dims_of(full.getType()))) {
      if (!extent.mentions(Symbol::whole(whole_))) continue;
      tiles.push_back(tile);
      tile_dims.push_back(static_cast<int32_t>(dim));
    }
    return builder.create<FullOp>(full.getLoc(), block_type_of(full.getType()), full.getScalar(), tiles, tile_dims);
  }

  uint32_t whole_;
  Dim length_;
  DimAttr block_;
};

void erase_wide_ops(KernelOp kernel, uint32_t whole) {
  SmallVector<Operation*> dead;
  kernel.walk([&](Operation* op) {
    if (is_wide(op, whole)) dead.push_back(op);
  });
  for (Operation* op : dead) op->dropAllUses();
  for (Operation* op : dead) op->erase();
}

} // namespace

LogicalResult roll_reductions(KernelOp kernel, ArrayRef<std::optional<int64_t>> sizes,
                              SmallVectorImpl<int64_t>& block_sizes) {
  bool all_known = llvm::all_of(kernel.whole_dims(), [](const Dim& dim) { return dim.constant().has_value(); });
  if (all_known && llvm::none_of(sizes, [](std::optional<int64_t> size) { return size.has_value(); })) return success();
  SmallVector<uint32_t> rollable = rollable_dims(kernel);
  if (sizes.size() > rollable.size())
    return kernel.emitError() << "has " << rollable.size() << " dimensions to roll, " << sizes.size()
                              << " blocks are given";
  if (failed(count_lanes(kernel))) return failure();
  SmallVector<Dim> wholes = kernel.whole_dims();
  SmallVector<uint32_t> rolled;
  SmallVector<int64_t> size_of(wholes.size(), 0);
  for (auto [i, whole] : llvm::enumerate(rollable)) {
    const bool given = i < sizes.size() && sizes[i].has_value();
    const int64_t size = given ? *sizes[i] : 0;
    std::optional<int64_t> length = wholes[whole].constant();
    if (!length && !given)
      return kernel.emitError() << "has a dimension whose length is known at run time only, " << wholes[whole].str()
                                << "; it is rolled";
    if (!given) continue;
    if (size < 1) return kernel.emitError() << "cannot roll a dimension in blocks of " << size;
    if (length && size >= *length) continue;
    rolled.push_back(whole);
    size_of[whole] = size;
  }
  for (uint32_t whole : rolling_order(kernel, rolled)) {
    std::string reason;
    std::optional<RollingPlan> plan = RollingPlan::of(kernel, whole, reason);
    if (!plan) return kernel.emitError() << "cannot roll dimension r" << whole << ": " << reason;
    uint32_t block = block_sizes.size();
    block_sizes.push_back(size_of[whole]);
    Roller roller(kernel, whole, wholes[whole], block);
    for (const RollingPlan::Body& body : plan->bodies()) roller.roll(body);
    erase_wide_ops(kernel, whole);
  }
  return success();
}

} // namespace tilewright
