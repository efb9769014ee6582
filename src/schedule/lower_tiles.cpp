#include "schedule/lower_tiles.h"

#include "schedule/map_programs.h"

#include "ir/kernel_loops.h"
#include "schedule/tile_lowering.h"
#include "schedule/unroll_loops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace tilewright {

bool is_empty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

FailureOr<ProgramOp> TileLowering::run() {
  OpBuilder::InsertionGuard guard(builder_);
  ProgramOp program = make_program();
  builder_.setInsertionPointToStart(&program.block());
  LogicalResult lowered = lower_host();
  if (succeeded(lowered)) lowered = lower_parallel(program);
  builder_.setInsertionPointToEnd(&program.block());
  builder_.create<ReturnOp>(kernel_.getLoc(), ValueRange());
  if (failed(lowered)) return program.erase(), failure();
  return program;
}

//===----------------------------------------------------------------------===//
// The program and what the host part gives it
//===----------------------------------------------------------------------===//

ProgramOp TileLowering::make_program() {
  SmallVector<Value> arrays(kernel_.block().getArguments());
  for (EmptyOp empty : kernel_.block().getOps<EmptyOp>()) arrays.push_back(empty);
  auto type = builder_.getFunctionType(TypeRange(ValueRange(arrays)), {});
  auto program = builder_.create<ProgramOp>(kernel_.getLoc(), kernel_.getSymName(), type, ArrayAttr(), ArrayAttr(),
                                            IntegerAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr(), ArrayAttr());
  Block& block = program.getBody().emplaceBlock();
  for (Value array : arrays) mapping_.map(array, block.addArgument(array.getType(), array.getLoc()));
  for (unsigned i = 0; i < kernel_.block().getNumArguments(); ++i)
    if (StringRef name = kernel_.argument_name(i); !name.empty())
      program.setArgAttr(i, "tile.name", builder_.getStringAttr(name));
  return program;
}

// Numbers of the host part that the device uses; what nothing uses is dropped later.
LogicalResult TileLowering::lower_host() {
  for (Operation& op : kernel_.block().without_terminator()) {
    if (isa<EmptyOp, ForOp, BarrierOp, CheckOp>(op)) continue; // the host has checked, if there is something to check
    if (failed(lower(&op))) return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Outermost loops
//===----------------------------------------------------------------------===//

// What is known of the tiles of one dimension before any of them begins.
LoweredTile TileLowering::tile_of(ForOp loop, unsigned dim) {
  LoweredTile tile;
  tile.block = size_of(loop.getBlocks().getDims()[dim].dim());
  tile.lower = mapping_.lookup(loop.getLower()[dim]);
  tile.upper = mapping_.lookup(loop.getUpper()[dim]);
  return tile;
}

// Makes a variable of a loop known from its first index.
void TileLowering::define_variable(Location loc, Value variable, LoweredTile tile) {
  mapping_.map(variable, tile.begin);
  if (!isa<TileType>(variable.getType())) return;
  Value left = builder_.createOrFold<arith::SubIOp>(loc, tile.upper, tile.begin);
  tile.valid = builder_.createOrFold<arith::MinSIOp>(loc, left, constant(loc, tile.block));
  tiles_[variable] = tile;
}

// How many tiles a dimension of an outermost loop has: a number, or over run-time sizes a value.
OpFoldResult TileLowering::tile_count(ForOp loop, unsigned dim) {
  const Location loc = loop.getLoc();
  LoweredTile tile = tile_of(loop, dim);
  if (std::optional<int64_t> length = LoopDim{loop, dim}.length())
    return builder_.getIndexAttr(llvm::divideCeil(*length, tile.block));
  return count_of(loc, tile);
}

// What the host computes the same from.
TilesAttr TileLowering::tiles_of(ForOp loop) {
  SmallVector<DimAttr> lengths;
  SmallVector<int64_t> blocks;
  for (unsigned dim = 0; dim < loop.rank(); ++dim) {
    lengths.push_back(DimAttr::get(loop.getContext(), *LoopDim{loop, dim}.host_length()));
    blocks.push_back(size_of(loop.getBlocks().getDims()[dim].dim()));
  }
  return TilesAttr::get(loop.getContext(), lengths, blocks);
}

OpFoldResult TileLowering::program_count(ForOp loop) {
  OpFoldResult count = builder_.getIndexAttr(1);
  for (unsigned dim = 0; dim < loop.rank(); ++dim) count = multiply(loop.getLoc(), count, tile_count(loop, dim));
  return count;
}

static bool is_known_zero(OpFoldResult count) { return getConstantIntValue(count) == 0; }

OpFoldResult TileLowering::multiply(Location loc, OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y) return builder_.getIndexAttr(*x * *y);
  if (is_known_zero(a) || is_known_zero(b)) return builder_.getIndexAttr(0);
  return builder_.createOrFold<arith::MulIOp>(loc, as_value(loc, a), as_value(loc, b));
}

OpFoldResult TileLowering::add(Location loc, OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y) return builder_.getIndexAttr(*x + *y);
  return builder_.createOrFold<arith::AddIOp>(loc, as_value(loc, a), as_value(loc, b));
}

Value TileLowering::as_value(Location loc, OpFoldResult number) {
  if (auto value = dyn_cast<Value>(number)) return value;
  return constant(loc, cast<IntegerAttr>(cast<Attribute>(number)).getInt());
}

// The numbers of programs, or what the host needs to count them.
void TileLowering::set_program_counts(ProgramOp program) {
  bool known = true;
  SmallVector<SmallVector<Attribute>> tiles(1);
  SmallVector<int64_t> phases{0};
  for (Operation& op : kernel_.block()) {
    if (isa<BarrierOp>(op)) tiles.emplace_back(), phases.push_back(0);
    auto loop = dyn_cast<ForOp>(op);
    if (!loop) continue;
    TilesAttr counted = tiles_of(loop);
    tiles.back().push_back(counted);
    known &= llvm::all_of(counted.getLengths(), [](DimAttr length) { return length.dim().constant().has_value(); });
    if (known) phases.back() += counted.count({});
  }
  if (known) {
    program.setPrograms(std::accumulate(phases.begin(), phases.end(), int64_t(0)));
    if (phases.size() > 1) program.setPhases(phases);
    return;
  }
  auto lists =
      llvm::map_to_vector(tiles, [&](ArrayRef<Attribute> loops) -> Attribute { return builder_.getArrayAttr(loops); });
  program.setTilesAttr(builder_.getArrayAttr(lists));
}

// The programs of several loops are numbered one loop after the other; each program looks up which loop it is of.
LogicalResult TileLowering::lower_parallel(ProgramOp program) {
  SmallVector<ForOp> loops = parallel_loops(kernel_);
  if (has_data_bounds(loops.front()) && loops.size() == 1) return lower_data_bounds(program, loops.front());
  for (ForOp loop : loops)
    for (unsigned dim = 0; dim < loop.rank(); ++dim)
      if (!LoopDim{loop, dim}.host_length())
        return loop.emitError("has bounds that the host does not know: the kernel is not pinned");
  set_program_counts(program);
  Value id = builder_.create<ProgramIdOp>(program.getLoc(), builder_.getIndexType());
  OpFoldResult first = builder_.getIndexAttr(0);
  for (ForOp loop : loops) {
    const Location loc = loop.getLoc();
    Value own = builder_.createOrFold<arith::SubIOp>(loc, id, as_value(loc, first));
    if (loop == loops.back()) return lower_parallel(loop, own);
    OpFoldResult end = add(loc, first, program_count(loop));
    Value is_own = builder_.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, id, as_value(loc, end));
    auto branch = builder_.create<scf::IfOp>(loc, is_own, /*withElseRegion=*/true);
    builder_.setInsertionPointToStart(branch.thenBlock());
    if (failed(lower_parallel(loop, own))) return failure();
    builder_.setInsertionPointToStart(branch.elseBlock());
    first = end;
  }
  return success();
}

// Nobody but the program knows how many tiles there are; map_programs finds them before its id.
LogicalResult TileLowering::lower_data_bounds(ProgramOp program, ForOp loop) {
  const Location loc = loop.getLoc();
  SmallVector<OpFoldResult> counts;
  for (unsigned dim = 0; dim < loop.rank(); ++dim) counts.push_back(as_value(loc, tile_count(loop, dim)));
  Value id = builder_.create<ProgramIdOp>(program.getLoc(), builder_.getIndexType());
  return lower_parallel(loop, map_program(loop, id, counts), counts);
}

ValueRange TileLowering::map_program(ForOp loop, Value id, ArrayRef<OpFoldResult> counts) {
  auto map = builder_.create<MapProgramOp>(loop.getLoc(), id, counts);
  if (auto group = loop->getAttrOfType<IntegerAttr>(kGroup)) map.setGroup(group.getInt());
  return map.getCoordinates();
}

LogicalResult TileLowering::lower_parallel(ForOp loop, Value id) {
  SmallVector<OpFoldResult> counts;
  for (unsigned dim = 0; dim < loop.rank(); ++dim) counts.push_back(tile_count(loop, dim));
  SmallVector<Value> coordinates{id};
  if (loop.rank() > 1) coordinates = llvm::to_vector(map_program(loop, id, counts));
  return lower_parallel(loop, coordinates, counts);
}

LogicalResult TileLowering::lower_parallel(ForOp loop, ValueRange coordinates, ArrayRef<OpFoldResult> counts) {
  const Location loc = loop.getLoc();
  SmallVector<LoweredTile> tiles;
  for (unsigned dim = 0; dim < loop.rank(); ++dim) tiles.push_back(tile_of(loop, dim));
  for (auto [tile, count, coordinate, variable] : llvm::zip(tiles, counts, coordinates, loop.variables())) {
    tile.number = getConstantIntValue(count) == 1 ? constant(loc, 0) : coordinate;
    Value steps = builder_.createOrFold<arith::MulIOp>(loc, tile.number, constant(loc, tile.block));
    tile.begin = builder_.createOrFold<arith::AddIOp>(loc, steps, tile.lower);
    define_variable(loc, variable, tile);
  }
  return lower_body(loop.block());
}

//===----------------------------------------------------------------------===//
// Control flow. Values without elements are not carried: nothing asks for them.
//===----------------------------------------------------------------------===//

// Maps the values that have elements to as many lowered ones.
void TileLowering::map_present(ValueRange values, ValueRange lowered) {
  auto next = lowered.begin();
  for (Value value : values)
    if (!is_empty(lowered_type(value.getType()))) mapping_.map(value, *next++);
}

SmallVector<Value> TileLowering::present(ValueRange values) {
  SmallVector<Value> lowered;
  for (Value value : values)
    if (!is_empty(lowered_type(value.getType()))) lowered.push_back(mapping_.lookup(value));
  return lowered;
}

SmallVector<Type> TileLowering::present_types(ValueRange values) {
  SmallVector<Type> types;
  for (Value value : values)
    if (Type type = lowered_type(value.getType()); !is_empty(type)) types.push_back(type);
  return types;
}

LogicalResult TileLowering::lower_sequential(ForOp loop) {
  const Location loc = loop.getLoc();
  SmallVector<Value> carried = present(loop.getInits());
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
  SmallVector<Value> yielded = present(loop.yield().getValues());
  for (scf::ForOp each : llvm::reverse(nest)) {
    builder_.setInsertionPointToEnd(each.getBody());
    if (!yielded.empty()) builder_.create<scf::YieldOp>(loc, yielded);
    yielded.assign(each.result_begin(), each.result_end());
  }
  map_present(loop.getResults(), nest.front().getResults());
  return success();
}

// The ops of one block at the end of another, with a terminator of the same kind.
LogicalResult TileLowering::lower_region(Block& from, Block& to) {
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToEnd(&to);
  if (failed(lower_body(from))) return failure();
  if (auto condition = dyn_cast<scf::ConditionOp>(from.getTerminator()))
    builder_.create<scf::ConditionOp>(condition.getLoc(), mapping_.lookup(condition.getCondition()),
                                      present(condition.getArgs()));
  else
    builder_.create<scf::YieldOp>(from.getTerminator()->getLoc(), present(from.getTerminator()->getOperands()));
  return success();
}

LogicalResult TileLowering::lower_if(scf::IfOp branch) {
  auto lowered = builder_.create<scf::IfOp>(branch.getLoc(), present_types(branch.getResults()),
                                            mapping_.lookup(branch.getCondition()),
                                            /*addThenBlock=*/true, /*addElseBlock=*/branch.elseBlock() != nullptr);
  if (failed(lower_region(*branch.thenBlock(), *lowered.thenBlock()))) return failure();
  if (branch.elseBlock() && failed(lower_region(*branch.elseBlock(), *lowered.elseBlock()))) return failure();
  map_present(branch.getResults(), lowered.getResults());
  return success();
}

LogicalResult TileLowering::lower_while(scf::WhileOp loop) {
  const Location loc = loop.getLoc();
  auto lowered = builder_.create<scf::WhileOp>(loc, present_types(loop.getResults()), present(loop.getInits()));
  auto add_block = [&](Region& region, ValueRange arguments) -> Block& {
    Block& block = region.emplaceBlock();
    for (Type type : present_types(arguments)) block.addArgument(type, loc);
    map_present(arguments, block.getArguments());
    return block;
  };
  Block& before = add_block(lowered.getBefore(), loop.getBeforeArguments());
  if (failed(lower_region(*loop.getBeforeBody(), before))) return failure();
  Block& after = add_block(lowered.getAfter(), loop.getAfterArguments());
  if (failed(lower_region(*loop.getAfterBody(), after))) return failure();
  map_present(loop.getResults(), lowered.getResults());
  return success();
}

LogicalResult TileLowering::lower_body(Block& block) {
  for (Operation& op : block.without_terminator())
    if (failed(lower(&op))) return failure();
  return success();
}

bool TileLowering::gives_only_empty_values(Operation* op) const {
  return op->getNumResults() > 0 && op->getNumRegions() == 0 &&
         llvm::all_of(op->getResultTypes(), [&](Type type) { return is_empty(lowered_type(type)); });
}

LogicalResult TileLowering::lower(Operation* op) {
  if (auto loop = dyn_cast<ForOp>(op)) return lower_sequential(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op)) return lower_if(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op)) return lower_while(loop);
  if (gives_only_empty_values(op)) return success();
  if (AccessOp access(op); access) return lower_access(access);
  const Location loc = op->getLoc();
  auto value = [&](Value lowered) { mapping_.map(op->getResult(0), lowered); };
  return TypeSwitch<Operation*, LogicalResult>(op)
      .Case([&](ExtentOp extent) { return value(lower_extent(extent)), success(); })
      .Case([&](BeginOp begin) { return value(tiles_.at(begin.getTile()).begin), success(); })
      .Case([&](EndOp end) { return value(end_of(loc, tiles_.at(end.getTile()))), success(); })
      .Case([&](IdOp id) { return value(id_of(loc, tiles_.at(id.getTile()))), success(); })
      .Case([&](CountOp count) { return value(count_of(loc, tiles_.at(count.getTile()))), success(); })
      .Case([&](ShiftOp shift) { return lower_shift(shift), success(); })
      .Case([&](SliceOp slice) { return lower_slice(slice), success(); })
      .Case([&](IndexOp index) {
        Type type = lowered_type(index.getType());
        return value(builder_.create<IotaOp>(loc, type, tiles_.at(index.getTile()).begin)), success();
      })
      .Case([&](FullOp full) {
        return value(splat(loc, mapping_.lookup(full.getScalar()), lowered_type(full.getType()))), success();
      })
      .Case([&](ReduceOp reduce) { return value(lower_reduce(reduce)), success(); })
      .Case([&](CombineOp combine) { return lower_combine(combine), success(); })
      .Case([&](ScanOp scan) { return lower_scan(scan), success(); })
      .Case([&](DotOp dot) { return value(lower_dot(dot)), success(); })
      .Case([&](PrintOp print) { return lower_print(print), success(); })
      .Default([&](Operation*) { return lower_same(op); });
}

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
