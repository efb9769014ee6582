// The texts of compiled kernels: LLVM IR and assembly with the user's source lines as comments.
#include "backends/cpu/jit.h"
#include "backends/cpu/llvm_pipeline.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/AssemblyAnnotationWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/FormattedStream.h"

namespace tilewright::cpu {
namespace {

std::string place_of(const llvm::DebugLoc& location) {
  auto* scope = llvm::cast<llvm::DIScope>(location.getScope());
  return (scope->getFilename() + ":" + llvm::Twine(location.getLine())).str();
}

// Remembers instructions' places, so that the debug information itself need not be printed.
class SourceLineComments final : public llvm::AssemblyAnnotationWriter {
public:
  explicit SourceLineComments(llvm::Module& module) {
    for (llvm::Function& function : module)
      for (llvm::Instruction& instruction : llvm::instructions(function))
        if (const llvm::DebugLoc& location = instruction.getDebugLoc(); location && location.getLine() != 0)
          places_[&instruction] = place_of(location);
  }

  void emitInstructionAnnot(const llvm::Instruction* instruction, llvm::formatted_raw_ostream& stream) override {
    auto found = places_.find(instruction);
    if (found == places_.end() || found->second == last_) return;
    last_ = found->second;
    stream << "  ; " << last_ << "\n";
  }

private:
  llvm::DenseMap<const llvm::Instruction*, std::string> places_;
  std::string last_;
};

bool starts_with_any(llvm::StringRef text, std::initializer_list<llvm::StringRef> prefixes) {
  return llvm::any_of(prefixes, [&](llvm::StringRef prefix) { return text.starts_with(prefix); });
}

// Leaves of the assembler's debug directives only the places, as comments.
std::string with_places_as_comments(llvm::StringRef assembly) {
  std::string text, last;
  bool in_debug_section = false;
  llvm::SmallVector<llvm::StringRef, 0> lines;
  assembly.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::StringRef directive = line.ltrim();
    if (directive.starts_with(".section") || directive.starts_with(".text"))
      in_debug_section = directive.contains(".debug_");
    if (in_debug_section || starts_with_any(directive, {".file", ".cfi_", ".Ltmp", ".Lfunc_begin"})) continue;
    // What a register holds, spelled out lane by lane.
    if (size_t comment = line.find("# "); comment != llvm::StringRef::npos && line.size() - comment > 60)
      line = line.substr(0, comment).rtrim();
    if (!directive.starts_with(".loc")) {
      text.append(line.begin(), line.end()).append("\n");
      continue;
    }
    // `.loc 1 12 5 is_stmt 0   # file:line:column`
    llvm::StringRef place = directive.split('#').second.trim().split(' ').first.rsplit(':').first;
    if (place.empty() || place.ends_with(":0") || place == last) continue;
    last = place.str();
    text.append("\t# ").append(last).append("\n");
  }
  return text;
}

} // namespace

std::string llvm_text(EmittedKernel kernel, const CpuTarget& target) {
  optimise(*kernel.module, target);
  SourceLineComments comments(*kernel.module);
  llvm::StripDebugInfo(*kernel.module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel.module->print(stream, &comments);
  return text;
}

std::string assembly_text(EmittedKernel kernel, const CpuTarget& target) {
  optimise(*kernel.module, target);
  return with_places_as_comments(generate_assembly(*kernel.module, target));
}

} // namespace tilewright::cpu
