// What makes a recorded kernel canonical: the same kernel has the same text, whichever compiler ran the lambda. And
// what can be checked only of the whole.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright {

/// Erases what no store and no bound depends on: loads that a store took back, values that are not used, and carried
/// values that no iteration needs.
void erase_unused(KernelOp kernel);

/// C++ leaves it to the compiler in which order operands are evaluated, and so in which order their ops were recorded.
/// Between two ops that have an order of their own (stores, atomics, loops, branches, the end of a block), this puts
/// the others into the order in which they are first needed, operands from left to right.
void order_by_operands(KernelOp kernel);

/// Throws Error where a function of several ops takes values of which one ends with a tile and another does not, and
/// erases the tile.together ops that say what is taken.
void check_together(KernelOp kernel);

/// Numbers the streams of random numbers, in the order in which the ops stand: constants with the attribute
/// `tile.stream`, which they lose.
void number_streams(KernelOp kernel);

/// Numbers r0, r1, ... by first use, and writes the kernel's attribute `whole`. `definitions` is what they are now.
void number_whole_dims(KernelOp kernel, llvm::ArrayRef<Dim> definitions);

/// Throws Error where an outermost loop touches what another one without a barrier between them writes: no order holds
/// between the two.
void check_loops_are_independent(KernelOp kernel);

} // namespace tilewright
