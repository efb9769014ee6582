// Index values of program IR as linear forms over loop variables and program coordinates, with ranges.
#pragma once

#include "ir/tile_dialect.h"

#include "llvm/ADT/MapVector.h"

#include <cstdint>
#include <optional>

namespace tilewright {

/// constant + the sum of coefficient * atom. The atom of a loop's variable is the number of the iteration, counted from
/// 0; every other atom is the value itself.
struct LinearForm {
  int64_t constant = 0;
  llvm::SmallMapVector<mlir::Value, int64_t, 4> terms; // no zero coefficients

  static LinearForm of(mlir::Value value);

  LinearForm plus(const LinearForm& other, int64_t factor = 1) const;
  LinearForm times(int64_t factor) const;
  bool is_zero() const { return constant == 0 && terms.empty(); }
  /// Whether it is a multiple of `divisor` whatever the atoms are.
  bool is_multiple_of(int64_t divisor) const;
  /// The least and the largest value it can take; nothing where there is no such bound or none is known.
  std::optional<int64_t> minimum() const;
  std::optional<int64_t> maximum() const;
};

} // namespace tilewright
