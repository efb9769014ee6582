// Rewrites a program into what reads well: the first step of this backend.
//
// - Pointwise ops on values that are one number everywhere become ops on that number, which fold.
// - The phases of a program become programs of their own.
#pragma once

#include "ir/tile_dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright::triton {

void fold_uniform_values(ProgramOp program);

/// One program for each phase: those of a phase are numbered from 0 on, and know which loop of the kernel they are of.
/// A program without phases is the one.
llvm::SmallVector<mlir::OwningOpRef<ProgramOp>> split_phases(ProgramOp program);

} // namespace tilewright::triton
