// How ops of the loops stage (loops_to_llvm.h) reach memory.
#pragma once

#include "mlir/IR/Operation.h"

#include <optional>

namespace tilewright::cpu {

struct MemoryAccess {
  mlir::OpOperand* memref; // the operands after it are its indices, the first dimension's first
  bool writes;
};

/// Nothing for ops that do not touch memory, and for those that are not of the loops stage.
std::optional<MemoryAccess> memory_access(mlir::Operation* op);

} // namespace tilewright::cpu
