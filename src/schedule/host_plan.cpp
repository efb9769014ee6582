#include "schedule/host_plan.h"

#include "ir/tile_dialect.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace tilewright {

DType dtype_of_element(Type element) {
  if (element.isF16()) return DType::float16;
  if (element.isBF16()) return DType::bfloat16;
  if (element.isF32()) return DType::float32;
  if (element.isF64()) return DType::float64;
  if (element.isFloat8E4M3FN()) return DType::float8_e4m3fn;
  if (element.isFloat8E5M2()) return DType::float8_e5m2;
  if (element.isUnsignedInteger(8)) return DType::uint8;
  switch (element.getIntOrFloatBitWidth()) {
  case 1: return DType::boolean;
  case 8: return DType::int8;
  case 16: return DType::int16;
  case 32: return DType::int32;
  case 64: return DType::int64;
  }
  llvm_unreachable("no array has such elements");
}

HostPlan evaluate_host(KernelOp pinned) {
  HostPlan plan;
  llvm::DenseMap<Value, size_t> allocations;
  for (EmptyOp empty : pinned.block().getOps<EmptyOp>()) {
    auto array = cast<ArrayType>(empty.getType());
    SmallVector<int64_t> sizes = array.sizes();
    allocations[empty] = plan.allocations.size();
    std::optional<Number> fill;
    if (auto real = dyn_cast_or_null<FloatAttr>(empty.getFillAttr()))
      fill = Number(real.getValueAsDouble());
    else if (auto integer = dyn_cast_or_null<IntegerAttr>(empty.getFillAttr()))
      fill = Number(integer.getType().isInteger(1) || integer.getType().isUnsignedInteger()
                        ? int64_t(integer.getValue().getZExtValue())
                        : integer.getValue().getSExtValue());
    plan.allocations.push_back({dtype_of_element(array.getElementType()), {sizes.begin(), sizes.end()}, fill});
  }
  for (Value array : pinned.block().getTerminator()->getOperands()) {
    if (auto argument = dyn_cast<BlockArgument>(array))
      plan.returned.push_back({HostPlan::Returned::Kind::Argument, argument.getArgNumber()});
    else
      plan.returned.push_back({HostPlan::Returned::Kind::Allocation, allocations.at(array)});
  }
  return plan;
}

} // namespace tilewright
