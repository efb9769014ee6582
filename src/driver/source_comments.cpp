#include "driver/source_comments.h"

#include "ir/context.h"

#include <fmt/core.h>

#include <regex>
#include <string>

namespace tilewright {

llvm::StringRef SourceLines::line(llvm::StringRef file, unsigned number) {
  auto [found, is_new] = files_.try_emplace(file);
  if (is_new)
    if (auto buffer = llvm::MemoryBuffer::getFile(file)) {
      found->second.buffer = std::move(*buffer);
      found->second.buffer->getBuffer().split(found->second.lines, '\n');
    }
  const auto& lines = found->second.lines;
  return number >= 1 && number <= lines.size() ? lines[number - 1].trim() : llvm::StringRef();
}

namespace {

// Without each ` file:line:column` or ` [unknown]` that stands before a comma or a closing parenthesis.
std::string drop_argument_locations(llvm::StringRef line) {
  static const std::regex location(R"( (\[unknown\]|[^ ,()]+:[0-9]+:[0-9]+)(?=[,):]))");
  return std::regex_replace(line.str(), location, "");
}

} // namespace

// The printer is asked for locations, `loc("file":line:column)` at the end of each op's line, which are then taken off
// and written as comments where they change.
std::string with_source_comments(mlir::Operation* op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, mlir::OpPrintingFlags().enableDebugInfo(true, /*prettyForm=*/true).useLocalScope());
  SourceLines sources;
  std::string result, last;
  llvm::SmallVector<llvm::StringRef, 0> lines;
  llvm::StringRef(text).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    // pretty form: `op ... file:line:column`, or `[unknown]`
    llvm::StringRef body = line.rtrim(), file;
    unsigned number = 0;
    if (body.consume_back("[unknown]")) {
      body = body.rtrim();
    } else if (size_t space = body.rfind(' '); space != llvm::StringRef::npos) {
      auto [position, column] = body.substr(space + 1).rsplit(':');
      auto [path, row] = position.rsplit(':');
      unsigned column_number = 0;
      if (!column.getAsInteger(10, column_number) && !row.getAsInteger(10, number) && !path.empty()) {
        file = path;
        body = body.substr(0, space).rtrim();
      }
    }
    // Block arguments have locations too, in the middle of a line; constants and scratch are nobody's line.
    std::string code = drop_argument_locations(body);
    bool declares = body.contains("= arith.constant") || body.contains("= memref.alloca");
    llvm::StringRef source = file.empty() || declares ? llvm::StringRef() : sources.line(file, number);
    std::string comment = source.empty() ? std::string() : fmt::format("// {}: {}", number, source.str());
    bool closes = body.trim().starts_with("}");
    if (!comment.empty() && comment != last && !closes) {
      result.append(body.size() - body.ltrim().size(), ' ');
      result += comment + "\n";
      last = comment;
    }
    result += code + '\n';
  }
  return result;
}

std::string with_source_text(const std::string& code) {
  SourceLines sources;
  std::string result;
  llvm::SmallVector<llvm::StringRef, 0> lines;
  llvm::StringRef(code).rtrim('\n').split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::StringRef comment = line.ltrim(), source;
    unsigned number = 0;
    if (comment.consume_front("; ") || comment.consume_front("# ")) {
      auto [file, row] = comment.rsplit(':');
      if (!row.getAsInteger(10, number)) source = sources.line(file, number);
    }
    if (source.empty()) {
      result.append(line.begin(), line.end());
    } else {
      result.append(line.data(), comment.data() - line.data());
      result += fmt::format("{}: {}", number, source.str());
    }
    result += '\n';
  }
  return result;
}

} // namespace tilewright
