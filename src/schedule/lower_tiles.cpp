#include "schedule/lower_tiles.h"

#include "ir/kernel_loops.h"
#include "ir/validity.h"
#include "schedule/substitute_symbols.h"
#include "schedule/unroll_loops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright {
namespace {

bool is_empty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

/// A tile as program IR knows it.
struct LoweredTile {
  Value begin;
  Value valid;  // lanes that exist, at most `block`
  Value number; // its number from the loop's lower bound on; null where it must be computed from `begin`
  int64_t block = 0;
  Value lower, upper;
};

class TileLowering {
public:
  TileLowering(KernelOp kernel, ArrayRef<int64_t> block_sizes, const Validity& validity, OpBuilder& builder)
      : kernel_(kernel), block_sizes_(block_sizes), wholes_(kernel.whole_dims()), validity_(validity),
        builder_(builder) {}

  FailureOr<ProgramOp> run() {
    OpBuilder::InsertionGuard guard(builder_);
    ProgramOp program = make_program();
    builder_.setInsertionPointToStart(&program.block());
    LogicalResult lowered = lower_host();
    if (succeeded(lowered)) lowered = lower_parallel(program, parallel_loop(kernel_));
    builder_.create<ReturnOp>(kernel_.getLoc(), ValueRange());
    if (failed(lowered)) return program.erase(), failure();
    return program;
  }

private:
  //===--------------------------------------------------------------------===//
  // The program and what the host part gives it
  //===--------------------------------------------------------------------===//

  ProgramOp make_program() {
    SmallVector<Value> arrays(kernel_.block().getArguments());
    for (EmptyOp empty : kernel_.block().getOps<EmptyOp>()) arrays.push_back(empty);
    auto type = builder_.getFunctionType(TypeRange(ValueRange(arrays)), {});
    auto program = builder_.create<ProgramOp>(kernel_.getLoc(), kernel_.getSymName(), type, ArrayAttr(), ArrayAttr(),
                                              IntegerAttr());
    Block& block = program.getBody().emplaceBlock();
    for (Value array : arrays) mapping_.map(array, block.addArgument(array.getType(), array.getLoc()));
    for (unsigned i = 0; i < kernel_.block().getNumArguments(); ++i)
      if (StringRef name = kernel_.argument_name(i); !name.empty())
        program.setArgAttr(i, "tile.name", builder_.getStringAttr(name));
    return program;
  }

  // Numbers of the host part that the device uses; what nothing uses is dropped later.
  LogicalResult lower_host() {
    for (Operation& op : kernel_.block().without_terminator()) {
      if (isa<EmptyOp, ForOp>(op)) continue;
      if (isa<CheckOp>(op)) return op.emitError("is not settled: the kernel is not pinned");
      if (failed(lower(&op))) return failure();
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  Value constant(Location loc, int64_t value) { return builder_.create<arith::ConstantIndexOp>(loc, value); }

  int64_t size_of(const Dim& dim) const {
    std::optional<int64_t> size = dim.substitute([&](Symbol symbol) -> std::optional<Dim> {
                                       if (symbol.kind == Symbol::Kind::Block) return Dim(block_sizes_[symbol.index]);
                                       if (symbol.kind == Symbol::Kind::Whole) return wholes_[symbol.index];
                                       return std::nullopt;
                                     })
                                      .constant();
    return *size; // the kernel is pinned
  }

  Type lowered_type(Type type) const {
    if (!isa<RankedTensorType>(type)) return type;
    auto shape = llvm::map_to_vector(dims_of(type), [&](const Dim& dim) { return size_of(dim); });
    return tilewright::block_type(element_type(type), shape);
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  // What is known of the tiles of one dimension before any of them begins.
  LoweredTile tile_of(ForOp loop, unsigned dim) {
    LoweredTile tile;
    tile.block = size_of(loop.getBlocks().getDims()[dim].dim());
    tile.lower = mapping_.lookup(loop.getLower()[dim]);
    tile.upper = mapping_.lookup(loop.getUpper()[dim]);
    return tile;
  }

  // Makes a variable of a loop known from its first index.
  void define_variable(Location loc, Value variable, LoweredTile tile) {
    mapping_.map(variable, tile.begin);
    if (!isa<TileType>(variable.getType())) return;
    Value left = builder_.createOrFold<arith::SubIOp>(loc, tile.upper, tile.begin);
    tile.valid = builder_.createOrFold<arith::MinSIOp>(loc, left, constant(loc, tile.block));
    tiles_[variable] = tile;
  }

  LogicalResult lower_parallel(ProgramOp program, ForOp loop) {
    const Location loc = loop.getLoc();
    SmallVector<LoweredTile> tiles;
    SmallVector<int64_t> counts;
    int64_t programs = 1;
    for (unsigned dim = 0; dim < loop.rank(); ++dim) {
      std::optional<int64_t> length = LoopDim{loop, dim}.length();
      if (!length) return loop.emitError("has no constant bounds: the kernel is not pinned");
      tiles.push_back(tile_of(loop, dim));
      counts.push_back(llvm::divideCeil(*length, tiles.back().block));
      programs *= counts.back();
    }
    program.setPrograms(programs);
    Value id = builder_.create<ProgramIdOp>(loc, builder_.getIndexType());
    SmallVector<Value> coordinates{id};
    if (loop.rank() > 1) {
      SmallVector<Type> types(loop.rank(), builder_.getIndexType());
      coordinates = builder_.create<MapProgramOp>(loc, types, id, counts).getCoordinates();
    }
    for (auto [tile, count, coordinate, variable] : llvm::zip(tiles, counts, coordinates, loop.variables())) {
      tile.number = count == 1 ? constant(loc, 0) : coordinate;
      Value steps = builder_.createOrFold<arith::MulIOp>(loc, tile.number, constant(loc, tile.block));
      tile.begin = builder_.createOrFold<arith::AddIOp>(loc, steps, tile.lower);
      define_variable(loc, variable, tile);
    }
    return lower_body(loop.block());
  }

  LogicalResult lower_sequential(ForOp loop) {
    const Location loc = loop.getLoc();
    SmallVector<Value> carried;
    for (Value init : loop.getInits())
      if (Value lowered = mapping_.lookupOrNull(init)) carried.push_back(lowered); // none: an empty value
    OpBuilder::InsertionGuard guard(builder_);
    SmallVector<scf::ForOp> nest;
    for (unsigned dim = 0; dim < loop.rank(); ++dim) {
      LoweredTile tile = tile_of(loop, dim);
      auto next = builder_.create<scf::ForOp>(loc, tile.lower, tile.upper, constant(loc, tile.block), carried);
      carried.assign(next.getRegionIterArgs().begin(), next.getRegionIterArgs().end());
      tile.begin = next.getInductionVar();
      nest.push_back(next);
      builder_.setInsertionPointToStart(next.getBody());
      define_variable(loc, loop.variables()[dim], tile);
    }
    if (Attribute number = loop->getAttr(kLoopNumber)) nest.back()->setAttr(kLoopNumber, number);

    map_present(loop.carried(), nest.back().getRegionIterArgs());
    if (failed(lower_body(loop.block()))) return failure();
    SmallVector<Value> yielded;
    for (Value value : loop.yield().getValues())
      if (Value lowered = mapping_.lookupOrNull(value)) yielded.push_back(lowered);
    for (scf::ForOp each : llvm::reverse(nest)) {
      builder_.setInsertionPointToEnd(each.getBody());
      if (!yielded.empty()) builder_.create<scf::YieldOp>(loc, yielded);
      yielded.assign(each.result_begin(), each.result_end());
    }
    map_present(loop.getResults(), nest.front().getResults());
    return success();
  }

  // Maps the values that have elements to as many lowered ones.
  void map_present(ValueRange values, ValueRange lowered) {
    auto next = lowered.begin();
    for (Value value : values)
      if (!is_empty(lowered_type(value.getType()))) mapping_.map(value, *next++);
  }

  LogicalResult lower_body(Block& block) {
    for (Operation& op : block.without_terminator())
      if (failed(lower(&op))) return failure();
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Tiles as numbers
  //===--------------------------------------------------------------------===//

  Value end_of(Location loc, const LoweredTile& tile) {
    return builder_.createOrFold<arith::AddIOp>(loc, tile.begin, tile.valid);
  }

  Value id_of(Location loc, const LoweredTile& tile) {
    std::optional<int64_t> lower = getConstantIntValue(tile.lower);
    if (tile.number && lower && *lower % tile.block == 0)
      return builder_.createOrFold<arith::AddIOp>(loc, tile.number, constant(loc, *lower / tile.block));
    Value block = constant(loc, tile.block);
    if (lower && *lower >= 0) return builder_.createOrFold<arith::DivUIOp>(loc, tile.begin, block);
    return builder_.createOrFold<arith::FloorDivSIOp>(loc, tile.begin, block);
  }

  Value count_of(Location loc, const LoweredTile& tile) {
    Value length = builder_.createOrFold<arith::SubIOp>(loc, tile.upper, tile.lower);
    Value count = builder_.createOrFold<arith::CeilDivSIOp>(loc, length, constant(loc, tile.block));
    return builder_.createOrFold<arith::MaxSIOp>(loc, count, constant(loc, 0));
  }

  // The lanes that exist in all of these tiles; null where all of `size` do.
  Value valid_lanes(Location loc, ArrayRef<Value> tiles, int64_t size) {
    Value least;
    for (Value tile : tiles) {
      Value valid = tiles_.at(tile).valid;
      if (std::optional<int64_t> lanes = getConstantIntValue(valid); lanes && *lanes >= size) continue;
      least = least && least != valid ? builder_.createOrFold<arith::MinSIOp>(loc, least, valid) : valid;
    }
    return least;
  }

  // The tiles that limit one dimension of a value as it stands at `user`.
  SmallVector<Value, 1> tiles_of(Operation* user, Value value, unsigned dim) {
    const LaneValidity& lanes = validity_.of(value)[dim];
    if (lanes.kind != LaneValidity::Kind::Any) return lanes.tiles;
    // All lanes are alike; those count that exist in what the value was made to fit.
    if (Value tile = enclosing_tile(user, dims_of(value)[dim])) return {tile};
    return {};
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  struct LoweredSubscripts {
    SmallVector<Value> operands, valid;
    SmallVector<int32_t> kinds, valid_dims;
  };

  // `stored`: the value that a store writes; its own missing lanes are not written either.
  template <typename Op> LoweredSubscripts lower_subscripts(Op access, Type block, Value stored) {
    LoweredSubscripts lowered;
    auto array = cast<ArrayType>(access.getArray().getType());
    auto shape = dyn_cast<RankedTensorType>(block);
    for (auto [use, size] : llvm::zip(subscripts_of(access), array.getDims())) {
      // A tile over a dimension of size 1 stands for its one element, unless it is a block that ends after it.
      bool broadcasts = use.kind == Subscript::Tile && size.dim().is_one() && shape.getDimSize(use.block_dim) == 1;
      bool tile = use.kind == Subscript::Tile && !broadcasts;
      bool whole = use.kind == Subscript::Whole || (use.kind == Subscript::Tile && !tile);
      lowered.kinds.push_back(static_cast<int32_t>(tile    ? Subscript::Block
                                                   : whole ? Subscript::Whole
                                                           : Subscript::Scalar));
      if (!whole) lowered.operands.push_back(mapping_.lookup(use.operand));
      if (use.kind == Subscript::Scalar) continue;
      SmallVector<Value, 2> tiles;
      if (tile) tiles.push_back(use.operand);
      if (stored && isa<RankedTensorType>(stored.getType()))
        for (Value limit : validity_.of(stored)[use.block_dim].tiles)
          if (!llvm::is_contained(tiles, limit)) tiles.push_back(limit);
      Value valid = valid_lanes(access.getLoc(), tiles, shape.getDimSize(use.block_dim));
      if (!valid) continue;
      lowered.valid.push_back(valid);
      lowered.valid_dims.push_back(use.block_dim);
    }
    return lowered;
  }

  void lower_load(LoadOp load) {
    Type type = lowered_type(load.getType());
    LoweredSubscripts at = lower_subscripts(load, type, {});
    mapping_.map(load.getResult(), builder_.create<LoadOp>(load.getLoc(), type, mapping_.lookup(load.getArray()),
                                                           at.operands, at.valid, at.kinds, at.valid_dims));
  }

  void lower_store(StoreOp store) {
    Type type = lowered_type(store.getValue().getType());
    if (is_empty(type)) return;
    LoweredSubscripts at = lower_subscripts(store, type, store.getValue());
    builder_.create<StoreOp>(store.getLoc(), mapping_.lookup(store.getValue()), mapping_.lookup(store.getArray()),
                             at.operands, at.valid, at.kinds, at.valid_dims);
  }

  Value splat(Location loc, Value scalar, Type type) {
    return isa<RankedTensorType>(type) ? builder_.create<SplatOp>(loc, type, scalar) : scalar;
  }

  Value lower_reduce(ReduceOp reduce) {
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

  Value lower_dot(DotOp dot) {
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

  // Ops that mean the same on both levels.
  LogicalResult lower_same(Operation* op) {
    bool known = isa<SplatOp, BroadcastOp, ExpandDimsOp, TransposeOp, CompositeOp>(op) ||
                 isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
    if (!known) return op->emitError() << "'" << op->getName() << "' is not supported by this version";
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      Value source = mapping_.lookup(broadcast.getSource());
      if (source.getType() == lowered_type(broadcast.getType()))
        return mapping_.map(op->getResult(0), source), success();
    }
    Operation* copy = builder_.clone(*op, mapping_);
    for (Value result : copy->getResults()) result.setType(lowered_type(result.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(copy))
      constant.setValueAttr(retype_constant(constant.getValue(), constant.getType()));
    return success();
  }

  bool gives_only_empty_values(Operation* op) const {
    return op->getNumResults() > 0 &&
           llvm::all_of(op->getResultTypes(), [&](Type type) { return is_empty(lowered_type(type)); });
  }

  LogicalResult lower(Operation* op) {
    if (auto loop = dyn_cast<ForOp>(op)) return lower_sequential(loop);
    if (gives_only_empty_values(op)) return success();
    const Location loc = op->getLoc();
    auto value = [&](Value lowered) { mapping_.map(op->getResult(0), lowered); };
    return TypeSwitch<Operation*, LogicalResult>(op)
        .Case([&](LoadOp load) { return lower_load(load), success(); })
        .Case([&](StoreOp store) { return lower_store(store), success(); })
        .Case([&](ExtentOp extent) { return value(constant(loc, size_of(extent.getDim().dim()))), success(); })
        .Case([&](BeginOp begin) { return value(tiles_.at(begin.getTile()).begin), success(); })
        .Case([&](EndOp end) { return value(end_of(loc, tiles_.at(end.getTile()))), success(); })
        .Case([&](IdOp id) { return value(id_of(loc, tiles_.at(id.getTile()))), success(); })
        .Case([&](CountOp count) { return value(count_of(loc, tiles_.at(count.getTile()))), success(); })
        .Case([&](IndexOp index) {
          Type type = lowered_type(index.getType());
          return value(builder_.create<IotaOp>(loc, type, tiles_.at(index.getTile()).begin)), success();
        })
        .Case([&](FullOp full) {
          return value(splat(loc, mapping_.lookup(full.getScalar()), lowered_type(full.getType()))), success();
        })
        .Case([&](ReduceOp reduce) { return value(lower_reduce(reduce)), success(); })
        .Case([&](DotOp dot) { return value(lower_dot(dot)), success(); })
        .Default([&](Operation*) { return lower_same(op); });
  }

  KernelOp kernel_;
  ArrayRef<int64_t> block_sizes_;
  SmallVector<Dim> wholes_;
  const Validity& validity_;
  OpBuilder& builder_;
  IRMapping mapping_;
  DenseMap<Value, LoweredTile> tiles_;
};

} // namespace

FailureOr<ProgramOp> lower_tiles(KernelOp pinned, ArrayRef<int64_t> block_sizes, OpBuilder& builder) {
  if (block_sizes.size() < block_id_count(pinned))
    return pinned.emitError() << "has " << block_id_count(pinned) << " block ids, " << block_sizes.size()
                              << " block sizes are given";
  for (int64_t size : block_sizes)
    if (size < 1) return pinned.emitError() << "cannot have a block of size " << size;
  for (Type type : pinned.block().getArgumentTypes())
    if (auto array = dyn_cast<ArrayType>(type); array && !array.is_pinned())
      return pinned.emitError("has arguments whose sizes are not pinned");
  FailureOr<Validity> validity = Validity::of(pinned);
  if (failed(validity)) return failure();
  return TileLowering(pinned, block_sizes, *validity, builder).run();
}

} // namespace tilewright
