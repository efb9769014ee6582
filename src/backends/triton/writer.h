// The body of a Python function while it is written: nested blocks of lines, names, and the user's lines as comments.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Location.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace tilewright::triton {

class Writer {
public:
  explicit Writer(llvm::function_ref<llvm::StringRef(llvm::StringRef, unsigned)> source_line)
      : source_line_(source_line) {}

  //===--- Names ----------------------------------------------------------===//

  /// A name like `wanted` that nothing else has: "offs", "offs_1", ...
  std::string unique(llvm::StringRef wanted);
  /// Keeps a name from being given.
  void reserve(llvm::StringRef name) { names_.insert(name); }
  /// What the user's line calls its results, in order: {"m", "n"} for `auto [m, n] = f(x)` and `for m, n in tile(...)`;
  /// empty where it names none.
  std::vector<std::string> names_on_line(mlir::Location location);
  /// What the user calls the variables of the loop on a line; empty where there is none.
  std::vector<std::string> loop_names(mlir::Location location);
  /// A writer of another function: none of these names or lines, the same source.
  Writer of_another_function() const { return Writer(source_line_); }

  //===--- Lines ----------------------------------------------------------===//

  /// Lines that are written from here on are in `block`, one step further in than the block around it.
  void enter(mlir::Block* block);
  /// Ends the innermost block; its lines go after `header`, at the end of the block around it.
  void leave(const std::string& header);
  /// Ends the innermost block without writing its lines, which are given to write_block() once what else belongs to the
  /// statement is written: lines of enclosing blocks may come up while it is.
  std::vector<std::string> take_block();
  void write_block(const std::string& header, const std::vector<std::string>& lines);
  /// A line at the end of the innermost block. Under the user's line that made it, where that is another one than
  /// above.
  void line(const std::string& text, mlir::Location location);
  void line(const std::string& text);
  /// As `line`, at the end of an enclosing block: it comes before the inner ones that are being written.
  void line_in(mlir::Block* block, const std::string& text);
  bool is_empty() const { return scopes_.back().lines.empty(); }

  /// Whether `block` is being written.
  bool is_open(mlir::Block* block) const;
  mlir::Block* block() const { return scopes_.back().block; }
  /// The lines of the outermost block, once all others are left.
  std::vector<std::string> take_lines() { return std::move(scopes_.front().lines); }

private:
  struct Scope {
    mlir::Block* block;
    std::vector<std::string> lines;
    std::string comment; // the last one
  };
  std::string comment_for(mlir::Location location);
  llvm::StringRef text_of_line(mlir::Location location);

  llvm::function_ref<llvm::StringRef(llvm::StringRef, unsigned)> source_line_;
  llvm::StringSet<> names_;
  std::vector<Scope> scopes_;
};

} // namespace tilewright::triton
