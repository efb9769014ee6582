#include "schedule/map_programs.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tilewright {

std::optional<PidType> pid_type_from_name(StringRef name) {
  return llvm::StringSwitch<std::optional<PidType>>(name)
      .Case("flat", PidType::Flat)
      .Case("persistent_blocked", PidType::PersistentBlocked)
      .Default(std::nullopt);
}

// Worker p of w walks the tiles from floor(p * tiles / w) to floor((p + 1) * tiles / w).
static void make_persistent(ProgramOp program, int64_t tiles) {
  Block& block = program.block();
  SmallVector<ProgramIdOp> ids(block.getOps<ProgramIdOp>());
  SmallVector<Operation*> body = llvm::map_to_vector(block.without_terminator(), [](Operation& op) { return &op; });
  const Location loc = ids.empty() ? program.getLoc() : ids.front().getLoc();

  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  Value one = builder.create<arith::ConstantIndexOp>(loc, 1);
  Value count = builder.create<arith::ConstantIndexOp>(loc, tiles);
  Value workers = builder.create<WorkerCountOp>(loc, builder.getIndexType());
  Value worker = builder.create<ProgramIdOp>(loc, builder.getIndexType());
  Value next_worker = builder.create<arith::AddIOp>(loc, worker, one);
  auto first_tile = [&](Value number) {
    return builder.create<arith::DivUIOp>(loc, builder.create<arith::MulIOp>(loc, number, count), workers);
  };
  Value begin = first_tile(worker), end = first_tile(next_worker);
  auto loop = builder.create<scf::ForOp>(loc, begin, end, one);
  Operation* yield = loop.getBody()->getTerminator();
  for (Operation* op : body) op->moveBefore(yield);
  for (ProgramIdOp id : ids) {
    id.replaceAllUsesWith(loop.getInductionVar());
    id.erase();
  }
  program.removeProgramsAttr();
}

LogicalResult map_programs(ProgramOp program, PidType type, int64_t group) {
  std::optional<uint64_t> tiles = program.getPrograms();
  if (!tiles) return program.emitError("is mapped already: it has one program per worker");
  if (group < 1) return program.emitError() << "cannot have a group of " << group;
  for (auto map : program.block().getOps<MapProgramOp>())
    if (map.getCounts().size() > 1) map.setGroup(group);
  if (type == PidType::PersistentBlocked) make_persistent(program, static_cast<int64_t>(*tiles));
  return success();
}

} // namespace tilewright
