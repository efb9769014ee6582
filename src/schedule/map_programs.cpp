#include "schedule/map_programs.h"

#include "ir/kernel_loops.h"
#include "ir/programs_per_worker.h"
#include "support/planted_bug.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringSwitch.h"

#include <functional>
#include <numeric>

using namespace mlir;

namespace tilewright {

LogicalResult set_groups(KernelOp kernel, ArrayRef<int64_t> groups) {
  Builder builder(kernel.getContext());
  for (int64_t group : groups)
    if (group < 1) return kernel.emitError() << "cannot have a group of " << group;
  for (ForOp loop : parallel_loops(kernel)) {
    if (loop.rank() < 2) continue;
    if (groups.empty()) break;
    if (groups.front() != 1) loop->setAttr(kGroup, builder.getI64IntegerAttr(groups.front()));
    groups = groups.drop_front();
  }
  return success();
}

std::optional<PidType> pid_type_from_name(StringRef name) {
  return llvm::StringSwitch<std::optional<PidType>>(name)
      .Case("flat", PidType::Flat)
      .Case("xyz", PidType::Xyz)
      .Case("persistent_blocked", PidType::PersistentBlocked)
      .Case("persistent_interleaved", PidType::PersistentInterleaved)
      .Default(std::nullopt);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

static LogicalResult use_axes(ProgramOp program) {
  SmallVector<MapProgramOp> maps;
  program.walk([&](MapProgramOp map) { maps.push_back(map); });
  if (maps.empty()) return success();
  if (maps.size() > 1 || !maps[0].getId().getDefiningOp<ProgramIdOp>() || !maps[0].getId().hasOneUse())
    return program.emitError("has programs of several loops, which cannot be numbered along axes");
  MapProgramOp map = maps[0];
  if (!map.getRunTimeCounts().empty())
    return program.emitError("has a run-time number of programs, which cannot be numbered along axes");
  auto id = map.getId().getDefiningOp<ProgramIdOp>();
  OpBuilder builder(map);
  const Location loc = map.getLoc();
  ArrayRef<int64_t> counts = map.getCounts();
  auto along = [&](int64_t axis) -> Value { return builder.create<ProgramIdOp>(loc, builder.getIndexType(), axis); };
  SmallVector<int64_t> grid{counts.back(), counts[counts.size() - 2]};
  SmallVector<Value> coordinates{along(1), along(0)};
  ArrayRef<int64_t> others = counts.drop_back(2);
  if (others.size() == 1) coordinates.insert(coordinates.begin(), along(2));
  if (others.size() > 1) {
    auto outer = builder.create<MapProgramOp>(loc, along(2), getAsIndexOpFoldResult(builder.getContext(), others));
    coordinates.insert(coordinates.begin(), outer.getCoordinates().begin(), outer.getCoordinates().end());
  }
  if (!others.empty()) grid.push_back(std::accumulate(others.begin(), others.end(), int64_t(1), std::multiplies<>()));
  program.setGrid(grid);
  map.replaceAllUsesWith(coordinates);
  map.erase();
  id.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Persistent programs
//===----------------------------------------------------------------------===//

namespace {

/// The loop of a persistent program, and the number of the tile that it is at.
struct TileLoop {
  scf::ForOp loop;
  Value tile;
};

} // namespace

// Program p of w walks the tiles from floor(p * tiles / w) to floor((p + 1) * tiles / w).
static TileLoop walk_range(OpBuilder& builder, Location loc, Value program, Value programs, Value tiles, Value one) {
  Value next = builder.create<arith::AddIOp>(loc, program, one);
  auto first_tile = [&](Value number) {
    return builder.create<arith::DivUIOp>(loc, builder.create<arith::MulIOp>(loc, number, tiles), programs);
  };
  Value begin = first_tile(program), end = first_tile(next);
  auto loop = builder.create<scf::ForOp>(loc, begin, end, one);
  return {loop, loop.getInductionVar()};
}

// Program p of w walks the tiles p + i * w, for i below ceil((tiles - p) / w). The loop counts i, for a loop of a
// constant step is easier to reason about.
static TileLoop walk_in_turns(OpBuilder& builder, Location loc, Value program, Value programs, Value tiles, Value one) {
  Value zero = builder.create<arith::ConstantIndexOp>(loc, 0);
  Value others = builder.create<arith::SubIOp>(loc, programs, one);
  Value padded = builder.create<arith::AddIOp>(loc, tiles, others);
  Value left = builder.create<arith::SubIOp>(loc, padded, program); // not negative: p < w
  Value turns = builder.create<arith::DivUIOp>(loc, left, programs);
  auto loop = builder.create<scf::ForOp>(loc, zero, turns, one);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  Value past = inside.create<arith::MulIOp>(loc, loop.getInductionVar(), programs);
  return {loop, inside.create<arith::AddIOp>(loc, past, program)};
}

static TileLoop walk_in_strides(OpBuilder& builder, Location loc, Value program, Value programs, Value tiles, Value) {
  auto loop = builder.create<scf::ForOp>(loc, program, tiles, programs);
  return {loop, loop.getInductionVar()};
}

// The number of tiles of all loops.
static Value count_tiles(OpBuilder& builder, Location loc, ProgramOp program) {
  auto number = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(loc, value); };
  if (std::optional<uint64_t> programs = program.getPrograms()) {
    auto tiles = static_cast<int64_t>(*programs);
    if (planted(PlantedBug::skipped_last_tile)) tiles -= tiles > 1;
    return number(tiles);
  }
  Value sum = number(0);
  for (Attribute phase : program.getTilesAttr())
    for (Attribute loop : cast<ArrayAttr>(phase)) {
      auto tiles = cast<TilesAttr>(loop);
      Value product = number(1);
      for (auto [length, block] : llvm::zip(tiles.getLengths(), tiles.getBlocks())) {
        Value indices = builder.createOrFold<ExtentOp>(loc, builder.getIndexType(), length);
        indices = builder.createOrFold<arith::MaxSIOp>(loc, indices, number(0));
        indices = builder.createOrFold<arith::AddIOp>(loc, indices, number(block - 1));
        Value count = builder.createOrFold<arith::DivUIOp>(loc, indices, number(block));
        product = builder.createOrFold<arith::MulIOp>(loc, product, count);
      }
      sum = builder.createOrFold<arith::AddIOp>(loc, sum, product);
    }
  return sum;
}

// Of a program that alone knows how many tiles there are, for their bounds are data; null for others.
static MapProgramOp map_of_data(ProgramOp program) {
  if (!program.is_persistent() || !program.getBody().getOps<WorkerCountOp>().empty()) return {};
  auto maps = program.getBody().getOps<MapProgramOp>();
  return maps.empty() ? MapProgramOp() : *maps.begin();
}

static void make_persistent(ProgramOp program, PidType type, bool strided) {
  Block& block = program.block();
  SmallVector<ProgramIdOp> ids(block.getOps<ProgramIdOp>());
  const Location loc = ids.empty() ? program.getLoc() : ids.front().getLoc();
  MapProgramOp data = map_of_data(program);
  // What tells how many tiles there are stands before the id.
  Operation* first = data ? ids.front().getOperation() : &block.front();
  SmallVector<Operation*> body;
  for (Operation* op = first; op != block.getTerminator(); op = op->getNextNode()) body.push_back(op);

  OpBuilder builder(first);
  Value one = builder.create<arith::ConstantIndexOp>(loc, 1);
  Value count;
  if (data) {
    for (Value along : data.getRunTimeCounts())
      count = count ? builder.createOrFold<arith::MulIOp>(loc, count, along) : along;
  } else {
    count = count_tiles(builder, loc, program);
  }
  Value programs = builder.create<WorkerCountOp>(loc, builder.getIndexType());
  Value number = builder.create<ProgramIdOp>(loc, builder.getIndexType());
  auto walk = type != PidType::PersistentInterleaved ? walk_range : strided ? walk_in_strides : walk_in_turns;
  auto [loop, tile] = walk(builder, loc, number, programs, count, one);
  Operation* yield = loop.getBody()->getTerminator();
  for (Operation* op : body) op->moveBefore(yield);
  for (ProgramIdOp id : ids) {
    id.replaceAllUsesWith(tile);
    id.erase();
  }
  program.removeProgramsAttr();
  program.removeTilesAttr();
}

LogicalResult map_programs(ProgramOp program, const ProgramMapping& mapping) {
  if (program.is_persistent() && !map_of_data(program))
    return program.emitError("is mapped already: it has one program per worker");
  if (mapping.group < 1) return program.emitError() << "cannot have a group of " << mapping.group;
  if (mapping.programs_per_worker < 1)
    return program.emitError() << "cannot have " << mapping.programs_per_worker << " programs for each worker";
  const bool is_persistent = mapping.type != PidType::Flat && mapping.type != PidType::Xyz;
  if (map_of_data(program) && !is_persistent)
    return program.emitError("has an outermost loop whose bounds are data, which needs persistent programs: a pid_type "
                             "of persistent_blocked or persistent_interleaved");
  if (mapping.type == PidType::Xyz) return use_axes(program);
  program.walk([&](MapProgramOp map) {
    if (map.getCounts().size() > 1 && mapping.group > 1) map.setGroup(mapping.group);
  });
  if (mapping.type == PidType::Flat) return success();
  if (program.getPhases() || (program.getTiles() && program.getTiles()->size() > 1))
    return program.emitError("has a barrier, so its programs cannot be persistent");
  make_persistent(program, mapping.type, mapping.strided);
  set_programs_per_worker(program, mapping.programs_per_worker);
  return success();
}

} // namespace tilewright
