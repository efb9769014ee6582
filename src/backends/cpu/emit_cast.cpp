// arith's conversions. The two 16-bit floating-point types are the interesting ones: LLVM would call library functions
// for what has no instruction, and a kernel may not have undefined symbols.
#include "backends/cpu/function_emitter.h"

#include "support/planted_bug.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilewright::cpu {
namespace {

namespace arith = mlir::arith;

mlir::Type element_of(mlir::Type type) { return mlir::getElementTypeOrSelf(type); }

// float32 to the bits of bfloat16, ties to even. Rounding is an addition to the bits below; a NaN, which it could carry
// into infinity, keeps its upper bits and becomes quiet.
llvm::Value* bfloat16_from_float32(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* int32 = with_element(value->getType(), builder.getInt32Ty());
  llvm::Type* int16 = with_element(value->getType(), builder.getInt16Ty());
  auto literal = [&](uint32_t number) { return llvm::ConstantInt::get(int32, number); };
  llvm::Value* bits = builder.CreateBitCast(value, int32);
  llvm::Value* last_kept = builder.CreateAnd(builder.CreateLShr(bits, literal(16)), literal(1));
  llvm::Value* rounded = builder.CreateAdd(builder.CreateAdd(bits, literal(0x7fff)), last_kept);
  if (planted(PlantedBug::truncated_bfloat16)) rounded = bits;
  llvm::Value* quiet = builder.CreateOr(bits, literal(0x400000));
  llvm::Value* chosen = builder.CreateSelect(builder.CreateFCmpUNO(value, value), quiet, rounded);
  return builder.CreateTrunc(builder.CreateLShr(chosen, literal(16)), int16);
}

llvm::Value* float32_from_bfloat16(llvm::IRBuilder<>& builder, llvm::Value* bits) {
  llvm::Type* int32 = with_element(bits->getType(), builder.getInt32Ty());
  llvm::Value* shifted = builder.CreateShl(builder.CreateZExt(bits, int32), llvm::ConstantInt::get(int32, 16));
  return builder.CreateBitCast(shifted, with_element(bits->getType(), builder.getFloatTy()));
}

// float64 to float32 rounding to odd: towards zero, with the last bit set where something was lost. A second rounding,
// to a type of at least two bits less, is then as good as a single one (Boldo and Melquiond, "When double rounding is
// odd").
llvm::Value* float32_rounded_to_odd(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* float64 = value->getType();
  llvm::Type* float32 = with_element(float64, builder.getFloatTy());
  llvm::Type* int32 = with_element(float64, builder.getInt32Ty());
  llvm::Value* nearest = builder.CreateFPTrunc(value, float32);
  llvm::Value* widened = builder.CreateFPExt(nearest, float64);
  llvm::Value* bits = builder.CreateBitCast(nearest, int32);
  llvm::Value* away = builder.CreateFCmpOGT(builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, widened),
                                            builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
  llvm::Value* truncated = builder.CreateSub(bits, builder.CreateZExt(away, int32));
  llvm::Value* inexact = builder.CreateZExt(builder.CreateFCmpUNE(widened, value), int32);
  return builder.CreateBitCast(builder.CreateOr(truncated, inexact), float32);
}

} // namespace

llvm::Value* FunctionEmitter::extend_float(llvm::Value* value, mlir::Type from, mlir::Type to, mlir::Operation* op) {
  builder.clearFastMathFlags();
  llvm::Type* float32 = with_element(value->getType(), builder.getFloatTy());
  if (from.isBF16()) value = float32_from_bfloat16(builder, value);
  if (from.isF16()) {
    if (!target_.has_float16_conversion) refuse(op, "float16 on a CPU without conversion instructions (F16C)");
    value = builder.CreateFPExt(value, float32);
  }
  if (to.isF64()) return builder.CreateFPExt(value, with_element(value->getType(), builder.getDoubleTy()));
  if (to.isF32()) return value;
  refuse(op, "an extension to this type");
}

llvm::Value* FunctionEmitter::truncate_float(llvm::Value* value, mlir::Type from, mlir::Type to, mlir::Operation* op) {
  builder.clearFastMathFlags();
  if (!from.isF64() && !from.isF32()) refuse(op, "a truncation from this type");
  if (to.isF32()) return builder.CreateFPTrunc(value, with_element(value->getType(), builder.getFloatTy()));
  if (from.isF64()) value = float32_rounded_to_odd(builder, value);
  if (to.isBF16()) return bfloat16_from_float32(builder, value);
  if (!to.isF16()) refuse(op, "a truncation to this type");
  if (!target_.has_float16_conversion) refuse(op, "float16 on a CPU without conversion instructions (F16C)");
  return builder.CreateFPTrunc(value, with_element(value->getType(), builder.getHalfTy()));
}

bool FunctionEmitter::emit_cast(mlir::Operation& op) {
  if (op.getNumOperands() != 1 || op.getNumResults() != 1) return false;
  llvm::Value* value = operand(op, 0);
  mlir::Type from = element_of(op.getOperand(0).getType());
  mlir::Type to = element_of(op.getResult(0).getType());
  llvm::Type* wanted = type(op.getResult(0).getType(), &op);
  bool from_integer = mlir::isa<arith::SIToFPOp, arith::UIToFPOp>(op);
  bool to_integer = mlir::isa<arith::FPToSIOp, arith::FPToUIOp>(op);
  // Lowering writes these by way of float64, which holds every int32 exactly, so that rounding happens once.
  if ((from_integer && (to.isBF16() || to.isF16())) || (to_integer && (from.isBF16() || from.isF16())))
    refuse(&op, "a conversion between integers and 16-bit floating point");
  auto cast = [&](llvm::Instruction::CastOps opcode) { return builder.CreateCast(opcode, value, wanted); };
  llvm::Value* converted = llvm::TypeSwitch<mlir::Operation*, llvm::Value*>(&op)
                               .Case([&](arith::ExtFOp) { return extend_float(value, from, to, &op); })
                               .Case([&](arith::TruncFOp) { return truncate_float(value, from, to, &op); })
                               .Case([&](arith::ExtSIOp) { return cast(llvm::Instruction::SExt); })
                               .Case([&](arith::ExtUIOp) { return cast(llvm::Instruction::ZExt); })
                               .Case([&](arith::TruncIOp) { return cast(llvm::Instruction::Trunc); })
                               .Case([&](arith::SIToFPOp) { return cast(llvm::Instruction::SIToFP); })
                               .Case([&](arith::UIToFPOp) { return cast(llvm::Instruction::UIToFP); })
                               .Case([&](arith::FPToSIOp) { return cast(llvm::Instruction::FPToSI); })
                               .Case([&](arith::FPToUIOp) { return cast(llvm::Instruction::FPToUI); })
                               .Case([&](arith::IndexCastOp) { return builder.CreateSExtOrTrunc(value, wanted); })
                               .Case([&](arith::IndexCastUIOp) { return builder.CreateZExtOrTrunc(value, wanted); })
                               .Case([&](arith::BitcastOp) { return builder.CreateBitCast(value, wanted); })
                               .Default([](mlir::Operation*) { return nullptr; });
  if (!converted) return false;
  result(op, converted);
  return true;
}

} // namespace tilewright::cpu
