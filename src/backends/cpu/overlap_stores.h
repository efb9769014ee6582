// The stores of one program inside the reads and the arithmetic of the next.
//
// A core has room for some tens of streaming stores that wait for memory; a loop that does little else than store fills
// it in no time and then runs at the speed of memory, while the loops before it leave the way to memory unused. So the
// loop with which programs end is merged into an earlier one, one program late: there each of its stores has time to
// leave while the next program's data arrive. docs/loops-prototype.md has what it is worth.
//
//   for id in programs                      for id in programs
//     for j: ... x[id, j]                     for j: ... x[id, j]
//     for j: y[j] = f(x[id, j])               for j: y[slot, j] = f(x[id, j])
//     for j: store out[id, j] = g(y[j])              if not the first: store out[previous, j] = g(y[1 - slot, j])
//                                             slot, previous = 1 - slot, id
//                                           if there were programs: for j: store out[previous, j] = g(y[1 - slot, j])
//
// Programs are independent of each other, so it does not matter that a store comes later, as long as nobody looks at
// the array meanwhile. The rule, on a function of the loops stage (loops_to_llvm.h):
//   - The end of the loop over programs, from its first loop of streaming stores on, writes only to arrays that nothing
//     else in the function reads or writes, and reads only scratch and arrays that are not written.
//   - An earlier loop (nest) of the body reads an array and has the same bounds, level by level, for all programs. Of
//     several, it is the one that fetches ahead, or else the first: where the program's data come from memory.
//   - There is room: the scratch buffers read at the end get a second copy, so that both programs have their own, and
//     these fit into half of the second-level cache.
//   - Nothing reaches memory in a way that is not looked through: by atomics, say, or under another name.
// What else the end uses of its program is carried along to the next iteration. Where the rule does not hold, nothing
// is changed.
#pragma once

#include "backends/cpu/target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace tilewright::cpu {

/// Returns whether stores were moved. `l2_bytes` is the size of the second-level cache.
bool overlap_stores(mlir::func::FuncOp function, int64_t l2_bytes);

/// The same as a pass: overlap-stores=l2-bytes=1048576.
std::unique_ptr<mlir::Pass> create_overlap_stores_pass(const CpuTarget& target);
void register_overlap_stores_pass();

} // namespace tilewright::cpu
