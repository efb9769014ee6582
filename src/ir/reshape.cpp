#include "ir/reshape.h"

namespace tilewright {

// product[i] is that of the first i dimensions.
static llvm::SmallVector<Dim> prefix_products(llvm::ArrayRef<Dim> dims) {
  llvm::SmallVector<Dim> products{Dim(1)};
  for (const Dim& dim : dims) products.push_back(products.back() * dim);
  return products;
}

llvm::SmallVector<ReshapeGroup> reshape_groups(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to) {
  llvm::SmallVector<Dim> source = prefix_products(from), result = prefix_products(to);
  llvm::SmallVector<ReshapeGroup> groups;
  unsigned i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    // The nearest place at which both sides have as many elements before it, having moved on one of them at least.
    auto meet = [&]() -> std::pair<unsigned, unsigned> {
      for (unsigned next_i = i; next_i <= from.size(); ++next_i)
        for (unsigned next_j = j; next_j <= to.size(); ++next_j) {
          bool both = next_i > i && next_j > j;
          bool rest = (next_i > i || next_j > j) && (i == from.size() || j == to.size());
          if ((both || rest) && source[next_i] == result[next_j]) return {next_i, next_j};
        }
      return {from.size(), to.size()};
    };
    auto [next_i, next_j] = meet();
    groups.push_back({i, next_i, j, next_j});
    i = next_i;
    j = next_j;
  }
  return groups;
}

static std::optional<unsigned> only_dim(llvm::ArrayRef<Dim> dims, unsigned begin, unsigned end) {
  std::optional<unsigned> found;
  for (unsigned dim = begin; dim < end; ++dim) {
    if (dims[dim].is_one()) continue;
    if (found) return std::nullopt;
    found = dim;
  }
  return found;
}

std::optional<std::pair<unsigned, unsigned>> kept_dim(const ReshapeGroup& group, llvm::ArrayRef<Dim> from,
                                                      llvm::ArrayRef<Dim> to) {
  std::optional<unsigned> source = only_dim(from, group.from, group.from_end);
  std::optional<unsigned> result = only_dim(to, group.to, group.to_end);
  if (!source || !result) return std::nullopt;
  return std::pair(*source, *result);
}

} // namespace tilewright
