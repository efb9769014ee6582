// The pointwise operations that kernels are made of: those of tilewright/operations.inc, which is the language's own
// list, and C++'s operators.
#pragma once

#include "tilewright/ops.h"

#include <span>
#include <string>
#include <vector>

namespace tilewright::fuzz {

struct Operation {
  std::string name; // as it is counted: "exp", "operator +"
  int arity;
  Value (*apply)(const Operand* operands);
  /// The C++ expression, where $0, $1, $2 stand for the operands: "tw::exp($0)", "$0 + $1".
  std::string source;
};

const std::vector<Operation>& operations();

/// The expression with the operands' texts in it.
std::string expression(const Operation& operation, std::span<const std::string> operands);

} // namespace tilewright::fuzz
