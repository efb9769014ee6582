// From LLVM IR to an object file in memory: a short list of optimisations, then LLVM's code generator.
//
// LLVM's own -O3 pipeline would spend half of a candidate's compile time to find what the loops stage already says. The
// list here cleans up after emission: equal addresses and constants become one (early-cse), empty blocks go
// (simplifycfg), addresses and broadcasts leave the loops (licm).
#pragma once

#include "backends/cpu/target.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"

#include <string>

namespace tilewright::cpu {

// The target machines and pass managers behind these are kept per thread and target.

void optimise(llvm::Module& module, const CpuTarget& target);

// The object file of an optimised module.
llvm::SmallVector<char, 0> generate_object(llvm::Module& module, const CpuTarget& target);

// Its assembly, with LLVM's comments.
std::string generate_assembly(llvm::Module& module, const CpuTarget& target);

} // namespace tilewright::cpu
