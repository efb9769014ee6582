// Element types of the DSL as MLIR types, and PyTorch's rules for what two operands are computed in. The only place
// that knows these rules.
#pragma once

#include "tilewright/dtype.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace tilewright {

/// The element type of a value on the device; bool is i1, and uint8 is i8 (Builder::is_unsigned knows which).
mlir::Type element_type_of(DType dtype, mlir::MLIRContext* context);
/// The same in memory, where uint8 is ui8.
mlir::Type array_element_of(DType dtype, mlir::MLIRContext* context);

/// uint8 and the 8-bit floats, which are computed with as int32 and float32.
constexpr bool is_storage_dtype(DType dtype) { return dtype == DType::uint8 || is_float8(dtype); }

/// The inverse of element_type_of() and array_element_of(); an i8 is an int8, and `index`, the type of tile bounds and
/// host sizes on the device, an int64.
DType device_dtype(mlir::Type element);

/// float16 and bfloat16.
constexpr bool is_16_bit_float(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

/// What sums and matrix products of a dtype are added up in: float32 for 16-bit floats, int64 for integers and bool.
DType accumulation_dtype(DType dtype);

/// An operand's part in promotion. Within a kind (bool, integer, floating point) tensors beat scalars, and scalars beat
/// plain numbers, whatever their widths.
struct PromotionOperand {
  enum class Rank : uint8_t { tensor, scalar, number };
  DType dtype; // of a number: int64, float32 (PyTorch's default dtype) or bool
  Rank rank;
};

/// The dtype that an operation on these computes in (torch.result_type).
DType result_dtype(llvm::ArrayRef<PromotionOperand> operands);

} // namespace tilewright
