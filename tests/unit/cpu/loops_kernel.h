// Kernels of the loops stage for tests: written as text, compiled, run.
#pragma once

#include "backends/cpu/jit.h"
#include "backends/cpu/loops_to_llvm.h"
#include "runtime/aligned_memory.h"
#include "runtime/kernel_abi.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// One func.func with its context. Throws std::runtime_error if the text is not valid IR.
class LoopsText {
public:
  // With a target, elementary functions are expanded for it (expand_math.h).
  explicit LoopsText(const std::string& text, const tilewright::cpu::CpuTarget* expand_for = nullptr);

  mlir::func::FuncOp function() { return *module_->getOps<mlir::func::FuncOp>().begin(); }
  // Emits; fails the test if what was emitted is not valid LLVM IR.
  tilewright::cpu::EmittedKernel emit(const tilewright::cpu::CpuTarget& target = tilewright::cpu::host_target());

private:
  std::unique_ptr<mlir::MLIRContext> context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

class LoopsKernel {
public:
  explicit LoopsKernel(const std::string& text,
                       const tilewright::cpu::CpuTarget& target = tilewright::cpu::host_target(), bool expand = false);

  void run(const std::vector<void*>& arguments, int64_t begin = 0, int64_t end = 1, int64_t workers = 1);
  const tilewright::cpu::CompiledCode& code() const { return *code_; }

private:
  std::shared_ptr<const tilewright::cpu::CompiledCode> code_;
  tilewright::AlignedMemory scratch_;
};

// The targets whose code this machine can run: the host's own, and the level below where there is one.
const std::vector<tilewright::cpu::CpuTarget>& runnable_targets();

// A function of `parameters` (text, may be empty, ends with a comma otherwise) and the range arguments, with `body`.
std::string loops_function(const std::string& parameters, const std::string& body);

// A kernel over arrays of `count` elements, all operands and the result loaded and stored as vectors of `lanes` (1:
// scalars). In `body`, $0 and $1 are the operands, $r the result; $T0, $T1 and $R their types, $M the type of a
// condition, $N the lanes, and $V{i32} the vector (or scalar) of i32.
std::string pointwise_kernel(const std::string& body, const std::vector<std::string>& operand_types,
                             const std::string& result_type, int lanes, int count);

// Runs such a kernel with every lane count of {1, 4, 16, 32} on every runnable target, and returns the results, which
// it expects to be equal bit by bit.
template <class Result, class... Operand>
std::vector<Result> evaluate(const std::string& body, const std::vector<std::string>& operand_types,
                             const std::string& result_type, const std::vector<Operand>&... operands);

#include "cpu/loops_kernel_evaluate.h"
