// Running error bounds: how far a lane's number may be from the one that another right implementation computes.
//
// The interpreter rounds every op once, to nearest. A backend may round differently: it contracts a product and a sum,
// adds in another order, keeps an intermediate result wider, or approximates a function. So beside each number x the
// interpreter keeps, on request, a bound e, such that x' with |x' - x| <= e is just as right:
//   - what is loaded is exact, e = 0;
//   - an op carries the bounds of its operands on, as far as it magnifies them there (found by evaluating the op at the
//     ends of the operands' intervals, so that no op needs a derivative), and adds an ulp of its result for the two
//     roundings, or kFunctionUlps of them for a function that is only approximated;
//   - sums and dots add n u sum |x_i| for n terms of unit roundoff u (Higham, Accuracy and Stability of Numerical
//     Algorithms, 2002, section 4.2), whatever their order is;
//   - results that are exact, such as sums of small whole numbers, add nothing, nor do conversions of exact numbers to
//     fewer digits: kernels on these must agree bit for bit.
// Where a result jumps inside of the operands' intervals (a comparison, a pole, an overflow), its bound is infinite: it
// cannot be compared.
#pragma once

#include "ir/interpreter_pointwise.h"
#include "ir/interpreter_value.h"

namespace tilewright {

/// What functions that have no exact result may be off by, in ulps of float32 and float64; in 16-bit types, where they
/// are computed in float32, they are off by one.
inline constexpr double kFunctionUlps = 8;

/// The bound of one lane of a pointwise op, `result`, computed by `function` from `operands`.
double pointwise_error(mlir::Operation* op, const LaneFunction& function, llvm::ArrayRef<Lane> operands,
                       const Lane& result, mlir::Type from, mlir::Type to);
/// The same for arith.select, whose lanes are the condition and the two choices.
double select_error(llvm::ArrayRef<Lane> operands, mlir::Type type);

/// Collects the bound of a reduction or a dot, term by term.
class CombinedError {
public:
  CombinedError(Reduction kind, mlir::Type element) : kind_(kind), element_(element) {}

  void add(const Lane& lane);
  /// A term x * y of a dot.
  void add_product(const Lane& x, const Lane& y);
  /// The bound of the rounded result.
  double of(const Lane& result) const;

private:
  void add_term(double magnitude, double error);

  Reduction kind_;
  mlir::Type element_;
  int64_t terms_ = 0;
  double magnitudes_ = 0; // sum of |x|
  double errors_ = 0;     // their sum, or the largest for an extremum, or relative to the product
  bool grid_ = true;      // all terms are multiples of kGrid, so that sums of them are exact while they are small
  bool infinite_ = false; // one is infinite or NaN
};

} // namespace tilewright
