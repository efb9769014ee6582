#include "backends/triton/placement.h"

#include "backends/triton/wide_products.h"

using namespace mlir;

namespace tilewright::triton {

bool only_repeats(Operation* op) {
  return isa<SplatOp, BroadcastOp, ExpandDimsOp, arith::IndexCastOp, arith::IndexCastUIOp>(op);
}

// Numbers of the program rather than values of the kernel.
static bool is_index_arithmetic(Operation* op) {
  return op->getNumResults() == 1 && op->getResult(0).getType().isIndex() && op->getNumRegions() == 0 &&
         isa<arith::ArithDialect>(op->getDialect());
}

// Ops that a reader wants to see on a line of their own.
static bool is_a_step(Operation* op) {
  return op->getNumRegions() > 0 || isa<DotOp, AtomicOp, AtomicCasOp, ProgramIdOp, MapProgramOp, TakeOp>(op) ||
         op->getNumResults() != 1;
}

Placement::Placement(ProgramOp program) {
  program.walk([&](Operation* op) { inlined_[op] = decide(op); });
}

bool Placement::is_inlined(Operation* op) const {
  auto found = inlined_.find(op);
  return found != inlined_.end() ? found->second : decide(op);
}

unsigned Placement::uses(Value value) const {
  unsigned count = 0;
  for (Operation* user : value.getUsers()) count += only_repeats(user) ? uses(user->getResult(0)) : 1;
  return count;
}

// Whether nothing between a load and its user writes to memory.
static bool may_move_to(LoadOp load, Operation* user) {
  for (Operation* op = load->getNextNode(); op && op != user; op = op->getNextNode())
    if (op->getNumRegions() > 0 || (AccessOp(op) && AccessOp(op).writes()) || isa<PrintOp>(op)) return false;
  return true;
}

// The one op that reads a value, through those that repeat it; null where several do.
static Operation* only_reader(Value value) {
  Operation* reader = nullptr;
  for (Operation* user : value.getUsers()) {
    if (only_repeats(user)) user = only_reader(user->getResult(0));
    if (!user || (reader && reader != user)) return nullptr;
    reader = user;
  }
  return reader;
}

bool Placement::decide(Operation* op) const {
  if (is_part_of_wide_product(op)) return true;
  if (isa<arith::ConstantOp, IotaOp>(op) || only_repeats(op) || is_index_arithmetic(op) || isa<WorkerCountOp>(op))
    return true;
  if (is_a_step(op)) return false;
  if (op->getNumResults() == 0) return false;
  Value result = op->getResult(0);
  if (uses(result) != 1) return false;
  Operation* reader = only_reader(result);
  if (!reader || reader->getBlock() != op->getBlock()) return false;
  if (is_part_of_wide_product(reader)) return false; // it is read for both halves
  // A branch or a loop takes names.
  if (reader->hasTrait<OpTrait::IsTerminator>() && op->getBlock()->getParentOp()->getNumResults() > 0) return false;
  if (auto load = dyn_cast<LoadOp>(op)) {
    // "x = tl.load(...).to(tl.float32)"
    bool is_conversion = isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ExtSIOp>(reader);
    return is_conversion && !isa<SplatOp>(*load->user_begin()) && may_move_to(load, reader);
  }
  // A conversion of a load is the load's line.
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ExtSIOp>(op))
    if (auto load = op->getOperand(0).getDefiningOp<LoadOp>()) return !is_inlined(load);
  return true;
}

Operation* Placement::last_reader(Value value, Block* block) const {
  Operation* last = nullptr;
  for (Operation* user : value.getUsers()) {
    Operation* reader = block->findAncestorOpInBlock(*user);
    if (!reader) continue;
    if (reader == user && !isa<scf::YieldOp>(user) && is_inlined(user)) {
      for (Value result : user->getResults())
        if (Operation* at = last_reader(result, block); at && (!last || last->isBeforeInBlock(at))) last = at;
      continue;
    }
    if (!last || last->isBeforeInBlock(reader)) last = reader;
  }
  return last;
}

} // namespace tilewright::triton
