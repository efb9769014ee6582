// A row case's exact results for a whole matrix of rows, and what some implementation's results come to beside them.
#pragma once

#include "operands.h"
#include "reductions.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <span>

namespace tilewright::accuracy {

struct ExactRow {
  std::vector<Real> results, scales;
};

/// Of each of rows(dtype, length).
inline std::vector<ExactRow> exact_rows(const RowCase& test, DType dtype, int64_t length) {
  std::vector<ExactRow> all;
  for (const std::vector<uint64_t>& bits : rows(dtype, length)) {
    std::vector<Real> row;
    for (uint64_t element : bits) row.push_back(number(element, dtype));
    ExactRow& exact = all.emplace_back();
    if (test.reference) {
      test.reference(row, exact.results, exact.scales);
      continue;
    }
    for (int64_t column = 0; column < kColumns; ++column) { // matmul
      Real total = 0, magnitudes = 0;
      for (int64_t i = 0; i < length; ++i) {
        Real term = row[i] * column_element(i, column, dtype);
        total += term;
        magnitudes += std::fabs(term);
      }
      exact.results.push_back(total);
      exact.scales.push_back(magnitudes);
    }
  }
  return all;
}

/// Calls `differs(row, element, kind)` where a result is NaN or infinite and the exact one is not, or the other way
/// round (operands.h), and gives the largest error of all others of each kind, and its place.
struct WorstError {
  double ulps = 0;
  size_t row = 0, element = 0;
  Real result = 0, exact = 0;
};
inline std::vector<WorstError> worst_errors(const std::vector<ExactRow>& exact, std::span<const std::byte> bytes,
                                            DType dtype, const std::function<void(size_t, size_t, char)>& differs) {
  std::vector<WorstError> worst(kKinds);
  const size_t size = size_in_bytes(dtype);
  size_t at = 0;
  for (size_t row = 0, kind = 0; row < exact.size(); ++row) {
    kind_of_row(row, kind);
    for (size_t i = 0; i < exact[row].results.size(); ++i, at += size) {
      uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + at, size);
      Real result = number(bits, dtype), reference = exact[row].results[i];
      char is = kind_of(result, dtype), wanted = kind_of(reference, dtype);
      if (is != wanted) {
        differs(row, i, is);
        continue;
      }
      if (is != '0') continue;
      double error = error_in_ulps_of(result, reference, exact[row].scales[i], dtype);
      if (error > worst[kind].ulps) worst[kind] = {error, row, i, result, reference};
    }
  }
  return worst;
}

} // namespace tilewright::accuracy
