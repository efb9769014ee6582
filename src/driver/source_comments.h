// IR as text for people: the user's own source lines stand as comments above what was made of them.
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace tilewright {

/// The lines of source files, each file read once.
class SourceLines {
public:
  /// Without the space around it; empty for a line or a file that is not there any more.
  llvm::StringRef line(llvm::StringRef file, unsigned number);

private:
  struct File {
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    llvm::SmallVector<llvm::StringRef, 0> lines;
  };
  llvm::StringMap<File> files_;
};

std::string with_source_comments(mlir::Operation* op);

// For the texts of backends/cpu/jit.h: puts the source line itself behind each comment `; file:line` or `# file:line`.
std::string with_source_text(const std::string& code);

} // namespace tilewright
