#include "ir/guard.h"

namespace tilewright {

std::optional<std::pair<Symbol, int64_t>> Guard::pinned_size() const {
  if (kind != Kind::Equal || result == 0) return std::nullopt;
  // A multiple of one size, and a constant.
  Dim difference = left - right;
  int64_t constant = 0, factor = 0;
  std::optional<Symbol> symbol;
  for (const Monomial& monomial : difference.monomials()) {
    if (monomial.symbols.empty()) {
      constant = monomial.coefficient;
    } else {
      if (symbol || monomial.symbols.size() != 1) return std::nullopt;
      symbol = monomial.symbols[0];
      factor = monomial.coefficient;
    }
  }
  if (!symbol || symbol->kind != Symbol::Kind::Size) return std::nullopt;
  return std::pair(*symbol, -constant / factor);
}

SizeFormula formula_of(const Dim& dim) {
  std::vector<SizeFormula::Term> terms;
  for (const Monomial& monomial : dim.monomials()) {
    SizeFormula::Term& term = terms.emplace_back(SizeFormula::Term{monomial.coefficient, {}});
    for (Symbol symbol : monomial.symbols) term.sizes.push_back(symbol.index);
  }
  return SizeFormula(std::move(terms));
}

SizeCondition condition_of(const Guard& guard) {
  return {guard.kind, formula_of(guard.left), formula_of(guard.right), guard.result};
}

} // namespace tilewright
