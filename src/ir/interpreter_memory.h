// Arrays in the interpreter: arguments, loads and stores.
#pragma once

#include "ir/interpreter.h"
#include "ir/interpreter_value.h"

namespace tilewright {

/// Where one subscript of an access goes: to `first`, first + 1, ... along its dimension of the array.
struct SubscriptRange {
  int64_t first = 0;
  int block_dim = -1;                   // dimension of the block that walks it; -1: only `first`
  const BlockValue* elements = nullptr; // of a gather: the elements, over its dimensions of the block from block_dim on
};

/// A `:` subscript. Throws where it does not cover its dimension of the array.
SubscriptRange whole_range(mlir::Operation* op, int64_t array_size, int64_t block_size, int block_dim);

/// What an access comes to.
struct ResolvedAccess {
  const ArrayMemory& memory;
  llvm::SmallVector<SubscriptRange> subscripts;
  llvm::SmallVector<int64_t> bounds; // of each dimension of the block: how many lanes exist
  const BlockValue* mask = nullptr;  // none: all lanes are accessed
};

/// Reads a block of `shape`. Along its dimension d, the lanes from bounds[d] on are missing. Throws where a lane that
/// exists lies outside the array's sizes.
BlockValue load(mlir::Operation* op, const ResolvedAccess& access, llvm::ArrayRef<int64_t> shape);

/// Writes the lanes of a block within the bounds. Throws where one of them does not exist or lies outside the array.
void store(mlir::Operation* op, const ResolvedAccess& access, const BlockValue& value);

/// Lane by lane, in order. Throws as `load` and `store` do.
BlockValue atomic(AtomicOp op, const ResolvedAccess& access, const BlockValue& value);
BlockValue atomic_cas(AtomicCasOp op, const ResolvedAccess& access, const BlockValue& expected,
                      const BlockValue& value);

/// Prints the lanes of a value within the bounds, as a program numbered `program`. `value` may be null.
void print(PrintOp op, const BlockValue* value, llvm::ArrayRef<int64_t> bounds, int64_t program);

/// Binds a kernel's or program's block arguments. Throws where they are not what their types say.
void bind_arguments(mlir::FunctionOpInterface unit, llvm::ArrayRef<InterpreterArgument> arguments,
                    Environment& environment);

/// An array under the type it is pinned to; throws where it has other sizes, strides, alignment or element type.
/// `symbols` are s0, s1, ...
ArrayMemory bind_array(mlir::Operation* op, const Array& array, ArrayType type, llvm::ArrayRef<int64_t> symbols,
                       std::string name);

/// A new array of a pinned type, each element NaN, the lowest integer or true.
Array make_allocation(mlir::Operation* op, ArrayType type, llvm::ArrayRef<int64_t> symbols);

} // namespace tilewright
