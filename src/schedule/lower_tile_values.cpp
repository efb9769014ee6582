// Tiles as numbers, accesses, and the values computed from them.
#include "ir/context.h"
#include "ir/kernel_accesses.h"
#include "ir/kernel_loops.h"
#include "schedule/substitute_symbols.h"
#include "schedule/tile_lowering.h"
#include "support/error.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value TileLowering::constant(Location loc, int64_t value) {
  return builder_.create<arith::ConstantIndexOp>(loc, value);
}

// With the numbers of blocks and whole dimensions.
Dim TileLowering::known(const Dim& dim) const {
  return dim.substitute([&](Symbol symbol) -> std::optional<Dim> {
    if (symbol.kind == Symbol::Kind::Block) return Dim(block_sizes_[symbol.index]);
    if (symbol.kind == Symbol::Kind::Whole) return wholes_[symbol.index];
    return std::nullopt;
  });
}

int64_t TileLowering::size_of(const Dim& dim) const {
  return *known(dim).constant(); // the kernel is pinned, and what is not known is rolled or in a bucket
}

Value TileLowering::lower_extent(ExtentOp extent) {
  Dim dim = known(extent.getDim().dim());
  if (std::optional<int64_t> number = dim.constant()) return constant(extent.getLoc(), *number);
  return builder_.create<ExtentOp>(extent.getLoc(), builder_.getIndexType(), DimAttr::get(extent.getContext(), dim));
}

Type TileLowering::lowered_type(Type type) const {
  if (!isa<RankedTensorType>(type)) return type;
  auto shape = llvm::map_to_vector(dims_of(type), [&](const Dim& dim) { return size_of(dim); });
  return tilewright::block_type(element_type(type), shape);
}

Value TileLowering::end_of(Location loc, const LoweredTile& tile) {
  return builder_.createOrFold<arith::AddIOp>(loc, tile.begin, tile.valid);
}

Value TileLowering::id_of(Location loc, const LoweredTile& tile) {
  std::optional<int64_t> lower = tile.lower ? getConstantIntValue(tile.lower) : std::nullopt;
  if (tile.number && lower && *lower % tile.block == 0)
    return builder_.createOrFold<arith::AddIOp>(loc, tile.number, constant(loc, *lower / tile.block));
  Value block = constant(loc, tile.block);
  if (lower && *lower >= 0) return builder_.createOrFold<arith::DivUIOp>(loc, tile.begin, block);
  return builder_.createOrFold<arith::FloorDivSIOp>(loc, tile.begin, block);
}

// A slice is a loop of one tile.
Value TileLowering::count_of(Location loc, const LoweredTile& tile) {
  if (!tile.lower) return constant(loc, 1);
  Value length = builder_.createOrFold<arith::SubIOp>(loc, tile.upper, tile.lower);
  Value count = builder_.createOrFold<arith::CeilDivSIOp>(loc, length, constant(loc, tile.block));
  return builder_.createOrFold<arith::MaxSIOp>(loc, count, constant(loc, 0));
}

void TileLowering::lower_shift(ShiftOp shift) {
  LoweredTile tile = tiles_.at(shift.getTile());
  tile.begin = builder_.createOrFold<arith::AddIOp>(shift.getLoc(), tile.begin, mapping_.lookup(shift.getBy()));
  tile.number = {};
  tile.lower = {}; // its id is that of its first index
  mapping_.map(shift.getResult(), tile.begin);
  tiles_[shift.getResult()] = tile;
}

void TileLowering::lower_slice(SliceOp slice) {
  const Location loc = slice.getLoc();
  LoweredTile tile;
  tile.block = size_of(cast<TileType>(slice.getResult().getType()).getExtent().dim());
  tile.begin = mapping_.lookup(slice.getBegin());
  tile.valid = constant(loc, tile.block);
  if (slice.getEnd()) {
    Value left = builder_.createOrFold<arith::SubIOp>(loc, mapping_.lookup(slice.getEnd()), tile.begin);
    left = builder_.createOrFold<arith::MaxSIOp>(loc, left, constant(loc, 0));
    tile.valid = builder_.createOrFold<arith::MinSIOp>(loc, left, tile.valid);
  }
  mapping_.map(slice.getResult(), tile.begin);
  tiles_[slice.getResult()] = tile;
}

//===----------------------------------------------------------------------===//
// Which lanes exist
//===----------------------------------------------------------------------===//

// The lanes that exist in all of these tiles; null where all of `size` do.
Value TileLowering::valid_lanes(Location loc, ArrayRef<Value> tiles, int64_t size) {
  Value least;
  for (Value tile : tiles) {
    auto lowered = tiles_.find(tile);
    if (lowered == tiles_.end())
      fail(source_location(loc), "a value is carried by a loop and ends with a slice that the loop makes; with "
                                 "static_shapes=false, make the slice before the loop");
    Value valid = lowered->second.valid;
    if (std::optional<int64_t> lanes = getConstantIntValue(valid); lanes && *lanes >= size) continue;
    least = least && least != valid ? builder_.createOrFold<arith::MinSIOp>(loc, least, valid) : valid;
  }
  return least;
}

// The tiles that limit one dimension of a value as it stands at `user`.
SmallVector<Value, 1> TileLowering::tiles_of(Operation* user, Value value, unsigned dim) {
  const LaneValidity& lanes = validity_.of(value)[dim];
  if (lanes.kind != LaneValidity::Kind::Any) return lanes.tiles;
  // All lanes are alike; those count that exist in what the value was made to fit.
  if (Value tile = enclosing_tile(user, dims_of(value)[dim])) return {tile};
  return {};
}

// A mask of `shape`, true in the lanes that exist in all of these tiles of each dimension; null where all do.
Value TileLowering::exists(Location loc, ArrayRef<int64_t> shape, ArrayRef<SmallVector<Value, 1>> tiles) {
  Value mask;
  auto i32 = builder_.getI32Type();
  auto i1 = builder_.getI1Type();
  for (auto [dim, limits] : llvm::enumerate(tiles)) {
    Value valid = valid_lanes(loc, limits, shape[dim]);
    if (!valid) continue;
    auto line = cast<RankedTensorType>(block_type(i32, shape[dim]));
    Value lanes = builder_.create<IotaOp>(loc, line, constant(loc, 0));
    Value count = builder_.create<SplatOp>(loc, line, builder_.create<arith::IndexCastOp>(loc, i32, valid));
    Value below = builder_.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, lanes, count);
    SmallVector<int64_t> expanded{shape[dim]};
    for (size_t other = 0; other < shape.size(); ++other) {
      if (other == dim) continue;
      expanded.insert(expanded.begin() + other, 1);
      below = builder_.create<ExpandDimsOp>(loc, block_type(i1, expanded), below, other);
    }
    if (expanded != SmallVector<int64_t>(shape))
      below = builder_.create<BroadcastOp>(loc, block_type(i1, shape), below);
    mask = mask ? builder_.create<arith::AndIOp>(loc, mask, below).getResult() : below;
  }
  return mask;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

// `written`: the values that go to memory; their own missing lanes are not accessed.
TileLowering::LoweredSubscripts TileLowering::lower_subscripts(AccessOp access, Type block, ValueRange written) {
  LoweredSubscripts lowered;
  const Location loc = access.operation()->getLoc();
  auto shape = dyn_cast<RankedTensorType>(block);
  SmallVector<SmallVector<Value, 2>> limits(shape ? shape.getRank() : 0);
  auto limit = [&](int dim, ArrayRef<Value> tiles) {
    for (Value tile : tiles)
      if (!llvm::is_contained(limits[dim], tile)) limits[dim].push_back(tile);
  };
  for (auto [use, size] : llvm::zip(access.subscripts(), access.array_type().getDims())) {
    Subscript kind = use.kind;
    if (kind == Subscript::Tile) {
      // A tile over a dimension of size 1 stands for its one element, unless it is a block that ends after it.
      bool broadcasts = size.dim().is_one() && shape.getDimSize(use.block_dim) == 1;
      kind = broadcasts ? Subscript::Whole : Subscript::Block;
      if (!broadcasts) limit(use.block_dim, {use.operand});
    }
    if (use.is_gather())
      for (int dim = 0; dim < use.block_rank; ++dim)
        limit(use.block_dim + dim, tiles_of(access.operation(), use.operand, dim));
    lowered.kinds.push_back(static_cast<int32_t>(kind));
    if (kind != Subscript::Whole) lowered.operands.push_back(mapping_.lookup(use.operand));
  }
  auto limit_by = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType())) return;
    for (auto [dim, lanes] : llvm::enumerate(validity_.of(value))) limit(dim, lanes.tiles);
  };
  for (Value value : written) limit_by(value);
  if (Value mask = access.mask()) {
    limit_by(mask);
    lowered.mask = mapping_.lookup(mask);
  }
  for (auto [dim, tiles] : llvm::enumerate(limits)) {
    Value valid = valid_lanes(loc, tiles, shape.getDimSize(dim));
    if (!valid) continue;
    lowered.valid.push_back(valid);
    lowered.valid_dims.push_back(dim);
  }
  return lowered;
}

LogicalResult TileLowering::lower_access(AccessOp access) {
  Type type = lowered_type(access.block());
  if (is_empty(type)) return success();
  const Location loc = access.operation()->getLoc();
  Value array = mapping_.lookup(access.array());
  auto lowered = [&](Value value) { return mapping_.lookup(value); };
  auto result = [&](Operation* op) { mapping_.map(access.operation()->getResult(0), op->getResult(0)); };
  TypeSwitch<Operation*>(access.operation())
      .Case([&](LoadOp load) {
        LoweredSubscripts at = lower_subscripts(access, type, {});
        result(builder_.create<LoadOp>(loc, type, array, at.operands, at.valid, at.mask, at.kinds, at.valid_dims,
                                       load.getAccessAttr(), load.getEvictionAttr()));
      })
      .Case([&](StoreOp store) {
        LoweredSubscripts at = lower_subscripts(access, type, store.getValue());
        builder_.create<StoreOp>(loc, lowered(store.getValue()), array, at.operands, at.valid, at.mask, at.kinds,
                                 at.valid_dims, store.getAccessAttr(), store.getEvictionAttr());
      })
      .Case([&](AtomicOp atomic) {
        LoweredSubscripts at = lower_subscripts(access, type, atomic.getValue());
        result(builder_.create<AtomicOp>(loc, type, atomic.getKindAttr(), lowered(atomic.getValue()), array,
                                         at.operands, at.valid, at.mask, builder_.getDenseI32ArrayAttr(at.kinds),
                                         builder_.getDenseI32ArrayAttr(at.valid_dims), atomic.getOrderAttr(),
                                         atomic.getAccessAttr()));
      })
      .Case([&](AtomicCasOp atomic) {
        LoweredSubscripts at = lower_subscripts(access, type, {atomic.getExpected(), atomic.getValue()});
        result(builder_.create<AtomicCasOp>(loc, type, lowered(atomic.getExpected()), lowered(atomic.getValue()), array,
                                            at.operands, at.valid, at.mask, builder_.getDenseI32ArrayAttr(at.kinds),
                                            builder_.getDenseI32ArrayAttr(at.valid_dims), atomic.getOrderAttr()));
      });
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value TileLowering::splat(Location loc, Value scalar, Type type) {
  return isa<RankedTensorType>(type) ? builder_.create<SplatOp>(loc, type, scalar) : scalar;
}

Value TileLowering::lower_reduce(ReduceOp reduce) {
  const Location loc = reduce.getLoc();
  Type type = lowered_type(reduce.getResult().getType());
  auto source = cast<RankedTensorType>(lowered_type(reduce.getSource().getType()));
  if (is_empty(source))
    return splat(loc, builder_.create<arith::ConstantOp>(loc, neutral_element(reduce.getKind(), element_type(type))),
                 type);
  SmallVector<Value> valid;
  SmallVector<int32_t> valid_dims;
  SmallVector<int64_t> dims(reduce.getDims());
  llvm::sort(dims);
  for (int64_t dim : dims) {
    Value lanes = valid_lanes(loc, tiles_of(reduce, reduce.getSource(), dim), source.getDimSize(dim));
    if (!lanes) continue;
    valid.push_back(lanes);
    valid_dims.push_back(static_cast<int32_t>(dim));
  }
  return builder_.create<ReduceOp>(loc, type, reduce.getKind(), mapping_.lookup(reduce.getSource()), valid, dims,
                                   valid_dims);
}

Value TileLowering::lower_dot(DotOp dot) {
  auto a = cast<RankedTensorType>(lowered_type(dot.getA().getType()));
  if (is_empty(a)) return mapping_.lookup(dot.getAcc());
  const unsigned rank = a.getRank();
  SmallVector<Value, 1> tiles = tiles_of(dot, dot.getA(), rank - 1);
  for (Value tile : tiles_of(dot, dot.getB(), rank - 2))
    if (!llvm::is_contained(tiles, tile)) tiles.push_back(tile);
  Value valid = valid_lanes(dot.getLoc(), tiles, a.getDimSize(rank - 1));
  Value acc = mapping_.lookup(dot.getAcc());
  return builder_.create<DotOp>(dot.getLoc(), acc.getType(), mapping_.lookup(dot.getA()), mapping_.lookup(dot.getB()),
                                acc, valid);
}

// The lanes along a dimension that exist in all sources; null where all do.
Value TileLowering::valid_along(Operation* op, ValueRange sources, int64_t dim) {
  SmallVector<Value> tiles;
  for (Value source : sources)
    for (Value tile : tiles_of(op, source, dim))
      if (!llvm::is_contained(tiles, tile)) tiles.push_back(tile);
  return valid_lanes(op->getLoc(), tiles, size_of(dims_of(sources[0])[dim]));
}

void TileLowering::lower_combine(CombineOp op) {
  const Location loc = op.getLoc();
  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) types.push_back(lowered_type(type));
  if (is_empty(types[0])) return;
  if (is_empty(lowered_type(op.getSources()[0].getType()))) {
    for (auto [result, other, type] : llvm::zip(op.getResults(), op.getOther(), types))
      mapping_.map(result, splat(loc, mapping_.lookup(other), type));
    return;
  }
  SmallVector<Value> sources = present(op.getSources()), other = present(op.getOther());
  auto lowered = builder_.create<CombineOp>(loc, types, sources, other, valid_along(op, op.getSources(), op.getDim()),
                                            op.getDimAttr());
  op.getCombiner().cloneInto(&lowered.getCombiner(), mapping_);
  mapping_.map(op.getResults(), lowered.getResults());
}

void TileLowering::lower_scan(ScanOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) types.push_back(lowered_type(type));
  if (is_empty(types[0])) return;
  auto lowered =
      builder_.create<ScanOp>(op.getLoc(), types, present(op.getSources()),
                              valid_along(op, op.getSources(), op.getDim()), op.getDimAttr(), op.getReverseAttr());
  op.getCombiner().cloneInto(&lowered.getCombiner(), mapping_);
  mapping_.map(op.getResults(), lowered.getResults());
}

void TileLowering::lower_print(PrintOp op) {
  SmallVector<Value> valid;
  SmallVector<int32_t> valid_dims;
  Value value = op.getValue();
  if (value && is_empty(lowered_type(value.getType()))) return;
  if (value && isa<RankedTensorType>(value.getType()))
    for (auto [dim, size] : llvm::enumerate(dims_of(value))) {
      Value lanes = valid_lanes(op.getLoc(), tiles_of(op, value, dim), size_of(size));
      if (!lanes) continue;
      valid.push_back(lanes);
      valid_dims.push_back(static_cast<int32_t>(dim));
    }
  builder_.create<PrintOp>(op.getLoc(), op.getTextAttr(), value ? mapping_.lookup(value) : Value(), valid,
                           builder_.getDenseI32ArrayAttr(valid_dims));
}

// An operand whose missing lanes meet lanes that exist is made what changes nothing there.
Value TileLowering::completed(OpOperand& operand) {
  Operation* op = operand.getOwner();
  Value value = mapping_.lookup(operand.get());
  if (validity_.completed_by(operand).empty()) return value;
  // All of its missing lanes, also along dimensions where the other operand's are missing too: so a row is there as a
  // whole or not at all.
  SmallVector<SmallVector<Value, 1>> tiles;
  for (const LaneValidity& lanes : validity_.of(operand.get())) tiles.push_back(lanes.tiles);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    for (auto [dim, lanes] : llvm::enumerate(validity_.of(select.getTrueValue())))
      for (Value tile : lanes.tiles)
        if (!llvm::is_contained(tiles[dim], tile)) tiles[dim].push_back(tile);
  auto type = cast<RankedTensorType>(value.getType());
  Value mask = exists(op->getLoc(), type.getShape(), tiles);
  if (!mask) return value;
  // The condition of where() is false there.
  TypedAttr filling = isa<arith::SelectOp>(op) ? TypedAttr(builder_.getBoolAttr(false))
                                               : neutral_operand(op, operand.getOperandNumber());
  Value neutral = builder_.create<arith::ConstantOp>(op->getLoc(), filling);
  return builder_.create<arith::SelectOp>(op->getLoc(), mask, value, splat(op->getLoc(), neutral, type));
}

// Ops that mean the same on both levels.
LogicalResult TileLowering::lower_same(Operation* op) {
  bool known = isa<SplatOp, BroadcastOp, ExpandDimsOp, TransposeOp, ReshapeOp, TakeOp, SortOp, CompositeOp>(op) ||
               isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
  if (!known) return op->emitError() << "'" << op->getName() << "' is not supported by this version";
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Value source = mapping_.lookup(broadcast.getSource());
    if (source.getType() == lowered_type(broadcast.getType())) return mapping_.map(op->getResult(0), source), success();
  }
  SmallVector<Value> operands;
  for (OpOperand& operand : op->getOpOperands()) operands.push_back(completed(operand));
  Operation* copy = builder_.clone(*op, mapping_);
  copy->setOperands(operands);
  for (Value result : copy->getResults()) result.setType(lowered_type(result.getType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(copy))
    constant.setValueAttr(retype_constant(constant.getValue(), constant.getType()));
  return success();
}

} // namespace tilewright
