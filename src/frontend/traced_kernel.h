// What recording a kernel gives: its tile IR, for any sizes.
#pragma once

#include "ir/guard.h"
#include "ir/tile_dialect.h"
#include "tilewright/config.h"
#include "tilewright/detail/kernel_core.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace tilewright {

struct TracedKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module; // holds the one kernel
  KernelOp kernel;
  /// For each argument of the kernel, its number among those of the call: the constants among these are recorded.
  /// Numbers past these are of `captured`.
  llvm::SmallVector<size_t> parameters;
  /// Arrays that the lambda holds itself: arguments that no call passes.
  std::vector<Array> captured = {};
  uint32_t recording = 0; // its number: detail::recording_id()
  /// What the record took for granted of this call's sizes, besides which of them are 1.
  std::vector<Guard> guards;
};

/// Runs the lambda of a call and records it as tile IR with symbolic sizes, verified. Sizes of 1 are constants, and
/// whole dimensions of equal length are one. The IR depends on nothing but the lambda, the arguments, and what the host
/// part asks of the config: the values of tunables and registered block sizes, which stand in the IR
/// (ir/host_choices.h). Where the config does not say or is null, a tunable is its first choice, and a block size a
/// number that is legal. Not on the order in which the C++ compiler evaluates operands. Throws Error at the user's
/// line.
TracedKernel trace(const KernelDefinition& definition, const detail::Call& call, mlir::MLIRContext* context,
                   const Config* config = nullptr);

/// What a specialisation assumes of the address of an array's first element, in bytes: 16, or the element's own size.
int64_t assumed_alignment(const Array& array);

/// Appends what tells the specialisations of one kernel apart: of arrays dtype, sizes, strides and alignment, of
/// run-time numbers the type, of constants type and bytes. Types are known by address, so keys hold within this
/// process. Where shapes are not static: of arrays dtype, rank, which sizes are 1, which strides are 1, alignment, and
/// whether an element may be 2^31 or more elements away from the first; guards tell more of them apart.
void append_specialization_key(std::span<const detail::Argument> arguments, bool static_shapes,
                               llvm::SmallVectorImpl<char>& key);

} // namespace tilewright
