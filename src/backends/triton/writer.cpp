#include "backends/triton/writer.h"

#include "backends/triton/source_names.h"
#include "ir/context.h"

#include <algorithm>
#include <fmt/format.h>

using namespace mlir;

namespace tilewright::triton {

static const char* const kPythonWords[] = {"False",    "None",   "True",  "and",   "as",        "assert",
                                           "async",    "await",  "break", "class", "continue",  "def",
                                           "del",      "elif",   "else",  "for",   "from",      "global",
                                           "if",       "import", "in",    "is",    "lambda",    "not",
                                           "nonlocal", "or",     "pass",  "raise", "return",    "try",
                                           "while",    "with",   "yield", "torch", "triton",    "tl",
                                           "min",      "max",    "range", "float", "libdevice", "TensorDescriptor"};

std::string Writer::unique(StringRef wanted) {
  // A name does not begin with a digit.
  std::string name(wanted.empty() || llvm::isDigit(wanted[0]) ? 1 : 0, 'v');
  for (char c : wanted) name += llvm::isAlnum(c) || c == '_' ? c : '_';
  std::string candidate = name;
  for (int i = 1; llvm::is_contained(kPythonWords, StringRef(candidate)) || names_.contains(candidate); ++i)
    candidate = fmt::format("{}_{}", name, i);
  names_.insert(candidate);
  return candidate;
}

StringRef Writer::text_of_line(Location location) {
  SourceLocation source = source_location(location);
  return source.known() && source.line > 0 ? source_line_(source.file, source.line) : StringRef();
}

std::vector<std::string> Writer::names_on_line(Location location) { return assigned_names(text_of_line(location)); }

std::vector<std::string> Writer::loop_names(Location location) { return loop_variables(text_of_line(location)); }

std::string Writer::comment_for(Location location) {
  StringRef text = text_of_line(location);
  return text.empty() ? "" : fmt::format("# {}: {}", source_location(location).line, text.str());
}

void Writer::enter(Block* block) { scopes_.push_back({block, {}, scopes_.empty() ? "" : scopes_.back().comment}); }

std::vector<std::string> Writer::take_block() {
  Scope inner = std::move(scopes_.back());
  scopes_.pop_back();
  scopes_.back().comment = inner.comment;
  return std::move(inner.lines);
}

void Writer::write_block(const std::string& header, const std::vector<std::string>& lines) {
  scopes_.back().lines.push_back(header);
  for (const std::string& line : lines) scopes_.back().lines.push_back(fmt::format("    {}", line));
}

void Writer::leave(const std::string& header) { write_block(header, take_block()); }

void Writer::line(const std::string& text, Location location) {
  Scope& scope = scopes_.back();
  std::string comment = comment_for(location);
  if (!comment.empty() && comment != scope.comment) {
    scope.lines.push_back(comment);
    scope.comment = comment;
  }
  scope.lines.push_back(text);
}

void Writer::line(const std::string& text) { scopes_.back().lines.push_back(text); }

void Writer::line_in(Block* block, const std::string& text) {
  auto scope = std::ranges::find(scopes_, block, &Scope::block);
  (scope == scopes_.end() ? scopes_.front() : *scope).lines.push_back(text);
}

bool Writer::is_open(Block* block) const { return std::ranges::find(scopes_, block, &Scope::block) != scopes_.end(); }

} // namespace tilewright::triton
