#include "ir/interpreter_bounds.h"

#include "llvm/ADT/APFloat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace tilewright {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static const llvm::fltSemantics& semantics_of(Type element) { return cast<FloatType>(element).getFloatSemantics(); }

static int precision(Type element) {
  return static_cast<int>(llvm::APFloat::semanticsPrecision(semantics_of(element)));
}

// The distance of neighbouring numbers of a type around `value`.
static double ulp(double value, Type element) {
  const llvm::fltSemantics& semantics = semantics_of(element);
  int lowest = llvm::APFloat::semanticsMinExponent(semantics);
  int exponent = value == 0 || !std::isfinite(value) ? lowest : std::max(std::ilogb(value), lowest);
  return std::ldexp(1.0, exponent - precision(element) + 1);
}

static double largest(Type element) {
  return std::ldexp(2.0 - std::ldexp(1.0, 1 - precision(element)),
                    llvm::APFloat::semanticsMaxExponent(semantics_of(element)));
}

static double least_normal(Type element) {
  return std::ldexp(1.0, llvm::APFloat::semanticsMinExponent(semantics_of(element)));
}

// Whether two numbers that one lane may hold are interchangeable: NaN with NaN, an infinity with itself.
static bool same_kind(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return true;
}

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

/// An op of math whose result is exact or correctly rounded, as all of arith's are.
static bool is_correctly_rounded(Operation* op) {
  return isa<arith::ArithDialect>(op->getDialect()) ||
         isa<math::AbsFOp, math::CeilOp, math::FloorOp, math::TruncOp, math::RoundOp, math::RoundEvenOp, math::SqrtOp,
             math::FmaOp, math::CopySignOp>(op);
}

static bool never_rounds(Operation* op) {
  return isa<arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::RemFOp,
             arith::ExtFOp, math::AbsFOp, math::CeilOp, math::FloorOp, math::TruncOp, math::RoundOp, math::RoundEvenOp>(
      op);
}

// Whether a sum, product, quotient or root in float64 has no rounding error; elsewhere rounding to double shows it.
static bool is_exact_in_double(Operation* op, ArrayRef<Lane> x, double result) {
  if (isa<arith::AddFOp, arith::SubFOp>(op)) {
    long double b = isa<arith::SubFOp>(op) ? -x[1].real : x[1].real;
    return static_cast<long double>(x[0].real) + b == static_cast<long double>(result);
  }
  if (isa<arith::MulFOp>(op)) return std::fma(x[0].real, x[1].real, -result) == 0;
  if (isa<arith::DivFOp>(op)) return std::fma(result, x[1].real, -x[0].real) == 0;
  if (isa<math::SqrtOp>(op)) return std::fma(result, result, -x[0].real) == 0;
  return never_rounds(op);
}

// What rounding the op's own result, and approximating it, may add.
static double rounding_error(Operation* op, const LaneFunction& function, ArrayRef<Lane> operands, const Lane& result,
                             Type from, Type to) {
  if (!is_correctly_rounded(op)) {
    double error = (precision(to) > 20 ? kFunctionUlps : 1) * ulp(result.real, to);
    // x / (1 + exp(-x)), in PyTorch too, is 0 from where on the exponential overflows: a little above the least number.
    if (isa<CompositeOp>(op)) error += 4 * (1 + std::fabs(operands[0].real)) * least_normal(to);
    return error;
  }
  // Operands that may be a little off do not tell that the others' result is not rounded.
  bool inexact = llvm::any_of(operands, [](const Lane& lane) { return lane.error != 0; });
  if (inexact && !never_rounds(op)) return ulp(result.real, to);
  if (isa<arith::TruncFOp>(op)) return 0; // there is one way to round a number that all agree on
  if (to.isF64()) {
    if (is_real(from) ? is_exact_in_double(op, operands, result.real) : std::fabs(result.real) < 0x1p53) return 0;
  } else if (function(operands, from, Float64Type::get(to.getContext())).real == result.real) {
    return 0;
  }
  return ulp(result.real, to);
}

// The comparison of two intervals has one answer if they do not touch.
static double comparison_error(ArrayRef<Lane> x) {
  double errors = x[0].error + x[1].error;
  if (errors == 0 || std::isnan(x[0].real) || std::isnan(x[1].real)) return 0;
  if (std::isinf(x[0].real) && std::isinf(x[1].real)) return 0;
  return std::fabs(x[0].real - x[1].real) > errors ? 0 : kInfinity;
}

static bool may_be_zero(const Lane& lane) { return std::fabs(lane.real) <= lane.error; }

// Whether the op has a pole or a jump inside of its operands' intervals that their ends do not show.
static bool has_hidden_jump(Operation* op, ArrayRef<Lane> x) {
  if (isa<arith::DivFOp>(op)) return may_be_zero(x[1]);
  if (isa<math::PowFOp>(op)) return may_be_zero(x[0]);
  if (isa<math::Atan2Op>(op)) return may_be_zero(x[0]) && x[1].real <= x[1].error;
  if (isa<math::TanOp>(op)) {
    auto branch = [&](double at) { return std::floor(at / std::numbers::pi + 0.5); };
    return branch(x[0].real - x[0].error) != branch(x[0].real + x[0].error);
  }
  if (isa<arith::RemFOp>(op)) {
    if (may_be_zero(x[1])) return true;
    double least = kInfinity, most = -kInfinity;
    for (double a : {x[0].real - x[0].error, x[0].real + x[0].error})
      for (double b : {x[1].real - x[1].error, x[1].real + x[1].error}) {
        least = std::min(least, std::trunc(a / b));
        most = std::max(most, std::trunc(a / b));
      }
    return least != most;
  }
  return false;
}

// How far the op's result moves when its operands move within their bounds: at the corners of the box that they span,
// and halfway there, for functions with an extremum inside.
static double carried_error(Operation* op, const LaneFunction& function, ArrayRef<Lane> operands, const Lane& result,
                            Type from, Type to) {
  if (has_hidden_jump(op, operands)) return kInfinity;
  Type wide = is_real(to) ? Float64Type::get(to.getContext()) : to;
  SmallVector<Lane, 3> moved(operands);
  double centre = is_real(to) ? function(operands, from, wide).real : 0, farthest = 0;
  size_t corners = size_t(1) << operands.size();
  for (double part : {1.0, 0.5}) {
    for (size_t corner = 0; corner < corners; ++corner) {
      for (size_t i = 0; i < operands.size(); ++i)
        if (is_real(from)) moved[i].real = operands[i].real + (corner >> i & 1 ? part : -part) * operands[i].error;
      Lane there = function(moved, from, wide);
      if (there.state != result.state) return kInfinity;
      if (!is_real(to)) {
        if (there.integer != result.integer) return kInfinity;
        continue;
      }
      if (!same_kind(there.real, centre)) return kInfinity;
      if (std::isfinite(centre)) farthest = std::max(farthest, std::fabs(there.real - centre));
    }
  }
  return 1.25 * farthest;
}

double pointwise_error(Operation* op, const LaneFunction& function, ArrayRef<Lane> operands, const Lane& result,
                       Type from, Type to) {
  double largest_error = 0;
  for (const Lane& lane : operands) largest_error = std::max(largest_error, lane.error);
  if (largest_error == kInfinity) return kInfinity;
  if (result.state != LaneState::Exists) return largest_error == 0 ? 0 : kInfinity;
  if (isa<arith::CmpFOp>(op)) return comparison_error(operands);
  double carried = largest_error == 0 ? 0 : carried_error(op, function, operands, result, from, to);
  if (!is_real(to) || carried == kInfinity) return carried;
  if (std::isnan(result.real)) return 0; // all around it is NaN too
  if (std::isinf(result.real)) {
    // Exactly infinite, or far beyond what the type holds; what has just overflowed may be finite elsewhere.
    double wide = to.isF64() ? result.real : function(operands, from, Float64Type::get(to.getContext())).real;
    bool from_infinity =
        llvm::any_of(operands, [&](const Lane& lane) { return is_real(from) && !std::isfinite(lane.real); });
    bool pole = std::isinf(wide) && !to.isF64();
    return from_infinity || pole || std::fabs(wide) > 2 * largest(to) || largest_error == 0 ? 0 : kInfinity;
  }
  double error = carried + rounding_error(op, function, operands, result, from, to);
  return error > 0 && std::fabs(result.real) + error >= largest(to) ? kInfinity : error;
}

double select_error(ArrayRef<Lane> operands, Type type) {
  const Lane &condition = operands[0], &a = operands[1], &b = operands[2];
  if (condition.error == 0) return condition.integer ? a.error : b.error;
  if (a.state != LaneState::Exists || b.state != LaneState::Exists) return kInfinity;
  if (!is_real(type)) return a.integer == b.integer ? std::max(a.error, b.error) : kInfinity;
  if (!std::isfinite(a.real) || !std::isfinite(b.real))
    return same_kind(a.real, b.real) ? std::max(a.error, b.error) : kInfinity;
  return std::fabs(a.real - b.real) + std::max(a.error, b.error);
}

//===----------------------------------------------------------------------===//
// Reductions and dots
//===----------------------------------------------------------------------===//

static constexpr double kGrid = 0x1p-12;

void CombinedError::add_term(double magnitude, double error) {
  ++terms_;
  infinite_ |= !std::isfinite(magnitude);
  magnitudes_ += magnitude;
  switch (kind_) {
  case Reduction::Max:
  case Reduction::Min: errors_ = std::max(errors_, error); break;
  case Reduction::Mul: errors_ += error == 0 ? 0 : error < magnitude ? error / (magnitude - error) : kInfinity; break;
  default: errors_ += error; break;
  }
  if (std::isnan(errors_)) errors_ = kInfinity;
  double scaled = magnitude / kGrid;
  grid_ &= scaled == std::trunc(scaled);
}

void CombinedError::add(const Lane& lane) { add_term(is_real(element_) ? std::fabs(lane.real) : 0, lane.error); }

void CombinedError::add_product(const Lane& x, const Lane& y) {
  if (!is_real(element_)) return add_term(0, std::max(x.error, y.error));
  double error = 0;
  if (x.error != 0 || y.error != 0)
    error = std::fabs(x.real) * y.error + std::fabs(y.real) * x.error + x.error * y.error;
  add_term(std::fabs(x.real * y.real), error);
}

double CombinedError::of(const Lane& result) const {
  if (errors_ == 0 && (kind_ == Reduction::Max || kind_ == Reduction::Min)) return 0;
  if (!is_real(element_) || errors_ == kInfinity) return errors_ == 0 ? 0 : kInfinity;
  if (!std::isfinite(result.real)) return infinite_ ? 0 : kInfinity;
  if (kind_ == Reduction::Max || kind_ == Reduction::Min) return errors_;
  double roundoff = std::ldexp(1.0, -precision(element_)), n = static_cast<double>(terms_);
  if (kind_ == Reduction::Mul) {
    double relative = std::expm1(errors_ + n * 2 * roundoff);
    return std::fabs(result.real) * relative + ulp(result.real, element_);
  }
  bool exact = grid_ && magnitudes_ / kGrid < std::ldexp(1.0, precision(element_));
  double rounding = exact ? 0 : n * roundoff * (magnitudes_ + errors_) + ulp(result.real, element_);
  double error = errors_ * (1 + n * roundoff) + rounding;
  return magnitudes_ + error >= largest(element_) ? kInfinity : error;
}

} // namespace tilewright
