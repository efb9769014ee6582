#include "cpu/loops_kernel.h"

#include "backends/cpu/expand_math.h"
#include "ir/tile_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace tilewright;
using namespace tilewright::cpu;

LoopsText::LoopsText(const std::string& text, const CpuTarget* expand_for) {
  mlir::DialectRegistry registry;
  registry
      .insert<mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
              mlir::scf::SCFDialect, mlir::tensor::TensorDialect, mlir::vector::VectorDialect, TileDialect>();
  context_ = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context_->loadAllAvailableDialects();
  module_ = mlir::parseSourceString<mlir::ModuleOp>(text, context_.get(), "kernel.mlir");
  if (!module_) throw std::runtime_error("not valid IR:\n" + text);
  if (!expand_for) return;
  mlir::PassManager passes(context_.get());
  passes.addPass(create_expand_math_pass(*expand_for));
  if (mlir::failed(passes.run(*module_))) throw std::runtime_error("expand-math failed on:\n" + text);
}

EmittedKernel LoopsText::emit(const CpuTarget& target) {
  EmittedKernel kernel = emit_llvm(function(), target);
  std::string message;
  llvm::raw_string_ostream stream(message);
  EXPECT_FALSE(llvm::verifyModule(*kernel.module, &stream)) << message;
  return kernel;
}

LoopsKernel::LoopsKernel(const std::string& text, const CpuTarget& target, bool expand)
    : code_(compile(LoopsText(text, expand ? &target : nullptr).emit(target), target)),
      scratch_(code_->scratch_bytes()) {}

void LoopsKernel::run(const std::vector<void*>& arguments, int64_t begin, int64_t end, int64_t workers) {
  code_->function()(arguments.data(), begin, end, workers, scratch_.data(), &runtime_table());
}

const std::vector<CpuTarget>& runnable_targets() {
  static const std::vector<CpuTarget> targets = [] {
    std::vector<CpuTarget> found = {host_target()};
    if (host_target().vector_bits > 256) found.push_back(target_for_level("x86-64-v3"));
    return found;
  }();
  return targets;
}

std::string loops_function(const std::string& parameters, const std::string& body) {
  return "func.func @kernel(" + parameters + "%begin: index, %end: index, %workers: index) {\n" + body +
         "\nreturn\n}\n";
}

namespace {

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

} // namespace

std::string pointwise_kernel(const std::string& body, const std::vector<std::string>& operand_types,
                             const std::string& result_type, int lanes, int count) {
  auto shaped = [&](const std::string& element) {
    return lanes == 1 ? element : "vector<" + std::to_string(lanes) + "x" + element + ">";
  };
  auto array = [&](const std::string& element) { return "memref<" + std::to_string(count) + "x" + element + ">"; };
  std::string parameters, loads, text = body;
  for (size_t i = 0; i < operand_types.size(); ++i) {
    std::string name = std::to_string(i), element = operand_types[i];
    parameters += "%x" + name + ": " + array(element) + ", ";
    loads += lanes == 1 ? "%v" + name + " = memref.load %x" + name + "[%i] : " + array(element) + "\n"
                        : "%v" + name + " = vector.load %x" + name + "[%i] : " + array(element) + ", " +
                              shaped(element) + "\n";
    replace_all(text, "$T" + name, shaped(element));
    replace_all(text, "$" + name, "%v" + name);
  }
  replace_all(text, "$r", "%result");
  replace_all(text, "$R", shaped(result_type));
  replace_all(text, "$M", shaped("i1"));
  for (const char* element : {"i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "index"})
    replace_all(text, std::string("$V{") + element + "}", shaped(element));
  std::string store = lanes == 1 ? "memref.store %result, %y[%i] : " + array(result_type)
                                 : "vector.store %result, %y[%i] : " + array(result_type) + ", " + shaped(result_type);
  return loops_function(parameters + "%y: " + array(result_type) + ", ",
                        "%c0 = arith.constant 0 : index\n%count = arith.constant " + std::to_string(count) +
                            " : index\n%step = arith.constant " + std::to_string(lanes) +
                            " : index\nscf.for %i = %c0 to %count step %step {\n" + loads + text + "\n" + store +
                            "\n}");
}
