#include "schedule/linear_form.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright {

static scf::ForOp loop_of_variable(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && loop.getInductionVar() == value ? loop : scf::ForOp();
}

static LinearForm atom(Value value, int64_t coefficient = 1) {
  LinearForm form;
  form.terms[value] = coefficient;
  return form;
}

LinearForm LinearForm::plus(const LinearForm& other, int64_t factor) const {
  LinearForm sum = *this;
  sum.constant += factor * other.constant;
  for (auto [value, coefficient] : other.terms)
    if ((sum.terms[value] += factor * coefficient) == 0) sum.terms.erase(value);
  return sum;
}

LinearForm LinearForm::times(int64_t factor) const { return LinearForm().plus(*this, factor); }

LinearForm LinearForm::of(Value value) {
  if (std::optional<int64_t> number = getConstantIntValue(value)) {
    LinearForm form;
    form.constant = *number;
    return form;
  }
  if (scf::ForOp loop = loop_of_variable(value)) {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    return step ? of(loop.getLowerBound()).plus(atom(value, *step)) : atom(value);
  }
  Operation* op = value.getDefiningOp();
  if (auto sum = dyn_cast_or_null<arith::AddIOp>(op)) return of(sum.getLhs()).plus(of(sum.getRhs()));
  if (auto difference = dyn_cast_or_null<arith::SubIOp>(op))
    return of(difference.getLhs()).plus(of(difference.getRhs()), -1);
  if (auto product = dyn_cast_or_null<arith::MulIOp>(op)) {
    if (std::optional<int64_t> factor = getConstantIntValue(product.getRhs()))
      return of(product.getLhs()).times(*factor);
    if (std::optional<int64_t> factor = getConstantIntValue(product.getLhs()))
      return of(product.getRhs()).times(*factor);
  }
  return atom(value);
}

bool LinearForm::is_multiple_of(int64_t divisor) const {
  if (constant % divisor != 0) return false;
  return llvm::all_of(terms, [&](const auto& term) { return term.second % divisor == 0; });
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

// The largest value of an atom whose least is 0; nothing for atoms of which neither is known.
static std::optional<int64_t> largest(Value atom) {
  if (scf::ForOp loop = loop_of_variable(atom)) {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!step) { // the variable itself, which stays below the upper bound
      std::optional<int64_t> first = LinearForm::of(loop.getLowerBound()).minimum();
      std::optional<int64_t> end = LinearForm::of(loop.getUpperBound()).maximum();
      if (!first || *first < 0 || !end) return std::nullopt;
      return std::max<int64_t>(*end - 1, 0);
    }
    if (*step < 1) return std::nullopt;
    std::optional<int64_t> length =
        LinearForm::of(loop.getUpperBound()).plus(LinearForm::of(loop.getLowerBound()), -1).maximum();
    if (!length) return INT64_MAX; // it counts iterations, however many
    return std::max<int64_t>(llvm::divideCeilSigned(*length, *step) - 1, 0);
  }
  Operation* op = atom.getDefiningOp();
  if (auto map = dyn_cast_or_null<MapProgramOp>(op)) {
    int64_t count = map.getCounts()[cast<OpResult>(atom).getResultNumber()];
    return ShapedType::isDynamic(count) ? INT64_MAX : std::max<int64_t>(count - 1, 0);
  }
  if (auto extent = dyn_cast_or_null<ExtentOp>(op)) {
    auto is_positive = [](const Monomial& monomial) { return monomial.coefficient > 0; };
    return llvm::all_of(extent.getDim().dim().monomials(), is_positive) ? std::optional(INT64_MAX) : std::nullopt;
  }
  if (isa_and_nonnull<ProgramIdOp>(op)) {
    auto program = op->getParentOfType<ProgramOp>();
    if (program.getGrid()) return std::max<int64_t>((*program.getGrid())[cast<ProgramIdOp>(op).getAxis()] - 1, 0);
    std::optional<uint64_t> programs = program.getPrograms();
    return programs ? std::max<int64_t>(static_cast<int64_t>(*programs) - 1, 0) : INT64_MAX;
  }
  return std::nullopt;
}

// The bound reached where each term is at its own: the least for `sign` -1, the largest for 1.
static std::optional<int64_t> bound(const LinearForm& form, int64_t sign) {
  int64_t sum = form.constant;
  for (auto [value, coefficient] : form.terms) {
    std::optional<int64_t> most = largest(value);
    if (!most) return std::nullopt;
    if (coefficient * sign < 0) continue; // at its least where the atom is 0
    if (*most == INT64_MAX) return std::nullopt;
    sum += coefficient * *most;
  }
  return sum;
}

std::optional<int64_t> LinearForm::minimum() const { return bound(*this, -1); }
std::optional<int64_t> LinearForm::maximum() const { return bound(*this, 1); }

} // namespace tilewright
