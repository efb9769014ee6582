#include "ir/context.h"

#include "ir/tile_dialect.h"
#include "support/error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"

#include <mutex>

using namespace mlir;

namespace tilewright {

std::unique_ptr<MLIRContext> make_context() {
  DialectRegistry registry;
  registry.insert<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, func::FuncDialect,
                  memref::MemRefDialect, vector::VectorDialect>();
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

// A SourceLocation outlives any context, so the few names of source files that are ever seen are kept for good.
static const char* keep_file_name(llvm::StringRef name) {
  static std::mutex mutex;
  static auto* names = new llvm::StringSet<>();
  std::lock_guard lock(mutex);
  return names->insert(name).first->getKeyData();
}

SourceLocation source_location(Location location) {
  SourceLocation found;
  location->walk([&](Location part) {
    auto line = dyn_cast<FileLineColLoc>(part);
    if (!line) return WalkResult::advance();
    found.file = keep_file_name(line.getFilename());
    found.line = line.getLine();
    found.column = line.getColumn();
    return WalkResult::interrupt();
  });
  return found;
}

void check_diagnostics(MLIRContext* context, llvm::function_ref<LogicalResult()> action) {
  std::string message;
  SourceLocation location;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic& diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !message.empty()) return;
    message = diagnostic.str();
    for (Diagnostic& note : diagnostic.getNotes())
      if (!StringRef(note.str()).starts_with("see current operation")) message += "; " + note.str();
    location = source_location(diagnostic.getLocation());
  });
  if (succeeded(action())) return;
  fail(location, "{}", message.empty() ? "the compiler failed without saying why" : message);
}

OwningOpRef<ModuleOp> parse_module(llvm::StringRef text, MLIRContext* context) {
  OwningOpRef<ModuleOp> module;
  check_diagnostics(context, [&] {
    module = parseSourceString<ModuleOp>(text, ParserConfig(context));
    return success(static_cast<bool>(module));
  });
  return module;
}

std::string to_text(Operation* op, bool locations) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().enableDebugInfo(locations, /*prettyForm=*/false));
  return text;
}

} // namespace tilewright
