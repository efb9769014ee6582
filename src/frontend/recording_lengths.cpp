// How many elements lie between two indices, where that is known although the indices are not.
#include "frontend/recording.h"

#include "llvm/ADT/STLExtras.h"

namespace tilewright::detail {

namespace {

// known + the sum of unknown values, each times a dimension: 2 * tile.begin() + 2 * block.
struct Sum {
  Dim known;
  llvm::SmallVector<std::pair<mlir::Value, Dim>, 2> unknown = {};

  void add(mlir::Value value, const Dim& factor);
  void add(const Sum& other, const Dim& factor) {
    known = known + other.known * factor;
    for (const auto& [value, many] : other.unknown) add(value, many * factor);
  }
};

// The same value, or the same question to the same tile.
bool is_same(mlir::Value a, mlir::Value b) {
  mlir::Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return a == b || (x && y && llvm::isa<BeginOp, EndOp, IdOp, CountOp>(x) && x->getName() == y->getName() &&
                    x->getOperands() == y->getOperands());
}

void Sum::add(mlir::Value value, const Dim& factor) {
  auto* found = llvm::find_if(unknown, [&](const auto& each) { return is_same(each.first, value); });
  if (found == unknown.end()) {
    unknown.push_back({value, factor});
    return;
  }
  found->second = found->second + factor;
  if (found->second == Dim(0)) unknown.erase(found);
}

// `seen(value)` is what stands behind a placeholder.
Sum sum_of(mlir::Value value, llvm::function_ref<mlir::Value(mlir::Value)> seen) {
  namespace arith = mlir::arith;
  value = seen(value);
  mlir::Operation* op = value.getDefiningOp();
  if (auto extent = llvm::dyn_cast_if_present<ExtentOp>(op)) return {extent.getDim().dim()};
  if (auto constant = llvm::dyn_cast_if_present<arith::ConstantOp>(op))
    if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(constant.getValue()))
      return {Dim(number.getValue().getSExtValue())};
  if (llvm::isa_and_present<arith::IndexCastOp, arith::ExtSIOp>(op)) return sum_of(op->getOperand(0), seen);
  if (llvm::isa_and_present<arith::AddIOp, arith::SubIOp>(op)) {
    Sum sum = sum_of(op->getOperand(0), seen);
    sum.add(sum_of(op->getOperand(1), seen), Dim(llvm::isa<arith::AddIOp>(op) ? 1 : -1));
    return sum;
  }
  if (llvm::isa_and_present<arith::MulIOp>(op)) {
    Sum left = sum_of(op->getOperand(0), seen), right = sum_of(op->getOperand(1), seen), product;
    if (!left.unknown.empty()) std::swap(left, right);
    if (left.unknown.empty()) {
      product.add(right, left.known);
      return product;
    }
  }
  Sum sum;
  sum.add(value, Dim(1));
  return sum;
}

} // namespace

std::optional<Dim> Recording::length(const Operand& operand) {
  switch (operand.kind()) {
  case Operand::Kind::integer: return Dim(operand.integer());
  case Operand::Kind::size: return dim(Size(operand.integer(), operand.handle()));
  case Operand::Kind::value: {
    mlir::Value value = read(operand.handle());
    if (!value.getType().isIntOrIndex()) return std::nullopt;
    Sum sum = sum_of(value, [&](mlir::Value each) { return without_placeholders(each); });
    return sum.unknown.empty() ? std::optional(sum.known) : std::nullopt;
  }
  default: return std::nullopt;
  }
}

std::optional<Dim> Recording::length_between(const Operand& begin, const Operand& end) {
  if (begin.kind() != Operand::Kind::value || end.kind() != Operand::Kind::value) return std::nullopt;
  auto seen = [&](mlir::Value each) { return without_placeholders(each); };
  mlir::Value first = read(begin.handle()), last = read(end.handle());
  if (!first.getType().isIntOrIndex() || !last.getType().isIntOrIndex()) return std::nullopt;
  Sum sum = sum_of(last, seen);
  sum.add(sum_of(first, seen), Dim(-1));
  return sum.unknown.empty() ? std::optional(sum.known) : std::nullopt;
}

} // namespace tilewright::detail
