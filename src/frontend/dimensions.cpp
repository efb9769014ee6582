#include "frontend/dimensions.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/core.h>

#include <algorithm>

namespace tilewright {

Dim Dimensions::add_size(int64_t value) {
  sizes_.push_back(value);
  return value == 1 ? Dim(1) : Dim(Symbol::size(sizes_.size() - 1));
}

Dim Dimensions::add_block(const SourceLocation& loop, int position, int count) {
  blocks_.push_back({loop, position, count});
  return Dim(Symbol::block(blocks_.size() - 1));
}

static bool comes_before(const Dim& a, const Dim& b) {
  auto x = a.encode(), y = b.encode();
  return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
}

Dim Dimensions::whole(const Dim& length) {
  int64_t number = *value(length);
  if (number == 1) return settled(length), Dim(1);
  for (auto [i, known] : llvm::enumerate(whole_)) {
    if (value(known) != number) continue;
    holds(Guard::Kind::Equal, known, length);
    if (comes_before(length, known)) known = length;
    return Dim(Symbol::whole(i));
  }
  whole_.push_back(length);
  return Dim(Symbol::whole(whole_.size() - 1));
}

std::optional<int64_t> Dimensions::value(const Dim& dim) const {
  Dim known = dim.substitute([&](Symbol symbol) -> std::optional<Dim> {
    if (symbol.kind == Symbol::Kind::Size) return Dim(sizes_[symbol.index]);
    if (symbol.kind == Symbol::Kind::Whole) return Dim(*value(whole_[symbol.index]));
    return std::nullopt;
  });
  return known.constant();
}

int64_t Dimensions::result(Guard::Kind operation, const Dim& left, const Dim& right) {
  int64_t number = Guard::evaluate(operation, *value(left), *value(right));
  Dim a = in_sizes(left), b = in_sizes(right);
  const bool is_comparison = operation <= Guard::Kind::LessEqual;
  bool settled = a.constant() && (b.constant() || operation == Guard::Kind::PowerOfTwo);
  settled |= is_comparison && (a - b).constant();
  Guard guard{operation, a, b, number};
  if (!settled && !llvm::is_contained(guards_, guard)) guards_.push_back(std::move(guard));
  return number;
}

bool Dimensions::holds(Guard::Kind comparison, const Dim& left, const Dim& right) {
  return result(comparison, left, right) != 0;
}

int64_t Dimensions::settled(const Dim& dim) {
  int64_t number = *value(dim);
  holds(Guard::Kind::Equal, dim, Dim(number));
  return number;
}

Dim Dimensions::in_sizes(const Dim& dim) const {
  return dim.substitute([&](Symbol symbol) -> std::optional<Dim> {
    if (symbol.kind == Symbol::Kind::Whole) return whole_[symbol.index];
    return std::nullopt;
  });
}

std::string Dimensions::describe(const Dim& dim) const {
  if (std::optional<int64_t> number = value(dim)) return fmt::format("{}", *number);
  std::optional<Symbol> symbol = dim.symbol();
  if (!symbol) return dim.str();
  const Block& block = blocks_[symbol->index];
  if (block.count == 1) return fmt::format("tile of line {}", block.loop.line);
  return fmt::format("tile {} of line {}", block.position, block.loop.line);
}

std::string Dimensions::describe(llvm::ArrayRef<Dim> dims) const {
  std::string text = "[";
  for (const Dim& dim : dims) text += (text.size() > 1 ? ", " : "") + describe(dim);
  return text + "]";
}

} // namespace tilewright
