#include "schedule/host_plan.h"

#include "ir/context.h"
#include "ir/guard.h"
#include "ir/tile_dialect.h"
#include "support/error.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
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

static SizeFormula number_of(Value value) {
  if (std::optional<int64_t> number = getConstantIntValue(value)) return *number;
  return formula_of(value.getDefiningOp<ExtentOp>().getDim().dim()); // pin_sizes leaves no others
}

static SizeCondition condition_of(arith::CmpIOp comparison) {
  SizeFormula left = number_of(comparison.getLhs()), right = number_of(comparison.getRhs());
  switch (comparison.getPredicate()) {
  case arith::CmpIPredicate::eq: return {SizeOperation::Equal, left, right, 1};
  case arith::CmpIPredicate::ne: return {SizeOperation::NotEqual, left, right, 1};
  case arith::CmpIPredicate::slt: return {SizeOperation::Less, left, right, 1};
  case arith::CmpIPredicate::sle: return {SizeOperation::LessEqual, left, right, 1};
  case arith::CmpIPredicate::sgt: return {SizeOperation::Less, right, left, 1};
  case arith::CmpIPredicate::sge: return {SizeOperation::LessEqual, right, left, 1};
  default: break;
  }
  fail(source_location(comparison.getLoc()), "a check compares sizes as unsigned numbers");
}

HostPlan evaluate_host(KernelOp pinned) {
  HostPlan plan;
  for (CheckOp check : pinned.block().getOps<CheckOp>()) {
    HostPlan::Check made{condition_of(check.getCondition().getDefiningOp<arith::CmpIOp>()),
                         check.getMessage().str(),
                         {},
                         source_location(check.getLoc())};
    for (Value value : check.getValues()) made.values.push_back(number_of(value));
    plan.checks.push_back(std::move(made));
  }
  llvm::DenseMap<Value, size_t> allocations;
  for (EmptyOp empty : pinned.block().getOps<EmptyOp>()) {
    auto array = cast<ArrayType>(empty.getType());
    auto sizes = llvm::map_to_vector(array.getDims(), [](DimAttr dim) { return formula_of(dim.dim()); });
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

std::vector<int64_t> HostPlan::Allocation::sizes_for(std::span<const int64_t> symbols) const {
  std::vector<int64_t> numbers;
  for (const SizeFormula& size : sizes) numbers.push_back(size.evaluate(symbols));
  return numbers;
}

void run_checks(const HostPlan& plan, std::span<const int64_t> sizes) {
  for (const HostPlan::Check& check : plan.checks) {
    if (check.condition.holds(sizes)) continue;
    std::string message;
    StringRef left = check.message;
    for (const SizeFormula& value : check.values) {
      auto [before, after] = left.split("{}");
      message += before.str() + std::to_string(value.evaluate(sizes));
      left = after;
    }
    fail(check.location, "{}", message + left.str());
  }
}

} // namespace tilewright
