// What makes a recorded kernel canonical: the same kernel has the same text, whichever compiler ran the lambda.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright {

/// Erases what no store and no bound depends on: loads that a store took back, values that are not used, and carried
/// values that no iteration needs.
void erase_unused(KernelOp kernel);

/// C++ leaves it to the compiler in which order operands are evaluated, and so in which order their ops were recorded.
/// Between two ops that have an order of their own (stores, loops, allocations, checks, the end of a block), this puts
/// the others into the order in which they are first needed, operands from left to right.
void order_by_operands(KernelOp kernel);

/// Numbers r0, r1, ... by first use, and writes the kernel's attribute `whole`. `definitions` is what they are now.
void number_whole_dims(KernelOp kernel, llvm::ArrayRef<Dim> definitions);

} // namespace tilewright
