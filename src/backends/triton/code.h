// Expressions of Triton's language as text, with what must be known of them to write the next one around them.
#pragma once

#include "ir/tile_dialect.h"

#include <string>

namespace tilewright::triton {

/// How tightly an expression binds, from the loosest operator of Python on.
enum class Binding { Comparison, Or, Xor, And, Shift, Sum, Product, Unary, Atom };

struct Code {
  std::string text;
  Binding binding = Binding::Atom;
  // "float32", as it is named in triton.language; empty for a literal, which takes the other's type. An integer of the
  // program has no sign; here it is "int32" or "uint32", as the op behind it left it, and an op that minds converts.
  std::string type;
  // Of the value that the expression has, without dimensions of 1 in the program's value: a size, or 1 where the value
  // is the same all along the dimension. Empty: the same everywhere.
  llvm::SmallVector<int64_t> shape = {};

  bool is_literal() const { return type.empty(); }
  bool is_scalar() const { return shape.empty(); }
  /// In parentheses where it binds less tightly.
  std::string within(Binding outer) const { return binding < outer ? "(" + text + ")" : text; }
};

/// "float32" for f32; integers are signed, i1 is "int1", index is "int32". Throws Error for what Triton does not have.
std::string type_name(mlir::Type type, mlir::Location location);

/// Of what an access reads or writes: "uint8" where the array has these.
std::string memory_type(AccessOp access);

/// "uint32" for "int32".
std::string unsigned_type(llvm::StringRef type);
std::string signed_type(llvm::StringRef type);
bool is_unsigned(const Code& code);

/// `text(...)` of literals and names.
Code call(const std::string& function, llvm::ArrayRef<Code> arguments, const std::string& type);
/// The operands bind at least as tightly as the operator; the right one more tightly.
Code binary(const Code& a, const char* op, const Code& b, Binding binding, const std::string& type);
Code compare(const Code& a, const char* op, const Code& b);
/// `x.to(tl.type)`, or x itself where it has the type.
Code converted(Code x, const std::string& type);
/// The bits of x as another type of the same width.
Code reinterpreted(Code x, const std::string& type);

/// The shape of an elementwise op's result.
llvm::SmallVector<int64_t> common_shape(llvm::ArrayRef<Code> operands);

/// "(64, 128)", "(64,)".
std::string tuple(llvm::ArrayRef<std::string> elements);
std::string tuple(llvm::ArrayRef<int64_t> elements);

/// The shape of a program's value without its dimensions of 1.
llvm::SmallVector<int64_t> squeezed_shape(mlir::Type type);
/// Which of the value's dimensions those are.
llvm::SmallVector<int64_t> squeezed_dims(mlir::Type type);

Code literal(mlir::TypedAttr constant);
Code integer(int64_t value);

} // namespace tilewright::triton
