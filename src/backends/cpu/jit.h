// From the LLVM IR of a kernel to code that can be called in this process.
#pragma once

#include "backends/cpu/loops_to_llvm.h"
#include "backends/cpu/target.h"
#include "runtime/kernel_abi.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tilewright::cpu {

// The code of one kernel. Its memory is given back when the last owner lets go: whoever calls function() keeps one.
class CompiledCode {
public:
  virtual ~CompiledCode() = default;

  CpuKernelFunction function() const { return function_; }
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // Machine code and constants, in bytes.
  size_t code_bytes() const { return code_bytes_; }
  // Instructions of LLVM IR after optimisation, in the whole kernel: the measure of a candidate's compile time.
  size_t instruction_count() const { return instruction_count_; }

protected:
  CpuKernelFunction function_ = nullptr;
  int64_t scratch_bytes_ = 0;
  size_t code_bytes_ = 0;
  size_t instruction_count_ = 0;
};

// Optimises and compiles a kernel, which must not have been optimised before. May be called from many threads.
std::shared_ptr<const CompiledCode> compile(EmittedKernel kernel, const CpuTarget& target);

// What compile() makes, as text: the optimised LLVM IR, and the assembly. Where the kernel was emitted with its source
// lines, a comment `; file:line` or `# file:line` stands before the first instruction of each.
std::string llvm_text(EmittedKernel kernel, const CpuTarget& target);
std::string assembly_text(EmittedKernel kernel, const CpuTarget& target);

} // namespace tilewright::cpu
