#include "backends/cpu/debug_locations.h"

#include "ir/context.h"

#include "llvm/BinaryFormat/Dwarf.h"

namespace tilewright::cpu {

DebugLocations::DebugLocations(llvm::Module& module) : builder_(module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
}

llvm::DIFile* DebugLocations::file(llvm::StringRef path) { return builder_.createFile(path, ""); }

void DebugLocations::enter(llvm::Function* function, mlir::Location location) {
  SourceLocation where = source_location(location);
  llvm::DIFile* of_function = file(where.known() ? where.file : "<unknown>");
  if (!unit_)
    unit_ = builder_.createCompileUnit(llvm::dwarf::DW_LANG_C_plus_plus, of_function, "tilewright", true, "", 0, "",
                                       llvm::DICompileUnit::LineTablesOnly);
  llvm::DISubroutineType* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  subprogram_ = builder_.createFunction(of_function, function->getName(), function->getName(), of_function, where.line,
                                        type, where.line, llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  function->setSubprogram(subprogram_);
  scopes_.clear();
  scopes_[of_function->getFilename()] = subprogram_;
}

llvm::DebugLoc DebugLocations::of(mlir::Location location) {
  SourceLocation where = source_location(location);
  if (!where.known()) return llvm::DebugLoc();
  llvm::DIScope*& scope = scopes_[where.file];
  if (!scope) scope = builder_.createLexicalBlockFile(subprogram_, file(where.file));
  return llvm::DILocation::get(subprogram_->getContext(), where.line, where.column, scope);
}

} // namespace tilewright::cpu
