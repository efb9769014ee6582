// arith's conversions. The narrow floating-point types are the interesting ones: LLVM would call library functions
// for what has no instruction, and a kernel may not have undefined symbols.
#include "backends/cpu/function_emitter.h"

#include "support/planted_bug.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

#include <optional>

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

// The formats of 8 bits: bits of mantissa, the exponent of 1, what is past the largest number, and NaN.
struct Float8 {
  int mantissa_bits, bias;
  uint32_t overflow, nan;
  bool has_infinity;
};

std::optional<Float8> float8_format(mlir::Type type) {
  if (type.isFloat8E4M3FN()) return Float8{3, 7, 0x7e, 0x7f, false};
  if (type.isFloat8E5M2()) return Float8{2, 15, 0x7c, 0x7f, true};
  return std::nullopt;
}

// float32 to 8 bits, ties to even, as include/tilewright/float8.h does it: normal numbers by an addition to the bits
// below the last kept one, smaller ones by the rounding of an addition to what has the subnormals' grid.
llvm::Value* float8_from_float32(llvm::IRBuilder<>& builder, llvm::Value* value, const Float8& format) {
  llvm::Type* float32 = value->getType();
  llvm::Type* int32 = with_element(float32, builder.getInt32Ty());
  auto literal = [&](uint32_t number) { return llvm::ConstantInt::get(int32, number); };
  const int cut = 23 - format.mantissa_bits;
  const uint32_t least_normal = uint32_t(128 - format.bias) << 23;
  const uint32_t grid = uint32_t(127 + 24 - format.bias - format.mantissa_bits) << 23;
  llvm::Value* bits = builder.CreateBitCast(value, int32);
  llvm::Value* magnitude = builder.CreateAnd(bits, literal(0x7fffffff));
  llvm::Value* sign = builder.CreateAnd(builder.CreateLShr(bits, literal(24)), literal(0x80));
  llvm::Value* last_kept = builder.CreateAnd(builder.CreateLShr(magnitude, literal(cut)), literal(1));
  llvm::Value* normal = builder.CreateAdd(magnitude, literal((1u << (cut - 1)) - 1 - (least_normal - (1u << 23))));
  normal = builder.CreateLShr(builder.CreateAdd(normal, last_kept), literal(cut));
  llvm::Value* on_grid =
      builder.CreateFAdd(builder.CreateBitCast(magnitude, float32), builder.CreateBitCast(literal(grid), float32));
  llvm::Value* subnormal = builder.CreateSub(builder.CreateBitCast(on_grid, int32), literal(grid));
  llvm::Value* rounded =
      builder.CreateSelect(builder.CreateICmpULT(magnitude, literal(least_normal)), subnormal, normal);
  rounded = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, rounded, literal(format.overflow));
  rounded = builder.CreateSelect(builder.CreateICmpUGT(magnitude, literal(0x7f800000)), literal(format.nan), rounded);
  return builder.CreateTrunc(builder.CreateOr(rounded, sign), with_element(float32, builder.getInt8Ty()));
}

llvm::Value* float32_from_float8(llvm::IRBuilder<>& builder, llvm::Value* value, const Float8& format) {
  llvm::Type* int32 = with_element(value->getType(), builder.getInt32Ty());
  llvm::Type* float32 = with_element(value->getType(), builder.getFloatTy());
  auto literal = [&](uint32_t number) { return llvm::ConstantInt::get(int32, number); };
  llvm::Value* bits = builder.CreateZExt(value, int32);
  llvm::Value* magnitude = builder.CreateAnd(bits, literal(0x7f));
  llvm::Value* sign = builder.CreateShl(builder.CreateAnd(bits, literal(0x80)), literal(24));
  llvm::Value* shifted = builder.CreateShl(magnitude, literal(23 - format.mantissa_bits));
  llvm::Value* normal = builder.CreateAdd(shifted, literal(uint32_t(127 - format.bias) << 23));
  // Subnormal numbers are multiples of the smallest one.
  const uint32_t smallest = uint32_t(128 - format.bias - format.mantissa_bits) << 23;
  llvm::Value* subnormal = builder.CreateBitCast(
      builder.CreateFMul(builder.CreateSIToFP(magnitude, float32), builder.CreateBitCast(literal(smallest), float32)),
      int32);
  llvm::Value* pattern =
      builder.CreateSelect(builder.CreateICmpULT(magnitude, literal(1u << format.mantissa_bits)), subnormal, normal);
  if (format.has_infinity) {
    llvm::Value* is_infinity = builder.CreateICmpEQ(magnitude, literal(format.overflow));
    pattern = builder.CreateSelect(is_infinity, literal(0x7f800000), pattern);
  }
  llvm::Value* is_nan = format.has_infinity ? builder.CreateICmpUGT(magnitude, literal(format.overflow))
                                            : builder.CreateICmpEQ(magnitude, literal(format.nan));
  pattern = builder.CreateSelect(is_nan, literal(0x7fc00000), pattern);
  return builder.CreateBitCast(builder.CreateOr(pattern, sign), float32);
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
  if (std::optional<Float8> format = float8_format(from)) value = float32_from_float8(builder, value, *format);
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
  if (std::optional<Float8> format = float8_format(to)) return float8_from_float32(builder, value, *format);
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
  auto is_narrow = [](mlir::Type type) { return type.getIntOrFloatBitWidth() < 32; };
  if ((from_integer && is_narrow(to)) || (to_integer && is_narrow(from)))
    refuse(&op, "a conversion between integers and floating point of 16 and 8 bits");
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
