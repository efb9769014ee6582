// Arrays in the interpreter: arguments, loads and stores.
#pragma once

#include "ir/interpreter.h"
#include "ir/interpreter_value.h"

namespace tilewright {

/// Where one subscript of an access goes: to `first`, first + 1, ... along its dimension of the array.
struct SubscriptRange {
  int64_t first = 0;
  int block_dim = -1; // dimension of the block that walks it; -1: only `first`
};

/// A `:` subscript. Throws where it does not cover its dimension of the array.
SubscriptRange whole_range(mlir::Operation* op, int64_t array_size, int64_t block_size, int block_dim);

/// Reads a block of `shape`. Along its dimension d, the lanes from bounds[d] on are missing. Throws where a lane that
/// exists lies outside the array's sizes.
BlockValue load(mlir::Operation* op, const ArrayMemory& memory, llvm::ArrayRef<SubscriptRange> subscripts,
                llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> bounds);

/// Writes the lanes of a block within the bounds. Throws where one of them does not exist or lies outside the array.
void store(mlir::Operation* op, const BlockValue& value, const ArrayMemory& memory,
           llvm::ArrayRef<SubscriptRange> subscripts, llvm::ArrayRef<int64_t> bounds);

/// Binds a kernel's or program's block arguments. Throws where they are not what their types say.
void bind_arguments(mlir::FunctionOpInterface unit, llvm::ArrayRef<InterpreterArgument> arguments,
                    Environment& environment);

/// An array under the type it is pinned to; throws where it has other sizes, strides, alignment or element type.
ArrayMemory bind_array(mlir::Operation* op, const Array& array, ArrayType type, std::string name);

/// A new array of a pinned type, each element NaN, the lowest integer or true.
Array make_allocation(mlir::Operation* op, ArrayType type);

} // namespace tilewright
