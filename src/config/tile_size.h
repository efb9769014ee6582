// What the size of a tile value depends on, as a config spec says it.
#pragma once

#include "config/config_spec.h"
#include "ir/tile_dialect.h"

#include <optional>

namespace tilewright {

/// A product of sizes.
struct TileSize {
  std::vector<EntryName> factors; // of block_sizes and reduction_loops
  int64_t constant = 1;
};

/// `wholes`: the lengths of the kernel's whole dimensions; `rollable`: those that reduction_loops has entries for.
/// Nothing where a dimension is of another form than one symbol.
std::optional<TileSize> tile_size(mlir::Type type, llvm::ArrayRef<Dim> wholes, llvm::ArrayRef<uint32_t> rollable);

} // namespace tilewright
