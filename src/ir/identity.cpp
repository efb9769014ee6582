#include "ir/identity.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace tilewright {

std::string canonical_text(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->print(os, mlir::OpPrintingFlags().enableDebugInfo(false).useLocalScope());
  return text;
}

std::string identity_hash(KernelOp kernel) {
  return llvm::formatv("{0:x-16}", llvm::xxh3_64bits(canonical_text(kernel))).str();
}

} // namespace tilewright
