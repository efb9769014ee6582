#include "backends/triton/missing_lanes.h"

#include "backends/triton/access_kind.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilewright::triton {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool chooses_filling(LoadOp load) {
  return !load.getValid().empty() && !load.getMask() && access_kind(AccessOp(load)) == Access::Pointer;
}

static double number_of(Attribute constant) {
  if (auto real = dyn_cast<FloatAttr>(constant)) return real.getValueAsDouble();
  auto integer = cast<IntegerAttr>(constant);
  return integer.getType().isInteger(1) ? static_cast<double>(integer.getValue().getZExtValue())
                                        : static_cast<double>(integer.getValue().getSExtValue());
}

static std::optional<double> constant_number(Value scalar) {
  auto constant = scalar.getDefiningOp<arith::ConstantOp>();
  if (!constant || !isa<FloatAttr, IntegerAttr>(constant.getValue())) return std::nullopt;
  return number_of(constant.getValue());
}

MissingLanes::MissingLanes(ProgramOp program) : program_(program) {
  SmallVector<LoadOp> loads;
  program.walk([&](LoadOp load) {
    if (load.getValid().empty()) return;
    fillings_[load] = 0;
    if (chooses_filling(load)) loads.push_back(load);
  });
  // Each load by itself, in order: of few numbers, the one that leaves the fewest masks to be added.
  for (LoadOp load : loads) {
    unsigned least = cost();
    if (least == 0) break;
    for (double candidate : {-kInfinity, kInfinity, 1.0}) {
      if (!isa<FloatType>(element_type(load.getType())) && std::isinf(candidate)) continue;
      double before = fillings_[load];
      fillings_[load] = candidate;
      known_.clear();
      if (unsigned found = cost(); found < least)
        least = found;
      else
        fillings_[load] = before;
      known_.clear();
    }
  }
}

unsigned MissingLanes::cost() const {
  unsigned masks = 0;
  const_cast<ProgramOp&>(program_).walk([&](Operation* op) {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (int32_t dim : reduce.getValidDims()) masks += !is_neutral(reduce, dim);
    if (auto dot = dyn_cast<DotOp>(op)) masks += !adds_nothing(dot);
  });
  return masks;
}

bool MissingLanes::is_neutral(ReduceOp reduce, int64_t dim) const {
  std::optional<double> found = content(reduce.getSource(), dim);
  Type element = element_type(reduce.getSource().getType());
  return found && *found == number_of(neutral_element(reduce.getKind(), element));
}

bool MissingLanes::adds_nothing(DotOp dot) const {
  if (!dot.getValid()) return true;
  const int64_t rank = cast<RankedTensorType>(dot.getA().getType()).getRank();
  return content(dot.getA(), rank - 1) == 0.0 && content(dot.getB(), rank - 2) == 0.0;
}

std::optional<double> MissingLanes::filling(LoadOp load) const {
  auto found = fillings_.find(load);
  if (found == fillings_.end()) return std::nullopt;
  return found->second;
}

std::optional<double> MissingLanes::content(Value value, int64_t dim) const {
  Operation* op = value.getDefiningOp();
  if (!op || !isa<RankedTensorType>(value.getType())) return std::nullopt;
  auto found = known_.find({value, dim});
  if (found != known_.end()) return found->second;
  std::optional<double> content = content_of_op(op, dim);
  known_[{value, dim}] = content;
  return content;
}

// Through what only repeats a value.
static Value origin(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (!isa<BroadcastOp, ExpandDimsOp>(op)) break;
    value = op->getOperand(0);
  }
  return value;
}

// Whether `value` is no less than the maximum over `of`: the maximum itself, or the larger of it and something.
static bool covers_maximum(Value value, Value of) {
  value = origin(value);
  if (auto larger = value.getDefiningOp<arith::MaximumFOp>())
    return covers_maximum(larger.getLhs(), of) || covers_maximum(larger.getRhs(), of);
  auto reduce = value.getDefiningOp<ReduceOp>();
  return reduce && reduce.getKind() == Reduction::Max && reduce.getSource() == of;
}

static std::optional<double> pointwise(Operation* op, ArrayRef<std::optional<double>> operands) {
  if (!llvm::all_of(operands, [](const auto& operand) { return operand.has_value(); })) {
    // A missing lane of -inf below the maximum stays there. Where the maximum is -inf itself, so is every lane that
    // exists, and their own differences are NaN as well.
    if (isa<arith::SubFOp>(op) && operands[0] == -kInfinity && covers_maximum(op->getOperand(1), op->getOperand(0)))
      return operands[0];
    return std::nullopt;
  }
  auto a = *operands[0];
  auto b = operands.size() > 1 ? *operands[1] : 0;
  return llvm::TypeSwitch<Operation*, std::optional<double>>(op)
      .Case([&](arith::AddFOp) { return a + b; })
      .Case([&](arith::SubFOp) { return a - b; })
      .Case([&](arith::MulFOp) { return a * b; })
      .Case([&](arith::NegFOp) { return -a; })
      .Case([&](arith::MaximumFOp) { return std::max(a, b); })
      .Case([&](arith::MinimumFOp) { return std::min(a, b); })
      .Case<math::ExpOp>([&](auto) -> std::optional<double> {
        if (a == -kInfinity) return 0.0;
        return std::nullopt;
      })
      .Case<math::Exp2Op>([&](auto) -> std::optional<double> {
        if (a == -kInfinity) return 0.0;
        return std::nullopt;
      })
      .Case([&](math::AbsFOp) { return std::abs(a); })
      // 0, 1 and infinities are the same in every type.
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ExtSIOp>([&](auto) { return a; })
      .Case<arith::AndIOp, arith::MulIOp>([&](auto) -> std::optional<double> {
        if (a == 0 && b == 0) return 0.0;
        return std::nullopt;
      })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp>([&](auto) -> std::optional<double> {
        if (a == 0 && b == 0) return 0.0;
        return std::nullopt;
      })
      .Default([](Operation*) { return std::nullopt; });
}

std::optional<double> MissingLanes::content_of_op(Operation* op, int64_t dim) const {
  return llvm::TypeSwitch<Operation*, std::optional<double>>(op)
      .Case([&](LoadOp load) -> std::optional<double> {
        if (!llvm::is_contained(load.getValidDims(), dim)) return std::nullopt;
        return fillings_.lookup(load);
      })
      .Case([&](SplatOp splat) { return constant_number(splat.getScalar()); })
      .Case([&](BroadcastOp broadcast) -> std::optional<double> {
        if (cast<RankedTensorType>(broadcast.getSource().getType()).getDimSize(dim) == 1) return std::nullopt;
        return content(broadcast.getSource(), dim);
      })
      .Case([&](ExpandDimsOp expand) -> std::optional<double> {
        auto at = static_cast<int64_t>(expand.getDim());
        if (at == dim) return std::nullopt;
        return content(expand.getSource(), dim > at ? dim - 1 : dim);
      })
      .Case([&](TransposeOp transpose) { return content(transpose.getSource(), transpose.getPermutation()[dim]); })
      .Case([&](arith::SelectOp select) -> std::optional<double> {
        std::optional<double> condition = content(select.getCondition(), dim);
        std::optional<double> a = content(select.getTrueValue(), dim), b = content(select.getFalseValue(), dim);
        if (condition) return *condition != 0 ? a : b;
        return a && a == b ? a : std::nullopt;
      })
      .Default([&](Operation* op) -> std::optional<double> {
        if (!OpTrait::hasElementwiseMappableTraits(op)) return std::nullopt;
        SmallVector<std::optional<double>> operands;
        for (Value operand : op->getOperands()) operands.push_back(content(operand, dim));
        return pointwise(op, operands);
      });
}

} // namespace tilewright::triton
