// Reductions in the loops that fill their operand's buffer.
//
// Where a kept value (storage_plan.h) is followed by a reduction over it, one loop nest does both: it computes the
// value, stores it for those who use it later, and combines it into the accumulators. So the value is not read again,
// and the reduction hides behind the arithmetic. `exp` and its sum in softmax are such a pair.
//
// The buffer is then filled where the reduction stands. So between the two there may only be ops that have no loops of
// their own. The reduction may take the value through pointwise ops, as one in a wider type does; it sees the value as
// it is kept, rounded to its type.
#pragma once

#include "backends/cpu/storage_plan.h"

namespace tilewright::cpu {

/// The reduction that may fill the buffer of `kept`, as far as the order of the ops tells; none if there is none.
/// Whether it walks the same lanes, lowering knows.
ReduceOp reduction_to_fuse(mlir::Value kept, const StoragePlan& plan);

} // namespace tilewright::cpu
