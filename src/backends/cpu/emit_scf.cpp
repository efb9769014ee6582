// Structured control flow as basic blocks and phis.
#include "backends/cpu/function_emitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::cpu {
namespace {

std::optional<int64_t> constant_index(mlir::Value value) { return mlir::getConstantIntValue(value); }

} // namespace

bool FunctionEmitter::emit_scf(mlir::Operation& op) {
  if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op)) return emit_for(loop), true;
  if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op)) return emit_if(branch), true;
  if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op)) return emit_while(loop), true;
  return false;
}

// Rotated: the test is at the bottom, behind one guard that is left out where the trip count is known to be positive.
// So LLVM needs no loop rotation to hoist out of the body.
void FunctionEmitter::emit_for(mlir::scf::ForOp op) {
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  auto new_block = [&](const char* name) { return llvm::BasicBlock::Create(builder.getContext(), name, function); };
  llvm::Value* lower = get(op.getLowerBound());
  llvm::Value* upper = get(op.getUpperBound());
  llvm::Value* step = get(op.getStep());

  std::optional<int64_t> begin = constant_index(op.getLowerBound()), end = constant_index(op.getUpperBound()),
                         stride = constant_index(op.getStep());
  if (stride && *stride <= 0) refuse(op, "a step that is not positive");
  bool certainly_entered = begin && end && *begin < *end;
  if (certainly_entered && stride && *begin + *stride >= *end) return emit_only_trip(op);

  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* body = new_block("loop");
  llvm::BasicBlock* after = nullptr;
  if (certainly_entered) {
    builder.CreateBr(body);
  } else {
    // A preheader of its own, and an exit that merges the two ways in.
    llvm::BasicBlock* preheader = new_block("loop.enter");
    after = new_block("loop.after");
    builder.CreateCondBr(builder.CreateICmpSLT(lower, upper), preheader, after);
    builder.SetInsertPoint(preheader);
    builder.CreateBr(body);
  }
  llvm::BasicBlock* preheader = certainly_entered ? before : builder.GetInsertBlock();

  builder.SetInsertPoint(body);
  llvm::PHINode* induction = builder.CreatePHI(lower->getType(), 2, "i");
  induction->addIncoming(lower, preheader);
  set(op.getInductionVar(), induction);
  llvm::SmallVector<llvm::PHINode*> carried;
  for (auto [argument, initial] : llvm::zip(op.getRegionIterArgs(), op.getInitArgs())) {
    llvm::Value* value = get(initial);
    llvm::PHINode* phi = builder.CreatePHI(value->getType(), 2, "carried");
    phi->addIncoming(value, preheader);
    set(argument, phi);
    carried.push_back(phi);
  }

  emit_ops(*op.getBody());

  llvm::SmallVector<llvm::Value*> yielded;
  for (mlir::Value value : op.getBody()->getTerminator()->getOperands()) yielded.push_back(get(value));
  llvm::BasicBlock* latch = builder.GetInsertBlock();
  llvm::Value* next = builder.CreateNSWAdd(induction, step, "i.next");
  llvm::BasicBlock* exit = new_block("loop.exit");
  builder.CreateCondBr(builder.CreateICmpSLT(next, upper), body, exit);
  induction->addIncoming(next, latch);
  for (auto [phi, value] : llvm::zip(carried, yielded)) phi->addIncoming(value, latch);

  builder.SetInsertPoint(exit);
  if (!after) {
    for (auto [value, emitted] : llvm::zip(op.getResults(), yielded)) set(value, emitted);
    return;
  }
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
  for (auto [value, initial, emitted] : llvm::zip(op.getResults(), op.getInitArgs(), yielded)) {
    llvm::PHINode* merged = builder.CreatePHI(emitted->getType(), 2);
    merged->addIncoming(get(initial), before);
    merged->addIncoming(emitted, exit);
    set(value, merged);
  }
}

void FunctionEmitter::emit_only_trip(mlir::scf::ForOp op) {
  set(op.getInductionVar(), get(op.getLowerBound()));
  for (auto [argument, initial] : llvm::zip(op.getRegionIterArgs(), op.getInitArgs())) set(argument, get(initial));
  emit_ops(*op.getBody());
  for (auto [value, yielded] : llvm::zip(op.getResults(), op.getBody()->getTerminator()->getOperands()))
    set(value, get(yielded));
}

void FunctionEmitter::emit_if(mlir::scf::IfOp op) {
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  auto new_block = [&](const char* name) { return llvm::BasicBlock::Create(builder.getContext(), name, function); };
  llvm::Value* condition = get(op.getCondition());
  bool has_else = !op.getElseRegion().empty();
  llvm::BasicBlock* then_block = new_block("then");
  llvm::BasicBlock* else_block = has_else ? new_block("else") : nullptr;
  llvm::BasicBlock* after = new_block("after");
  builder.CreateCondBr(condition, then_block, has_else ? else_block : after);

  // Emits one side and returns what it yields, with the block it ends in.
  auto emit_side = [&](llvm::BasicBlock* start, mlir::Block* block) {
    builder.SetInsertPoint(start);
    emit_ops(*block);
    llvm::SmallVector<llvm::Value*> yielded;
    for (mlir::Value value : block->getTerminator()->getOperands()) yielded.push_back(get(value));
    llvm::BasicBlock* end = builder.GetInsertBlock();
    builder.CreateBr(after);
    return std::make_pair(yielded, end);
  };
  auto [then_values, then_end] = emit_side(then_block, op.thenBlock());
  if (!has_else) {
    builder.SetInsertPoint(after);
    return;
  }
  auto [else_values, else_end] = emit_side(else_block, op.elseBlock());
  builder.SetInsertPoint(after);
  for (auto [value, a, b] : llvm::zip(op.getResults(), then_values, else_values)) {
    llvm::PHINode* merged = builder.CreatePHI(a->getType(), 2);
    merged->addIncoming(a, then_end);
    merged->addIncoming(b, else_end);
    set(value, merged);
  }
}

// The condition's block is the loop's head.
void FunctionEmitter::emit_while(mlir::scf::WhileOp op) {
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  auto new_block = [&](const char* name) { return llvm::BasicBlock::Create(builder.getContext(), name, function); };
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock *head = new_block("while"), *body = new_block("while.body"), *after = new_block("while.after");
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  llvm::SmallVector<llvm::PHINode*> carried;
  for (auto [argument, initial] : llvm::zip(op.getBeforeArguments(), op.getInits())) {
    llvm::Value* value = get(initial);
    llvm::PHINode* phi = builder.CreatePHI(value->getType(), 2, "carried");
    phi->addIncoming(value, before);
    set(argument, phi);
    carried.push_back(phi);
  }
  emit_ops(*op.getBeforeBody());
  mlir::scf::ConditionOp condition = op.getConditionOp();
  builder.CreateCondBr(get(condition.getCondition()), body, after);
  for (auto [argument, result, value] : llvm::zip(op.getAfterArguments(), op.getResults(), condition.getArgs())) {
    set(argument, get(value));
    set(result, get(value));
  }
  builder.SetInsertPoint(body);
  emit_ops(*op.getAfterBody());
  for (auto [phi, value] : llvm::zip(carried, op.getYieldOp().getOperands()))
    phi->addIncoming(get(value), builder.GetInsertBlock());
  builder.CreateBr(head);
  builder.SetInsertPoint(after);
}

} // namespace tilewright::cpu
