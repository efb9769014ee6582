// Dimensions: the symbolic extents of device values and of tensors in memory.
//
// A dimension is a polynomial with integer coefficients over three kinds of symbols, kept in one normal form, so that
// two dimensions are the same exactly when their normal forms are equal:
//   b0, b1, ...  block sizes, one per block id, chosen by the config;
//   r0, r1, ...  whole dimensions: what a `:` subscript covers, one per distinct length;
//   s0, s1, ...  sizes of the kernel's arguments, pinned when shapes are static: one for each dimension of each of
//                them, in order, those of size 1 (which are constants) counted too.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace tilewright {

struct Symbol {
  enum class Kind : uint8_t { Block, Whole, Size };
  Kind kind;
  uint32_t index;
  auto operator<=>(const Symbol&) const = default;

  static Symbol block(uint32_t index) { return {Kind::Block, index}; }
  static Symbol whole(uint32_t index) { return {Kind::Whole, index}; }
  static Symbol size(uint32_t index) { return {Kind::Size, index}; }
};

/// One product of symbols with its coefficient; no symbols: a constant.
struct Monomial {
  llvm::SmallVector<Symbol, 2> symbols; // sorted
  int64_t coefficient = 0;              // never zero inside a Dim
  bool operator==(const Monomial&) const = default;
};

class Dim {
public:
  Dim() = default; // zero
  Dim(int64_t constant);
  Dim(Symbol symbol);

  bool operator==(const Dim&) const = default;
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);

  /// The value where the dimension has no symbols.
  std::optional<int64_t> constant() const;
  bool is_one() const { return constant() == 1; }
  /// The symbol where the dimension is one symbol and nothing else.
  std::optional<Symbol> symbol() const;
  llvm::ArrayRef<Monomial> monomials() const { return monomials_; }
  bool mentions(Symbol symbol) const;

  /// Whether there are no symbols but sizes s.
  bool is_over_sizes() const;

  /// Replaces each symbol for which `value` gives a dimension.
  Dim substitute(llvm::function_ref<std::optional<Dim>(Symbol)> value) const;

  /// The value where s0, s1, ... are `sizes`. There are no other symbols.
  int64_t evaluate(llvm::ArrayRef<int64_t> sizes) const;

  /// As in the textual IR: monomials in order, `2 * b0 * s1 + r0 + 64`.
  void print(llvm::raw_ostream& os) const;
  std::string str() const;

  /// The normal form as numbers, to be uniqued in an attribute, and back.
  llvm::SmallVector<int64_t> encode() const;
  static Dim decode(llvm::ArrayRef<int64_t> code);

private:
  void add(Monomial monomial);
  llvm::SmallVector<Monomial, 1> monomials_; // sorted by symbols, the constant last
};

} // namespace tilewright
