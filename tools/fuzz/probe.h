// What an operation does to operands of given dtypes, found by recording and interpreting a kernel of that one
// operation: so that the generator needs no table of promotion rules, domains and ranges.
#pragma once

#include "fuzz/operations.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::fuzz {

/// One operand of a probed operation: numbers of a dtype from -magnitude to magnitude, or a literal.
struct ProbedOperand {
  DType dtype = float32;
  double magnitude = 1;
  bool is_literal = false;
  Operand literal = {};
  std::string literal_text = {};
};

struct Probe {
  DType dtype = float32;    // of the result
  double magnitude = 0;     // of the largest finite result
  double nan_share = 0;     // of the results
  bool exact = false;       // on whole numbers: no result has a rounding error
  bool not_by_zero = false; // the last operand must not be 0
};

class Prober {
public:
  /// Nothing where the DSL refuses such operands. On whole numbers, or on any.
  std::optional<Probe> probe(const Operation& operation, const std::vector<ProbedOperand>& operands,
                             bool whole_numbers);

  /// The dtypes that tensors may have: those that a kernel of one copy can be recorded, interpreted and compiled for.
  const std::vector<DType>& dtypes();

private:
  std::map<std::string, std::optional<Probe>> known_;
  std::vector<DType> dtypes_;
};

} // namespace tilewright::fuzz
