#include "frontend/dtypes.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace tilewright {

Type element_type_of(DType dtype, MLIRContext* context) {
  Builder builder(context);
  switch (dtype) {
  case DType::boolean: return builder.getI1Type();
  case DType::int8:
  case DType::uint8: return builder.getI8Type();
  case DType::int16: return builder.getI16Type();
  case DType::int32: return builder.getI32Type();
  case DType::int64: return builder.getI64Type();
  case DType::float16: return builder.getF16Type();
  case DType::bfloat16: return builder.getBF16Type();
  case DType::float32: return builder.getF32Type();
  case DType::float64: return builder.getF64Type();
  case DType::float8_e4m3fn: return builder.getFloat8E4M3FNType();
  case DType::float8_e5m2: return builder.getFloat8E5M2Type();
  }
  llvm_unreachable("unknown dtype");
}

Type array_element_of(DType dtype, MLIRContext* context) {
  if (dtype == DType::uint8) return IntegerType::get(context, 8, IntegerType::Unsigned);
  return element_type_of(dtype, context);
}

DType device_dtype(Type element) {
  if (element.isIndex() || element.isInteger(64)) return DType::int64;
  if (element.isInteger(1)) return DType::boolean;
  if (element.isUnsignedInteger(8)) return DType::uint8;
  if (element.isInteger(8)) return DType::int8;
  if (element.isInteger(16)) return DType::int16;
  if (element.isInteger(32)) return DType::int32;
  if (element.isF16()) return DType::float16;
  if (element.isBF16()) return DType::bfloat16;
  if (element.isF32()) return DType::float32;
  if (element.isF64()) return DType::float64;
  if (element.isFloat8E4M3FN()) return DType::float8_e4m3fn;
  if (element.isFloat8E5M2()) return DType::float8_e5m2;
  llvm_unreachable("an element type that no dtype has");
}

DType accumulation_dtype(DType dtype) {
  if (is_16_bit_float(dtype) || is_float8(dtype)) return DType::float32;
  return is_floating_point(dtype) ? dtype : DType::int64;
}

// The higher-ranked dtype wins unless the lower-ranked one is of a wider kind.
static std::optional<DType> combine_ranks(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher || !lower) return higher ? higher : lower;
  if (is_floating_point(*higher)) return higher;
  if (*higher == DType::boolean || is_floating_point(*lower)) return promote_types(*higher, *lower);
  return higher;
}

DType result_dtype(llvm::ArrayRef<PromotionOperand> operands) {
  std::optional<DType> by_rank[3];
  for (const PromotionOperand& operand : operands) {
    std::optional<DType>& dtype = by_rank[static_cast<int>(operand.rank)];
    dtype = dtype ? promote_types(*dtype, operand.dtype) : operand.dtype;
  }
  return *combine_ranks(by_rank[0], combine_ranks(by_rank[1], by_rank[2]));
}

} // namespace tilewright
