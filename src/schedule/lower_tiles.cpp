#include "schedule/lower_tiles.h"

#include "schedule/map_programs.h"

#include "ir/kernel_loops.h"
#include "schedule/tile_lowering.h"
#include "schedule/unroll_loops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

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
                                            IntegerAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr());
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
    if (isa<EmptyOp, ForOp, BarrierOp>(op)) continue;
    if (isa<CheckOp>(op)) return op.emitError("is not settled: the kernel is not pinned");
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

static int64_t tile_count(ForOp loop, unsigned dim, int64_t block) {
  return llvm::divideCeil(*LoopDim{loop, dim}.length(), block);
}

int64_t TileLowering::program_count(ForOp loop) {
  int64_t count = 1;
  for (unsigned dim = 0; dim < loop.rank(); ++dim)
    count *= tile_count(loop, dim, size_of(loop.getBlocks().getDims()[dim].dim()));
  return count;
}

// The programs of several loops are numbered one loop after the other; each program looks up which loop it is of.
LogicalResult TileLowering::lower_parallel(ProgramOp program) {
  SmallVector<ForOp> loops;
  SmallVector<int64_t> phases;
  int64_t programs = 0;
  bool has_barrier = false;
  for (Operation& op : kernel_.block()) {
    if (isa<BarrierOp>(op)) phases.push_back(0), has_barrier = true;
    auto loop = dyn_cast<ForOp>(op);
    if (!loop) continue;
    for (unsigned dim = 0; dim < loop.rank(); ++dim)
      if (!LoopDim{loop, dim}.length()) return loop.emitError("has no constant bounds: the kernel is not pinned");
    if (phases.empty()) phases.push_back(0);
    phases.back() += program_count(loop);
    programs += program_count(loop);
    loops.push_back(loop);
  }
  program.setPrograms(programs);
  if (has_barrier) program.setPhases(phases);
  Value id = builder_.create<ProgramIdOp>(program.getLoc(), builder_.getIndexType());
  int64_t first = 0;
  for (ForOp loop : loops) {
    const Location loc = loop.getLoc();
    int64_t end = first + program_count(loop);
    Value own = builder_.createOrFold<arith::SubIOp>(loc, id, constant(loc, first));
    if (loop == loops.back()) {
      if (failed(lower_parallel(loop, own))) return failure();
      break;
    }
    Value is_own = builder_.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, id, constant(loc, end));
    auto branch = builder_.create<scf::IfOp>(loc, is_own, /*withElseRegion=*/true);
    builder_.setInsertionPointToStart(branch.thenBlock());
    if (failed(lower_parallel(loop, own))) return failure();
    builder_.setInsertionPointToStart(branch.elseBlock());
    first = end;
  }
  return success();
}

LogicalResult TileLowering::lower_parallel(ForOp loop, Value id) {
  const Location loc = loop.getLoc();
  SmallVector<LoweredTile> tiles;
  SmallVector<int64_t> counts;
  for (unsigned dim = 0; dim < loop.rank(); ++dim) {
    tiles.push_back(tile_of(loop, dim));
    counts.push_back(tile_count(loop, dim, tiles.back().block));
  }
  SmallVector<Value> coordinates{id};
  if (loop.rank() > 1) {
    SmallVector<Type> types(loop.rank(), builder_.getIndexType());
    auto map = builder_.create<MapProgramOp>(loc, types, id, counts);
    if (auto group = loop->getAttrOfType<IntegerAttr>(kGroup)) map.setGroup(group.getInt());
    coordinates = map.getCoordinates();
  }
  for (auto [tile, count, coordinate, variable] : llvm::zip(tiles, counts, coordinates, loop.variables())) {
    tile.number = count == 1 ? constant(loc, 0) : coordinate;
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
      .Case([&](ExtentOp extent) { return value(constant(loc, size_of(extent.getDim().dim()))), success(); })
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
