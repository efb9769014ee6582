#include "config/tile_size.h"

using namespace mlir;

namespace tilewright {

std::optional<TileSize> tile_size(Type type, ArrayRef<Dim> wholes, ArrayRef<uint32_t> rollable) {
  TileSize size;
  for (const Dim& dim : dims_of(type)) {
    std::optional<Symbol> symbol = dim.symbol();
    if (!symbol && !dim.constant()) return std::nullopt;
    const auto* rolled =
        symbol && symbol->kind == Symbol::Kind::Whole ? llvm::find(rollable, symbol->index) : rollable.end();
    if (symbol && symbol->kind == Symbol::Kind::Block)
      size.factors.push_back({"block_sizes", symbol->index});
    else if (rolled != rollable.end())
      size.factors.push_back({"reduction_loops", static_cast<size_t>(rolled - rollable.begin())});
    else
      size.constant *= symbol ? *wholes[symbol->index].constant() : *dim.constant();
  }
  return size;
}

} // namespace tilewright
