// Replaces symbols in everything that names dimensions: types of values, array types, and attributes.
#pragma once

#include "ir/tile_dialect.h"

#include <optional>

namespace tilewright {

/// What a symbol is replaced by; nothing: it stays.
using SymbolValue = llvm::function_ref<std::optional<Dim>(Symbol)>;

/// A type of tile IR with its symbols replaced. Strides and alignment of arrays stay as they are.
mlir::Type substitute(mlir::Type type, SymbolValue value);

/// Replaces symbols in a kernel: arguments, results and attributes of every op in it, and the lengths of its whole
/// dimensions.
void substitute_symbols(KernelOp kernel, SymbolValue value);

/// A constant of tile IR or program IR as a tensor of another type with the same number of elements.
mlir::TypedAttr retype_constant(mlir::TypedAttr constant, mlir::Type type);

} // namespace tilewright
