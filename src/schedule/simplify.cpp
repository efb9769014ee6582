#include "schedule/simplify.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace tilewright {

// The patterns of the ops that scheduling makes; whatever else has none that matters folds without patterns. All of
// arith, math and scf would take longer to set up than to run.
static FrozenRewritePatternSet canonicalization_patterns(MLIRContext* context) {
  RewritePatternSet patterns(context);
  context->getOrLoadDialect<TileDialect>()->getCanonicalizationPatterns(patterns);
  ForOp::getCanonicalizationPatterns(patterns, context);
  scf::ForOp::getCanonicalizationPatterns(patterns, context);
  arith::AddIOp::getCanonicalizationPatterns(patterns, context);
  arith::SubIOp::getCanonicalizationPatterns(patterns, context);
  arith::MulIOp::getCanonicalizationPatterns(patterns, context);
  return patterns;
}

static LogicalResult canonicalize(Operation* op) {
  GreedyRewriteConfig config;
  config.useTopDownTraversal = true;
  config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
  return applyPatternsAndFoldGreedily(op, canonicalization_patterns(op->getContext()), config);
}

static void merge_common_subexpressions(Operation* op) {
  IRRewriter rewriter(op->getContext());
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, op);
}

// Folding leaves constants of tensors, which are those of dimensions of 1, at the top of the kernel: in the host part,
// where only scalars may stand. Each outermost loop gets its own.
static void move_tensor_constants_into_loops(KernelOp kernel) {
  for (auto constant : llvm::make_early_inc_range(kernel.block().getOps<arith::ConstantOp>())) {
    if (!isa<RankedTensorType>(constant.getType())) continue;
    for (ForOp loop : kernel.block().getOps<ForOp>()) {
      auto is_inside = [&](OpOperand& use) { return loop->isProperAncestor(use.getOwner()); };
      if (llvm::none_of(constant->getUses(), is_inside)) continue;
      OpBuilder builder = OpBuilder::atBlockBegin(&loop.block());
      constant.getResult().replaceUsesWithIf(builder.clone(*constant)->getResult(0), is_inside);
    }
    constant.erase();
  }
}

LogicalResult simplify_kernel(KernelOp kernel) {
  if (failed(canonicalize(kernel))) return kernel.emitError("does not simplify to an end");
  move_tensor_constants_into_loops(kernel);
  merge_common_subexpressions(kernel);
  return success();
}

//===----------------------------------------------------------------------===//
// Loop invariants
//===----------------------------------------------------------------------===//

static bool only_rearranges(Operation* op) { return isa<SplatOp, BroadcastOp, ExpandDimsOp, TransposeOp, IotaOp>(op); }

// The block of the users of an op, if they stand in one; else the innermost one that encloses them all.
static Block* block_of_users(Operation* op) {
  Block* block = nullptr;
  for (Operation* user : op->getUsers()) {
    if (!block) {
      block = user->getBlock();
      continue;
    }
    while (!block->findAncestorOpInBlock(*user)) block = block->getParentOp()->getBlock();
  }
  return block;
}

static void hoist_invariants(ProgramOp program) {
  program.walk([](scf::ForOp loop) { moveLoopInvariantCode(loop); });
  SmallVector<Operation*> rearranging;
  program.walk([&](Operation* op) {
    if (only_rearranges(op)) rearranging.push_back(op);
  });
  for (Operation* op : llvm::reverse(rearranging)) { // users before what they use
    Block* block = block_of_users(op);
    if (!block || block == op->getBlock()) continue;
    Operation* first = nullptr;
    for (Operation* user : op->getUsers()) {
      Operation* at = block->findAncestorOpInBlock(*user);
      if (!first || at->isBeforeInBlock(first)) first = at;
    }
    op->moveBefore(first);
  }
}

//===----------------------------------------------------------------------===//

static void write_constants_as_splats(ProgramOp program) {
  program.walk([](arith::ConstantOp constant) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat) return;
    OpBuilder builder(constant);
    Value scalar =
        builder.create<arith::ConstantOp>(constant.getLoc(), cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    constant.getResult().replaceAllUsesWith(builder.create<SplatOp>(constant.getLoc(), constant.getType(), scalar));
    constant.erase();
  });
}

// `%zero : 512` of a dimension of 512 is `:`.
template <typename Op> static void name_whole_dims(Op op, Value block) {
  SmallVector<int32_t> kinds;
  SmallVector<Value> operands;
  auto shape = dyn_cast<RankedTensorType>(block.getType());
  auto array = cast<ArrayType>(op.getArray().getType());
  for (auto [use, size] : llvm::zip(subscripts_of(op), array.getDims())) {
    bool whole = use.kind == Subscript::Block && !use.valid && getConstantIntValue(use.operand) == 0 &&
                 shape.getDimSize(use.block_dim) == size.dim().constant();
    kinds.push_back(static_cast<int32_t>(whole ? Subscript::Whole : use.kind));
    if (use.operand && !whole) operands.push_back(use.operand);
  }
  if (operands.size() == op.getIndices().size()) return;
  op.getIndicesMutable().assign(operands);
  op.setSubscripts(kinds);
}

LogicalResult simplify_program(ProgramOp program) {
  if (failed(canonicalize(program))) return program.emitError("does not simplify to an end");
  write_constants_as_splats(program);
  merge_common_subexpressions(program);
  hoist_invariants(program);
  program.walk([](LoadOp load) { name_whole_dims(load, load.getResult()); });
  program.walk([](StoreOp store) { name_whole_dims(store, store.getValue()); });
  return success();
}

} // namespace tilewright
