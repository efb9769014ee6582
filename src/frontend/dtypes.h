// Element types of the DSL as MLIR types, and PyTorch's rules for what two operands are computed in. The only place
// that knows these rules.
#pragma once

#include "tilewright/dtype.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace tilewright {

/// Whether kernels compute with it: all but uint8 so far.
bool is_supported(DType dtype);

/// For messages: "float32, float64, ...".
inline constexpr const char* kSupportedDTypes =
    "float32, float64, bfloat16, float16, int8, int16, int32, int64 and bool";

/// The element type of a supported dtype in tile IR; bool is i1.
mlir::Type element_type_of(DType dtype, mlir::MLIRContext* context);

/// The inverse; `index`, the type of tile bounds and host sizes on the device, is an int64.
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
