#include "backends/cpu/passes.h"

#include "backends/cpu/expand_math.h"
#include "backends/cpu/lower_to_loops.h"
#include "backends/cpu/overlap_stores.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tilewright::cpu {
namespace {

struct LowerToLoopsPass : PassWrapper<LowerToLoopsPass, OperationPass<ModuleOp>> {
  LowerToLoopsPass() = default;
  LowerToLoopsPass(const LowerToLoopsPass& other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "tile-lower-to-loops"; }
  StringRef getDescription() const final { return "Lower each tile.program to loops over vectors"; }
  void getDependentDialects(DialectRegistry& registry) const final {
    registry.insert<func::FuncDialect, memref::MemRefDialect, vector::VectorDialect>();
  }
  void runOnOperation() final {
    if (level != "x86-64-v3" && level != "x86-64-v4") {
      getOperation().emitError() << "there is no CPU level '" << level << "'; there are x86-64-v3 and x86-64-v4";
      return signalPassFailure();
    }
    CpuTarget target = target_for_level(level);
    for (ProgramOp program : llvm::make_early_inc_range(getOperation().getOps<ProgramOp>())) {
      FailureOr<OwningOpRef<ModuleOp>> lowered = lower_to_loops(program, target);
      if (failed(lowered)) return signalPassFailure();
      Operation* function = &*(*lowered)->getBody()->begin();
      function->moveBefore(program);
      program.erase();
    }
  }
  Option<std::string> level{*this, "level", llvm::cl::desc("feature level of the CPU"), llvm::cl::init("x86-64-v3")};
};

} // namespace

void register_passes() {
  PassRegistration<LowerToLoopsPass>();
  register_expand_math_pass();
  register_overlap_stores_pass();
}

} // namespace tilewright::cpu
