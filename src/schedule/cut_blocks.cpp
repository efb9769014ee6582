#include "schedule/cut_blocks.h"

#include "ir/host_choices.h"
#include "ir/kernel_loops.h"

#include "llvm/ADT/BitVector.h"
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

// Whether the kernel sees how large a block is: it asks for the number, or works on whole blocks of it.
static BitVector observed_blocks(KernelOp kernel, unsigned count) {
  BitVector observed(count);
  auto see = [&](const Dim& dim) {
    for (const Monomial& monomial : dim.monomials())
      for (Symbol symbol : monomial.symbols)
        if (symbol.kind == Symbol::Kind::Block && symbol.index < count) observed.set(symbol.index);
  };
  for (const RegisteredBlock& block : host_choices(kernel).blocks)
    if (block.value && block.block < count) observed.set(block.block);
  kernel.walk([&](Operation* op) {
    if (auto extent = dyn_cast<ExtentOp>(op)) see(extent.getDim().dim());
    if (auto slice = dyn_cast<SliceOp>(op)) see(cast<TileType>(slice.getResult().getType()).getExtent().dim());
    auto full = dyn_cast<FullOp>(op);
    if (!full) return;
    for (auto [dim, extent] : llvm::enumerate(dims_of(full.getType())))
      if (!llvm::is_contained(full.getTileDims(), static_cast<int32_t>(dim))) see(extent);
  });
  return observed;
}

// The blocks of rows, columns and summed dimensions of dots.
static BitVector blocks_of_dots(KernelOp kernel, unsigned count) {
  BitVector found(count);
  kernel.walk([&](DotOp dot) {
    SmallVector<Dim> dims;
    for (Value value : {dot.getA(), dot.getB()}) llvm::append_range(dims, ArrayRef<Dim>(dims_of(value)).take_back(2));
    for (const Dim& dim : dims)
      if (auto symbol = dim.symbol(); symbol && symbol->kind == Symbol::Kind::Block && symbol->index < count)
        found.set(symbol->index);
  });
  return found;
}

SmallVector<int64_t> cut_blocks(KernelOp pinned, ArrayRef<int64_t> block_sizes, bool pads_extents,
                                int64_t min_dot_block) {
  SmallVector<int64_t> sizes(block_sizes);
  BitVector observed = observed_blocks(pinned, sizes.size());
  BitVector in_dots = blocks_of_dots(pinned, sizes.size());
  for (uint32_t block = 0; block < sizes.size(); ++block) {
    if (observed[block]) continue;
    SmallVector<LoopDim> walks = loop_dims_of_block(pinned, block);
    std::optional<int64_t> longest = walks.empty() ? std::nullopt : std::optional<int64_t>(1);
    for (LoopDim walk : walks) {
      std::optional<int64_t> length = length_of(walk, sizes);
      longest = longest && length ? std::optional(std::max(*longest, *length)) : std::nullopt;
    }
    if (!longest) continue;
    int64_t limit = pads_extents ? static_cast<int64_t>(llvm::PowerOf2Ceil(*longest)) : *longest;
    if (in_dots[block]) limit = std::max(limit, min_dot_block);
    sizes[block] = std::min(sizes[block], limit);
  }
  return sizes;
}

} // namespace tilewright
