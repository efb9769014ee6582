// MLIR contexts with our dialects, and MLIR's diagnostics as Tilewright errors.
#pragma once

#include "tilewright/error.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace tilewright {

/// A single-threaded context with every dialect of the compiler loaded. Contexts are cheap (about a millisecond) and
/// never free types, so long-lived threads make a new one from time to time.
std::unique_ptr<mlir::MLIRContext> make_context();

/// Runs `action` and throws tilewright::Error, with the location and text of the first error reported, if it fails.
void check_diagnostics(mlir::MLIRContext* context, llvm::function_ref<mlir::LogicalResult()> action);

/// Parses a module from its textual form; throws tilewright::Error where it is illegal.
mlir::OwningOpRef<mlir::ModuleOp> parse_module(llvm::StringRef text, mlir::MLIRContext* context);

/// An op's text, with or without the locations that let it be read back with its source lines.
std::string to_text(mlir::Operation* op, bool locations = false);

/// The user's file and line of a location; unknown where there is none.
SourceLocation source_location(mlir::Location location);

} // namespace tilewright
