// The user's source lines as LLVM debug locations, for the texts of `show`. Code that is only run goes without: they
// cost a tenth of the compile time.
#pragma once

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

namespace tilewright::cpu {

class DebugLocations {
public:
  explicit DebugLocations(llvm::Module& module);

  // Ops from here on are emitted into `function`.
  void enter(llvm::Function* function, mlir::Location location);
  // None for an op without a place in the user's source.
  llvm::DebugLoc of(mlir::Location location);
  // To be called when all is emitted.
  void finish() { builder_.finalize(); }

private:
  llvm::DIFile* file(llvm::StringRef path);

  llvm::DIBuilder builder_;
  llvm::DICompileUnit* unit_ = nullptr;
  llvm::DISubprogram* subprogram_ = nullptr;
  llvm::StringMap<llvm::DIScope*> scopes_; // by file
};

} // namespace tilewright::cpu
