#include "backends/cpu/runtime_functions.h"

#include "ir/tile_dialect.h"
#include "runtime/kernel_abi.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"

namespace tilewright::cpu {
namespace {

std::optional<RuntimeFunction> function_named(llvm::StringRef op_name) {
  return llvm::StringSwitch<std::optional<RuntimeFunction>>(op_name)
      .Case("math.sin", RuntimeFunction::sin)
      .Case("math.cos", RuntimeFunction::cos)
      .Case("math.tan", RuntimeFunction::tan)
      .Case("math.asin", RuntimeFunction::asin)
      .Case("math.acos", RuntimeFunction::acos)
      .Case("math.atan", RuntimeFunction::atan)
      .Case("math.sinh", RuntimeFunction::sinh)
      .Case("math.cosh", RuntimeFunction::cosh)
      .Case("math.tanh", RuntimeFunction::tanh)
      .Case("math.asinh", RuntimeFunction::asinh)
      .Case("math.acosh", RuntimeFunction::acosh)
      .Case("math.atanh", RuntimeFunction::atanh)
      .Case("math.exp", RuntimeFunction::exp)
      .Case("math.exp2", RuntimeFunction::exp2)
      .Case("math.expm1", RuntimeFunction::expm1)
      .Case("math.log", RuntimeFunction::log)
      .Case("math.log2", RuntimeFunction::log2)
      .Case("math.log10", RuntimeFunction::log10)
      .Case("math.log1p", RuntimeFunction::log1p)
      .Case("math.erf", RuntimeFunction::erf)
      .Case("math.cbrt", RuntimeFunction::cbrt)
      .Case("math.powf", RuntimeFunction::pow)
      .Case("math.atan2", RuntimeFunction::atan2)
      .Case("arith.remf", RuntimeFunction::fmod)
      .Default(std::nullopt);
}

std::optional<RuntimeFunction> function_of(mlir::Operation& op) {
  auto composite = mlir::dyn_cast<CompositeOp>(op);
  if (!composite) return function_named(op.getName().getStringRef());
  switch (composite.getFunction()) {
  case Composite::Erfc: return RuntimeFunction::erfc;
  case Composite::Erfinv: return RuntimeFunction::erfinv;
  case Composite::Lgamma: return RuntimeFunction::lgamma;
  default: return std::nullopt;
  }
}

} // namespace

std::optional<int64_t> runtime_function_offset(mlir::Operation& op, mlir::Type element) {
  std::optional<RuntimeFunction> function = function_of(op);
  if (!function || (!element.isF32() && !element.isF64())) return std::nullopt;
  return runtime_table_offset(*function, element.isF64() ? DType::float64 : DType::float32);
}

} // namespace tilewright::cpu
