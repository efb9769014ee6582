// The interpreter: a slow, obvious evaluation of tile IR and of program IR. It is the oracle that every backend's
// results are compared with, so it shares no lowering code with any of them.
//
// Every op is computed exactly, or as near to it as long double comes, and then rounded to its element type once, to
// nearest even. Sums, products and dots are accumulated the same way and rounded once at the end. Integers wrap around.
// NaN and infinity are as in PyTorch.
//
// Each lane knows whether it exists. A lane past the end of a tile, or beyond the `valid` of a load, is missing; what
// is made of it is missing too; and a missing lane that would be seen (stored, reduced, added up by a dot, or turned
// into an address, a branch or a scalar) is an Error that names the op and the user's line. So is an access outside an
// array's sizes, and an undefined number where it would be seen: an integer division by zero, a shift past the width,
// or a conversion to an integer out of its range. An op that the interpreter does not know is refused by name.
#pragma once

#include "ir/tile_dialect.h"

#include "tilewright/array.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace tilewright {

/// One argument: an array, or a run-time number. A number is rounded to the argument's type.
using InterpreterArgument = std::variant<Array, double, int64_t>;

/// How far each element of the arguments (none for numbers) and of the allocations, in row-major order, may be from
/// what another right implementation computes with the same block sizes; see interpreter_bounds.h. Infinite where the
/// element cannot be compared.
struct ErrorBounds {
  std::vector<std::vector<double>> arguments, allocations;
};

/// The wide mode, for figures of error and nothing else: no result is rounded to its floating-point dtype, only to
/// double, and memory keeps what was stored unrounded. These are the elements of the arguments and allocations, in
/// row-major order; empty for numbers, and for arrays of integers. The arrays themselves hold them rounded.
struct UnroundedElements {
  std::vector<std::vector<double>> arguments, allocations;
};

/// Runs a kernel of tile IR once it is pinned: the host part with its checks, then every tile of the outermost loop in
/// order. `block_sizes` are b0, b1, ..., any positive numbers. `allocations` are the arrays for the host part's
/// tile.empty ops in order; without them they are made, filled with NaN or the lowest integer, so that what no store
/// reaches shows. With `bounds`, which are sized here, error bounds are computed too; with `unrounded`, it runs in the
/// wide mode. Returns the arrays that the
/// kernel returns, which share their memory with arguments and allocations.
///
/// Kernels that Validity refuses are refused. Throws Error also where arguments do not have the types, sizes and
/// strides that the kernel is pinned to.
std::vector<Array> interpret_kernel(KernelOp kernel, llvm::ArrayRef<int64_t> block_sizes,
                                    llvm::ArrayRef<InterpreterArgument> arguments,
                                    llvm::ArrayRef<Array> allocations = {}, ErrorBounds* bounds = nullptr,
                                    UnroundedElements* unrounded = nullptr);

/// Runs all programs of a launch in order of their ids: as many as `programs` says, or as there are workers.
/// `arguments` are the kernel's own, then the allocations; a program may see neighbouring dimensions of one merged.
void interpret_program(ProgramOp program, llvm::ArrayRef<InterpreterArgument> arguments, int64_t worker_count = 1);

} // namespace tilewright
