#include "ir/dim.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tilewright {

Dim::Dim(int64_t constant) {
  if (constant != 0) monomials_.push_back({{}, constant});
}

Dim::Dim(Symbol symbol) { monomials_.push_back({{symbol}, 1}); }

// Higher degrees first, so that the constant comes last; then by the symbols.
static bool comes_before(const Monomial& a, const Monomial& b) {
  if (a.symbols.size() != b.symbols.size()) return a.symbols.size() > b.symbols.size();
  return std::lexicographical_compare(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end());
}

void Dim::add(Monomial monomial) {
  auto at = std::lower_bound(monomials_.begin(), monomials_.end(), monomial, comes_before);
  if (at == monomials_.end() || at->symbols != monomial.symbols) {
    monomials_.insert(at, std::move(monomial));
    return;
  }
  at->coefficient += monomial.coefficient;
  if (at->coefficient == 0) monomials_.erase(at);
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim sum = a;
  for (const Monomial& monomial : b.monomials_) sum.add(monomial);
  return sum;
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  Dim product;
  for (const Monomial& x : a.monomials_) {
    for (const Monomial& y : b.monomials_) {
      Monomial monomial{x.symbols, x.coefficient * y.coefficient};
      monomial.symbols.append(y.symbols.begin(), y.symbols.end());
      llvm::sort(monomial.symbols);
      product.add(std::move(monomial));
    }
  }
  return product;
}

std::optional<int64_t> Dim::constant() const {
  if (monomials_.empty()) return 0;
  if (monomials_.size() == 1 && monomials_[0].symbols.empty()) return monomials_[0].coefficient;
  return std::nullopt;
}

std::optional<Symbol> Dim::symbol() const {
  if (monomials_.size() == 1 && monomials_[0].symbols.size() == 1 && monomials_[0].coefficient == 1)
    return monomials_[0].symbols[0];
  return std::nullopt;
}

bool Dim::mentions(Symbol symbol) const {
  return llvm::any_of(monomials_, [&](const Monomial& m) { return llvm::is_contained(m.symbols, symbol); });
}

bool Dim::is_over_sizes() const {
  return llvm::all_of(monomials_, [](const Monomial& monomial) {
    return llvm::all_of(monomial.symbols, [](Symbol symbol) { return symbol.kind == Symbol::Kind::Size; });
  });
}

Dim Dim::substitute(llvm::function_ref<std::optional<Dim>(Symbol)> value) const {
  Dim sum;
  for (const Monomial& monomial : monomials_) {
    Dim product(monomial.coefficient);
    for (Symbol symbol : monomial.symbols) product = product * value(symbol).value_or(Dim(symbol));
    sum = sum + product;
  }
  return sum;
}

int64_t Dim::evaluate(llvm::ArrayRef<int64_t> sizes) const {
  int64_t sum = 0;
  for (const Monomial& monomial : monomials_) {
    int64_t product = monomial.coefficient;
    for (Symbol symbol : monomial.symbols) product *= sizes[symbol.index];
    sum += product;
  }
  return sum;
}

void Dim::print(llvm::raw_ostream& os) const {
  if (monomials_.empty()) os << "0";
  bool first = true;
  for (const Monomial& monomial : monomials_) {
    if (!first) os << " + ";
    first = false;
    bool needs_star = monomial.coefficient != 1 || monomial.symbols.empty();
    if (needs_star) os << monomial.coefficient;
    for (Symbol symbol : monomial.symbols) {
      if (needs_star) os << " * ";
      needs_star = true;
      os << "brs"[static_cast<int>(symbol.kind)] << symbol.index;
    }
  }
}

std::string Dim::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::SmallVector<int64_t> Dim::encode() const {
  llvm::SmallVector<int64_t> code;
  for (const Monomial& monomial : monomials_) {
    code.push_back(monomial.coefficient);
    code.push_back(static_cast<int64_t>(monomial.symbols.size()));
    for (Symbol symbol : monomial.symbols) code.push_back(static_cast<int64_t>(symbol.kind) << 32 | symbol.index);
  }
  return code;
}

Dim Dim::decode(llvm::ArrayRef<int64_t> code) {
  Dim dim;
  for (size_t i = 0; i < code.size();) {
    Monomial monomial;
    monomial.coefficient = code[i++];
    for (int64_t left = code[i++]; left > 0; --left, ++i)
      monomial.symbols.push_back({static_cast<Symbol::Kind>(code[i] >> 32), static_cast<uint32_t>(code[i])});
    dim.monomials_.push_back(std::move(monomial));
  }
  return dim;
}

} // namespace tilewright
