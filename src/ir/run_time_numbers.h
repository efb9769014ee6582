// The numbers that the code of a program is told beside its arguments, where sizes are known at run time only.
#pragma once

#include "ir/tile_dialect.h"
#include "runtime/size_formula.h"

namespace tilewright {

/// The sizes of arguments that are symbols, then the strides, also of allocations, that are `?`, both in order.
/// `arguments` are the types of a program's: those of the kernel, then the allocations. In a launch the numbers follow
/// them, as run-time numbers do. None where all is pinned.
llvm::SmallVector<RunTimeNumber> run_time_numbers(mlir::TypeRange arguments);

} // namespace tilewright
