// Program IR to the loops stage.
//
// Takes one tile.program whose program ids are expanded (schedule/expand_program_ids.h) and makes the func.func that
// loops_to_llvm.h describes: loops over vectors of at most four native registers, and scratch buffers. The number of
// ops made depends on the program's ops and never on its block sizes.
//
// How a program's values are computed:
//   - Pointwise values are computed where they are used, inside the loops of their consumer (as Halide inlines), unless
//     the storage plan keeps them: see storage_plan.h.
//   - What is stored, reduced or kept is computed by a loop nest of its own over the lanes that exist: scalar loops,
//   and
//     innermost one loop over whole vectors, with a masked tail. Values that do not depend on an inner loop are
//     computed outside it.
//   - A dot multiplies packed operands with one register-blocked microkernel: see lower_dot.cpp.
//   - Values that a loop carries live in scratch, updated in place where that is safe.
#pragma once

#include "backends/cpu/target.h"
#include "ir/tile_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright::cpu {

/// Makes a module with one function of the program's name. Reports an error for an op that the backend lacks.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lower_to_loops(ProgramOp program, const CpuTarget& target);

} // namespace tilewright::cpu
