// What IR text must keep to before MLIR's parser sees it. That parser recurses, so text that nests deeply enough would
// end the process instead of being refused.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <optional>
#include <string>

namespace tilewright {

inline constexpr size_t kMaxInputBytes = size_t(1) << 20;
inline constexpr size_t kMaxInputNesting = 256;

struct InputProblem {
  size_t line; // from 1
  std::string message;
};

/// Why this text cannot be read, or nothing. Nesting is how many brackets of all kinds, () [] {} <>, are open at once,
/// outside of strings and comments; `->` and comparisons are no brackets.
std::optional<InputProblem> find_input_problem(llvm::StringRef text);

} // namespace tilewright
