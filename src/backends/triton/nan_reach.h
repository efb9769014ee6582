// Whether a maximum may pass over NaN: where what it is used for is NaN without it.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright::triton {

/// Triton's max and min of floating-point numbers pass over NaN. That is as good where nothing that the program writes
/// or decides can tell: every path from the result to there goes through an op that is NaN anyway when one of the
/// reduced lanes is. So it is in softmax, where the sum of exp(x - max) is NaN, by which everything is divided.
bool may_pass_over_nan(ReduceOp reduce);

} // namespace tilewright::triton
