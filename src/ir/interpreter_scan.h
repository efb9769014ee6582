// tile.combine and tile.scan in the interpreter: a combiner of the user's, one lane after the other.
#pragma once

#include "ir/interpreter_value.h"

namespace tilewright {

/// `count`: how many lanes exist along the dimension. One value per result; the lanes of a result whose own operand
/// lanes are missing are missing.
std::vector<BlockValue> combine(CombineOp op, Environment& environment, int64_t count);
std::vector<BlockValue> scan(ScanOp op, Environment& environment, int64_t count);

} // namespace tilewright
