// What a record of a kernel takes for granted of sizes: where they are known at run time only, it serves the calls for
// which the same holds.
#pragma once

#include "ir/dim.h"
#include "runtime/size_formula.h"

namespace tilewright {

/// An operation on two numbers over sizes s, and what it gave while recording.
struct Guard {
  using Kind = SizeOperation;
  Kind kind;
  Dim left;
  Dim right; // of no meaning for PowerOfTwo
  int64_t result;

  bool operator==(const Guard&) const = default;

  static int64_t evaluate(Kind kind, int64_t left, int64_t right) { return tilewright::evaluate(kind, left, right); }
  /// The size that is this number, where that is what the guard says.
  std::optional<std::pair<Symbol, int64_t>> pinned_size() const;
};

/// The same for those who know nothing of dimensions. There are no symbols but sizes s.
SizeFormula formula_of(const Dim& dim);
SizeCondition condition_of(const Guard& guard);

} // namespace tilewright
