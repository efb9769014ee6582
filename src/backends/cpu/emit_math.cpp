// math: what has instructions becomes intrinsics; elementary functions become calls through the runtime table, lane by
// lane.
#include "backends/cpu/function_emitter.h"
#include "backends/cpu/runtime_functions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilewright::cpu {
namespace {

namespace math = mlir::math;
using llvm::Intrinsic::ID;

ID intrinsic_of(mlir::Operation& op) {
  return llvm::TypeSwitch<mlir::Operation*, ID>(&op)
      .Case([](math::SqrtOp) { return llvm::Intrinsic::sqrt; })
      .Case([](math::AbsFOp) { return llvm::Intrinsic::fabs; })
      .Case([](math::FloorOp) { return llvm::Intrinsic::floor; })
      .Case([](math::CeilOp) { return llvm::Intrinsic::ceil; })
      .Case([](math::RoundOp) { return llvm::Intrinsic::round; })
      .Case([](math::RoundEvenOp) { return llvm::Intrinsic::roundeven; })
      .Case([](math::TruncOp) { return llvm::Intrinsic::trunc; })
      .Case([](math::CopySignOp) { return llvm::Intrinsic::copysign; })
      .Case([](math::CtPopOp) { return llvm::Intrinsic::ctpop; })
      .Default([](mlir::Operation*) { return llvm::Intrinsic::not_intrinsic; });
}

} // namespace

// Without the instruction, an exact fused multiply-add is a library call: then two roundings have to do.
llvm::Value* FunctionEmitter::emit_fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  builder.clearFastMathFlags();
  if (target_.has_fma) return builder.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  return builder.CreateFAdd(builder.CreateFMul(a, b), c);
}

llvm::Value* FunctionEmitter::call_runtime(mlir::Operation& op, mlir::ValueRange arguments) {
  mlir::Type element = mlir::getElementTypeOrSelf(op.getResult(0).getType());
  std::optional<int64_t> offset = runtime_function_offset(op.getName().getStringRef(), element);
  if (!offset) refuse(&op, "no function for it in the runtime table");
  llvm::Type* wanted = type(op.getResult(0).getType(), &op);
  llvm::SmallVector<llvm::Value*> operands;
  llvm::SmallVector<llvm::Type*> scalars;
  for (mlir::Value argument : arguments) {
    operands.push_back(get(argument));
    scalars.push_back(operands.back()->getType()->getScalarType());
  }
  llvm::Value* slot = builder.CreatePtrAdd(runtime_table_, builder.getInt64(*offset));
  llvm::LoadInst* function = builder.CreateLoad(builder.getPtrTy(), slot, op.getName().stripDialect());
  // The table never changes, so the load leaves every loop.
  function->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
  auto* signature = llvm::FunctionType::get(wanted->getScalarType(), scalars, /*isVarArg=*/false);
  return for_each_lane(wanted, operands, [&](llvm::ArrayRef<llvm::Value*> lane) {
    llvm::CallInst* call = builder.CreateCall(signature, function, lane);
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    return call;
  });
}

bool FunctionEmitter::emit_math(mlir::Operation& op) {
  mlir::Type element = mlir::getElementTypeOrSelf(op.getOperand(0).getType());
  if (element.isBF16() || element.isF16()) refuse(&op, "arithmetic on 16-bit floating point");
  use_flags_of(op);
  if (ID id = intrinsic_of(op); id != llvm::Intrinsic::not_intrinsic) {
    llvm::SmallVector<llvm::Value*> operands;
    for (mlir::Value argument : op.getOperands()) operands.push_back(get(argument));
    result(op, builder.CreateIntrinsic(id, {operands[0]->getType()}, operands));
    return true;
  }
  llvm::Value* emitted =
      llvm::TypeSwitch<mlir::Operation*, llvm::Value*>(&op)
          .Case([&](math::FmaOp) { return emit_fma(operand(op, 0), operand(op, 1), operand(op, 2)); })
          // A square root and a division, each correctly rounded: the approximate instruction differs between makers.
          .Case([&](math::RsqrtOp) {
            llvm::Value* root = builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, operand(op, 0));
            return builder.CreateFDiv(llvm::ConstantFP::get(root->getType(), 1.0), root);
          })
          .Case([&](math::AbsIOp) {
            return builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, operand(op, 0), builder.getFalse());
          })
          .Case([&](math::CountLeadingZerosOp) {
            return builder.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, operand(op, 0), builder.getFalse());
          })
          .Case([&](math::CountTrailingZerosOp) {
            return builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, operand(op, 0), builder.getFalse());
          })
          .Default([&](mlir::Operation*) { return call_runtime(op, op.getOperands()); });
  result(op, emitted);
  return true;
}

} // namespace tilewright::cpu
