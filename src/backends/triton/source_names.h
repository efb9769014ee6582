// What a line of a user's source calls its results.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tilewright::triton {

/// The names that a line of C++ or Python binds, in order; none where it binds none, or something else than names.
///
///   auto next = maximum(a, b);            next          for (auto [tile_m, tile_n] : tile({m, n}))     tile_m, tile_n
///   for tile_k in tile(k): acc = f(acc)   acc           total += sum(x)                                total
///   out[tile] = x                         (none)        auto [a, b] = f();                             a, b
///
/// Where a loop and an assignment share a line, it is the assignment's.
std::vector<std::string> assigned_names(llvm::StringRef line);

/// The loop's variables on a line with a loop, whatever else is on it.
std::vector<std::string> loop_variables(llvm::StringRef line);

} // namespace tilewright::triton
