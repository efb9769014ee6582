// The loops stage to LLVM IR.
//
// A kernel of the loops stage is one func.func made of a closed set of ops:
//
//   func    func.func, func.return without operands
//   scf     for (with loop-carried values), while, if (with results), yield, condition; a for's step is positive
//   memref  load, store, prefetch; alloca in the entry block; reinterpret_cast between contiguous types, which is the
//           same memory; generic_atomic_rmw, whose result is what the element was
//   arith   everything, on scalars and 1-D vectors
//   math    sqrt rsqrt absf absi floor ceil round roundeven trunc copysign fma ctpop ctlz cttz; the elementary
//           functions that the runtime table has, lane by lane (expand_math.h makes vector code of the common ones)
//           exp2 of an integral number (`tile.integral`, a unit attribute), on targets with has_scaling: one
//           instruction together with the arith.mulf that it goes into, rounded once
//   tile    composite of erfc, erfinv and lgamma: the runtime table has them (expand_math.h is for the others)
//   vector  load store maskedload maskedstore gather scatter broadcast splat fma reduction shuffle extract insert
//           extractelement insertelement bitcast create_mask constant_mask step
//
// Anything else is refused by name, at the op's location. Vectors have one dimension; memrefs have static shapes and
// strides.
//
// The function's arguments are arrays (memrefs), run-time numbers (scalars), and last three of type index: the begin
// and end of the range of programs to run, and the number of workers. A bool array is a memref of i8. An argument may
// carry `tile.alignment = N : i64`, the alignment in bytes that its pointer is known to have; else it has its element
// type's. Arrays do not overlap: whoever launches has checked that.
//
// A memref.alloca is a piece of the worker's scratch memory, 64-byte aligned, whose content is undefined when the
// function begins. Scratch buffers overlap neither each other nor an array.
//
// bfloat16 is a storage type here: it is converted (by integer arithmetic, ties to even, NaN kept), moved and selected;
// arithmetic on it is refused.
//
// A vector.store with `nontemporal` is a streaming store where the address is provably aligned to the whole vector, or
// where `tile.aligned` (a unit attribute) promises so; else it is an ordinary store.
//
// Floating-point ops may be contracted to fused multiply-adds, except those with `tile.rounded` (a unit attribute);
// further liberties come from an op's own fastmath flags. Sums in vector.reduction <add> of floats are taken in any
// order.
#pragma once

#include "backends/cpu/target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tilewright::cpu {

inline constexpr const char* kRounded = "tile.rounded";
inline constexpr const char* kIntegral = "tile.integral";

// LLVM IR of one kernel. Each has a context of its own, so that kernels compile in parallel and that their types and
// constants are freed with them.
struct EmittedKernel {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::string entry;     // the function of type CpuKernelFunction (runtime/kernel_abi.h)
  int64_t scratch_bytes; // what a worker must provide, 64-byte aligned
};

// Whether the LLVM IR knows which of the user's source lines an instruction comes from.
enum class SourceLines { Drop, Keep };

// Throws Error for an op outside the set above. `kernel` has been verified.
EmittedKernel emit_llvm(mlir::func::FuncOp kernel, const CpuTarget& target, SourceLines lines = SourceLines::Drop);

} // namespace tilewright::cpu
