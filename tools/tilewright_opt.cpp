// tilewright-opt: IR in, passes, IR out. Every pass of the compiler is registered under its name; see --help.
#include "driver/register_passes.h"
#include "ir/input_limits.h"
#include "ir/tile_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

int main(int argc, char** argv) {
  llvm::InitLLVM init(argc, argv);
  tilewright::register_passes();
  mlir::DialectRegistry registry;
  registry.insert<tilewright::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                  mlir::func::FuncDialect, mlir::memref::MemRefDialect, mlir::vector::VectorDialect>();
  auto [input_path, output_path] =
      mlir::registerAndParseCLIOptions(argc, argv, "Tilewright's optimizer driver\n", registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input_path, output_path, registry));

  std::string why;
  std::unique_ptr<llvm::MemoryBuffer> input = mlir::openInputFile(input_path, &why);
  std::unique_ptr<llvm::ToolOutputFile> output = input ? mlir::openOutputFile(output_path, &why) : nullptr;
  if (!output) {
    llvm::errs() << why << "\n";
    return EXIT_FAILURE;
  }
  if (auto problem = tilewright::find_input_problem(input->getBuffer())) {
    llvm::errs() << input_path << ":" << problem->line << ": error: " << problem->message << "\n";
    return EXIT_FAILURE;
  }
  if (mlir::failed(mlir::MlirOptMain(output->os(), std::move(input), registry, config))) return EXIT_FAILURE;
  output->keep();
  return EXIT_SUCCESS;
}
