#include "backends/cpu/expand_math.h"

#include "backends/cpu/math/functions.h"
#include "ir/tile_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilewright::cpu {
namespace {

namespace math = mlir::math;
using Expansion = Float (*)(Float);

Expansion expansion_of(Composite function) {
  switch (function) {
  case Composite::Sigmoid: return expand_sigmoid;
  case Composite::Silu: return expand_silu;
  case Composite::Gelu: return expand_gelu;
  case Composite::GeluTanh: return expand_gelu_tanh;
  case Composite::Softplus: return expand_softplus;
  // Rare: the runtime table has them.
  case Composite::Erfc:
  case Composite::Erfinv:
  case Composite::Lgamma: return nullptr;
  }
  llvm_unreachable("unknown composite");
}

Expansion expansion_of(mlir::Operation* op) {
  return llvm::TypeSwitch<mlir::Operation*, Expansion>(op)
      .Case([](math::ExpOp) { return expand_exp; })
      .Case([](math::Exp2Op) { return expand_exp2; })
      .Case([](math::ExpM1Op) { return expand_expm1; })
      .Case([](math::LogOp) { return expand_log; })
      .Case([](math::Log2Op) { return expand_log2; })
      .Case([](math::Log10Op) { return expand_log10; })
      .Case([](math::Log1pOp) { return expand_log1p; })
      .Case([](math::TanhOp) { return expand_tanh; })
      .Case([](math::ErfOp) { return expand_erf; })
      .Case([](math::SinOp) { return expand_sin; })
      .Case([](math::CosOp) { return expand_cos; })
      .Case([](CompositeOp composite) { return expansion_of(composite.getFunction()); })
      .Default([](mlir::Operation*) { return nullptr; });
}

bool is_expandable(mlir::Type type) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  auto vector = mlir::dyn_cast<mlir::VectorType>(type);
  return (element.isF32() || element.isF64()) && (!vector || vector.getRank() == 1);
}

struct ExpandMath : mlir::PassWrapper<ExpandMath, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMath)

  ExpandMath() = default;
  ExpandMath(const ExpandMath& other) : PassWrapper(other) {}
  explicit ExpandMath(const CpuTarget& target) { scaling = target.has_scaling; }

  llvm::StringRef getArgument() const override { return "expand-math"; }
  llvm::StringRef getDescription() const override {
    return "Elementary functions as arithmetic on vectors and scalars";
  }
  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry.insert<mlir::arith::ArithDialect, math::MathDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  }

  void runOnOperation() override {
    getOperation()->walk([&](mlir::Operation* op) {
      Expansion expansion = expansion_of(op);
      if (!expansion || op->hasAttr(kLeaveToRuntime) || !is_expandable(op->getResult(0).getType())) return;
      mlir::OpBuilder builder(op);
      Formula formula(builder, op->getLoc(), op->getResult(0).getType(), scaling);
      op->getResult(0).replaceAllUsesWith(expansion({&formula, op->getOperand(0)}).value);
      op->erase();
    });
  }

  Option<bool> scaling{*this, "scaling", llvm::cl::desc("the CPU multiplies by powers of two in one instruction"),
                       llvm::cl::init(false)};
};

} // namespace

std::unique_ptr<mlir::Pass> create_expand_math_pass(const CpuTarget& target) {
  return std::make_unique<ExpandMath>(target);
}

void register_expand_math_pass() { mlir::PassRegistration<ExpandMath>(); }

} // namespace tilewright::cpu
