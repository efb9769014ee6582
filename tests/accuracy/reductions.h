// What the accuracy of reductions, scans and matrix products is tested on: rows of numbers of every kind, the same on
// every machine, and what each operation makes of them in exact arithmetic.
#pragma once

#include "cases.h"

#include <vector>

namespace tilewright::accuracy {

/// An operation along the rows of a matrix.
struct RowCase {
  std::string_view name; // PyTorch's, too
  bool keeps_row;        // a result for each element of the row, not one for all
  /// The exact results of a row, and for each what its error is measured by: for sums, products of matrices and what is
  /// made of them, the sum of the terms' magnitudes; else the result itself.
  void (*reference)(const std::vector<Real>& row, std::vector<Real>& results, std::vector<Real>& scales);
};

const std::vector<RowCase>& row_cases();

inline constexpr DType kRowDTypes[] = {DType::float32, DType::float64, DType::bfloat16, DType::float16};

/// The rows' lengths: one, one that no vector divides, and one of many vectors.
inline constexpr int64_t kRowLengths[] = {1, 37, 1000};

/// The rows of one length: of ordinary numbers, of one sign, huge ones, tiny ones, subnormal ones, of very different
/// magnitudes, equal ones, and with infinities and NaN among them. Row by row, the bits of each element.
std::vector<std::vector<uint64_t>> rows(DType dtype, int64_t length);

/// Rows of one kind have one bound of error. There are kKinds of them.
inline constexpr size_t kKinds = 12;
std::string_view kind_of_row(size_t row, size_t& kind);

/// How far a result is from the exact one in units in the last place of `scale`. Neither is infinite or NaN.
double error_in_ulps_of(Real result, Real exact, Real scale, DType dtype);

/// Of a matrix product, the second operand: this many columns of ordinary numbers, for every length.
inline constexpr int64_t kColumns = 5;
Real column_element(int64_t row, int64_t column, DType dtype);

} // namespace tilewright::accuracy
