// What tw::print writes from a kernel: a line for each lane, to standard output.
#pragma once

#include <cstdint>

namespace tilewright {

enum class PrintedKind : int32_t { nothing, real, integer, boolean };

// "scores (program 3) [0, 5] = 0.25". `index` are the lane's indices in its value, `rank` of them; `bits` is a double
// or an int64 by its bit pattern, as `kind` says. Lines of several threads are written whole, in any order.
void print_from_device(const char* text, int64_t program, const int64_t* index, int64_t rank, PrintedKind kind,
                       int64_t bits);

} // namespace tilewright
