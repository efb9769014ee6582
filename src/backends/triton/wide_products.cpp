#include "backends/triton/wide_products.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::triton {

static std::optional<int64_t> constant_of(Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>()) value = splat.getScalar();
  return getConstantIntValue(value);
}

// A factor as a number of 32 bits; null where it has more.
static Value narrow_factor(Value value) {
  if (std::optional<int64_t> number = constant_of(value))
    return *number >= 0 && *number <= UINT32_MAX ? value : Value();
  Value wide = value;
  while (auto repeat = wide.getDefiningOp()) { // an extension that is repeated afterwards stays as it is
    if (!isa<SplatOp>(repeat)) break;
    wide = repeat->getOperand(0);
  }
  auto extension = wide.getDefiningOp<arith::ExtUIOp>();
  return extension && element_type(extension.getIn().getType()).isInteger(32) ? extension.getIn() : Value();
}

static bool is_upper_half(Operation* op) {
  auto shift = dyn_cast<arith::ShRUIOp>(op);
  return shift && constant_of(shift.getRhs()) == 32;
}

static bool is_truncation(Operation* op) {
  return isa<arith::TruncIOp>(op) && element_type(op->getResult(0).getType()).isInteger(32);
}

// A product that is used for its halves alone.
static bool is_wide_product(Operation* op) {
  auto product = dyn_cast_or_null<arith::MulIOp>(op);
  if (!product || !element_type(product.getType()).isInteger(64)) return false;
  if (!narrow_factor(product.getLhs()) || !narrow_factor(product.getRhs())) return false;
  return llvm::all_of(product->getUsers(), [](Operation* user) {
    return is_truncation(user) || (is_upper_half(user) && llvm::all_of(user->getUsers(), is_truncation));
  });
}

std::optional<HalfOfProduct> half_of_wide_product(Operation* op) {
  if (!is_truncation(op)) return std::nullopt;
  Operation* source = op->getOperand(0).getDefiningOp();
  const bool is_upper = source && is_upper_half(source);
  Operation* product = is_upper ? source->getOperand(0).getDefiningOp() : source;
  if (!is_wide_product(product)) return std::nullopt;
  return HalfOfProduct{narrow_factor(product->getOperand(0)), narrow_factor(product->getOperand(1)), is_upper};
}

bool is_part_of_wide_product(Operation* op) {
  if (is_wide_product(op)) return true;
  if (is_upper_half(op)) return is_wide_product(op->getOperand(0).getDefiningOp());
  if (!isa<arith::ExtUIOp>(op) || op->use_empty()) return false;
  return llvm::all_of(op->getUsers(), is_wide_product);
}

} // namespace tilewright::triton
