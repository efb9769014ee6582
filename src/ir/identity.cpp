#include "ir/identity.h"

#include "ir/host_choices.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace tilewright {

std::string canonical_text(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->print(os, mlir::OpPrintingFlags().enableDebugInfo(false).useLocalScope());
  return text;
}

static std::string hash_of(llvm::StringRef text) { return llvm::formatv("{0:x-16}", llvm::xxh3_64bits(text)).str(); }

std::string identity_hash(KernelOp kernel) { return hash_of(canonical_text(kernel)); }

// Numbers stay in names alone (s0, %12, f32), but for those of constants, which are called by them (%c64).
static std::string without_numbers(llvm::StringRef text) {
  auto is_of_name = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '%' || c == '#'; };
  std::string rest;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (is_of_name(text[at]) && end < text.size() && is_of_name(text[end])) ++end;
    llvm::StringRef word = text.slice(at, end);
    if (word.starts_with("%c"))
      rest += "%c";
    else if (!llvm::isDigit(word.front()))
      rest += word;
    at = end;
  }
  return rest;
}

std::string family_hash(KernelOp kernel) {
  HostChoices choices = host_choices(kernel);
  const bool has_numbers = !choices.tunables.empty() || llvm::any_of(choices.blocks, [](const RegisteredBlock& block) {
    return block.value.has_value();
  });
  std::string text = canonical_text(kernel);
  return hash_of(has_numbers ? without_numbers(text) : text);
}

} // namespace tilewright
