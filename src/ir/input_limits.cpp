#include "ir/input_limits.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr llvm::StringLiteral kOpening = "([{<", kClosing = ")]}>";

// Skips the string, comment or comparison that begins at `at`, if one does; `at` is then its last character.
bool skip_token(llvm::StringRef text, size_t& at) {
  llvm::StringRef rest = text.substr(at);
  if (rest.starts_with("//")) {
    at = std::min(text.find('\n', at), text.size()) - 1;
    return true;
  }
  if (rest.starts_with("->") || rest.starts_with(">=") || rest.starts_with("<=")) {
    ++at;
    return true;
  }
  if (rest[0] != '"') return false;
  // A string ends on its line.
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') ++at;
  return true;
}

} // namespace

std::optional<InputProblem> find_input_problem(llvm::StringRef text) {
  if (text.size() > kMaxInputBytes)
    return InputProblem{
        1, fmt::format("the text has {} bytes, and at most {} are read; split it", text.size(), kMaxInputBytes)};
  if (text.starts_with("ML\xefR")) return InputProblem{1, "this is MLIR bytecode, and only text is read"};
  size_t open[kOpening.size()] = {}, depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (skip_token(text, at)) continue;
    if (size_t kind = kOpening.find(text[at]); kind != llvm::StringRef::npos) {
      ++open[kind];
      if (++depth > kMaxInputNesting)
        return InputProblem{text.take_front(at).count('\n') + 1,
                            fmt::format("more than {} brackets are open here; IR does not nest so deeply, so one is "
                                        "probably not closed",
                                        kMaxInputNesting)};
    } else if (kind = kClosing.find(text[at]); kind != llvm::StringRef::npos && open[kind] > 0) {
      --open[kind];
      --depth;
    }
  }
  return std::nullopt;
}

} // namespace tilewright
