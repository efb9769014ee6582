#include "schedule/cut_blocks.h"

#include "ir/kernel_loops.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {

// How much one dimension of a loop walks at the most; nothing where that is not known. `sizes` are those of blocks that
// come first in the source, as an outer one does.
static std::optional<int64_t> length_of(LoopDim dim, ArrayRef<int64_t> sizes) {
  Value outer = dim.outer_tile();
  if (!outer) return dim.length();
  Dim extent = cast<TileType>(outer.getType()).getExtent().dim();
  return extent
      .substitute([&](Symbol symbol) -> std::optional<Dim> {
        return symbol.kind == Symbol::Kind::Block ? std::optional(Dim(sizes[symbol.index])) : std::nullopt;
      })
      .constant();
}

SmallVector<int64_t> cut_blocks(KernelOp pinned, ArrayRef<int64_t> block_sizes, bool pads_extents) {
  SmallVector<int64_t> sizes(block_sizes);
  for (uint32_t block = 0; block < sizes.size(); ++block) {
    SmallVector<LoopDim> walks = loop_dims_of_block(pinned, block);
    std::optional<int64_t> longest = walks.empty() ? std::nullopt : std::optional<int64_t>(1);
    for (LoopDim walk : walks) {
      std::optional<int64_t> length = length_of(walk, sizes);
      longest = longest && length ? std::optional(std::max(*longest, *length)) : std::nullopt;
    }
    if (!longest) continue;
    int64_t limit = pads_extents ? static_cast<int64_t>(llvm::PowerOf2Ceil(*longest)) : *longest;
    sizes[block] = std::min(sizes[block], limit);
  }
  return sizes;
}

} // namespace tilewright
