// Reads any text as IR, verifies it, and runs each registered pass on what is legal. Whatever the text, each of these
// succeeds or reports an error.
#include "driver/register_passes.h"
#include "ir/context.h"
#include "ir/input_limits.h"
#include "mutate_ir.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace tilewright::fuzz {
namespace {

// Each is run on the IR as it was read. Options that are numbers take legal ones; what they say about a kernel with
// other loops or arrays is for the passes to refuse.
constexpr const char* kPipelines[] = {
    "canonicalize",
    "cse",
    "loop-invariant-code-motion",
    "tile-pin-sizes{arrays=30x40:1x30:16,40x20}",
    "tile-pin-sizes{arrays=30,31}",
    "tile-pin-sizes{arrays=0,1x1}",
    "tile-simplify-kernel",
    "tile-number-loops",
    "tile-choose-accesses{indexing=tensor_descriptor,pointer,block_ptr load-evictions=any,last store-evictions=first}",
    "tile-order-loops{orders=1:0,2:0:1}",
    "tile-flatten-loops{flatten=1 block-sizes=8,64}",
    "tile-flatten-loops{flatten=1,1 block-sizes=1,1,1}",
    "tile-count-lanes",
    "tile-roll-reductions{sizes=16 block-sizes=8}",
    "tile-roll-reductions{sizes=0,8,3 block-sizes=8,4,2}",
    "tile-number-loops,tile-lower{block-sizes=8,16,32}",
    "tile-lower{block-sizes=1,1,1,1 pads-extents=true},tile-prove-bounds,tile-map-programs,tile-expand-program-ids,"
    "tile-lower-to-loops",
    "tile-prove-bounds",
    "tile-map-programs{pid-type=persistent_blocked group=4}",
    "tile-map-programs{pid-type=persistent_interleaved group=3 programs-per-worker=2}",
    "tile-map-programs{pid-type=xyz}",
    "tile-expand-program-ids",
    "tile-unroll-loops{factors=4,2 static=1,0}",
    "tile-simplify-program",
    "tile-lower-to-loops{level=x86-64-v3}",
    "tile-lower-to-loops{level=x86-64-v4}",
    "expand-math",
    "expand-math{scaling}",
    "overlap-stores",
};

// A pass may add dialects to the context, and contexts never forget a type.
constexpr int kInputsPerContext = 50;

void run(llvm::StringRef text) {
  static std::unique_ptr<mlir::MLIRContext> context;
  static int inputs = 0;
  if (inputs++ % kInputsPerContext == 0) context = make_context();
  mlir::ScopedDiagnosticHandler silent(context.get(), [](mlir::Diagnostic&) { return mlir::success(); });

  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(context.get()));
  if (!module) return;
  (void)to_text(*module, true);
  llvm::ArrayRef<const char*> pipelines = kPipelines;
  const char* only = std::getenv("TILEWRIGHT_FUZZ_PIPELINE"); // to find which one fails, or to try other options
  if (only) pipelines = only;
  for (const char* pipeline : pipelines) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = module->clone();
    mlir::PassManager passes(context.get());
    if (mlir::failed(mlir::parsePassPipeline(pipeline, passes, llvm::errs()))) std::abort();
    if (mlir::succeeded(passes.run(*copy))) (void)to_text(*copy);
  }
}

size_t give_back(const std::string& text, uint8_t* data, size_t max_size) {
  size_t size = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), size);
  return size;
}

std::string_view text_of(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

} // namespace
} // namespace tilewright::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  tilewright::register_passes();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size); // MLIR's lexer reads the 0 at its end
  if (!tilewright::find_input_problem(text)) tilewright::fuzz::run(text);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  using namespace tilewright::fuzz;
  std::mt19937 random(seed);
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  return give_back(mutate_ir(text_of(data, size), random), data, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                            uint8_t* out, size_t max_out_size, unsigned seed) {
  using namespace tilewright::fuzz;
  std::mt19937 random(seed);
  return give_back(cross_ir(text_of(a, a_size), text_of(b, b_size), random), out, max_out_size);
}
