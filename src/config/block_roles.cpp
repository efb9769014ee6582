#include "config/block_roles.h"

#include "ir/host_choices.h"
#include "ir/kernel_loops.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {
namespace {

using Roles = SmallVector<BlockRole>;

BlockRole* role_of(Roles& roles, const Dim& dim) {
  std::optional<Symbol> symbol = dim.symbol();
  return symbol && symbol->kind == Symbol::Kind::Block ? &roles[symbol->index] : nullptr;
}

void see_dot(Roles& roles, DotOp dot) {
  SmallVector<Dim> a = dims_of(dot.getA()), acc = dims_of(dot.getAcc());
  const size_t rank = acc.size();
  auto mark = [&](const Dim& dim, bool BlockRole::* use) {
    if (BlockRole* role = role_of(roles, dim)) role->*use = true;
  };
  mark(acc[rank - 2], &BlockRole::dot_row);
  mark(acc[rank - 1], &BlockRole::dot_column);
  mark(a[rank - 1], &BlockRole::dot_sum);
  for (size_t dim = 0; dim + 2 < rank; ++dim) mark(acc[dim], &BlockRole::dot_batch);
}

void see_access(Roles& roles, AccessOp access, SmallVectorImpl<int64_t>& longest) {
  ArrayType array = access.array_type();
  for (auto [dim, use] : llvm::enumerate(access.subscripts())) {
    if (use.kind != Subscript::Tile) continue;
    BlockRole* role = role_of(roles, cast<TileType>(use.operand.getType()).getExtent().dim());
    if (!role) continue;
    role->unit_stride |= array.stride(dim) == 1;
    int64_t& length = longest[role - roles.begin()];
    length = std::max(length, array.sizes()[dim]); // one that is known at run time only counts as none
  }
}

/// Of a block that no loop walks, what the user registered it for.
std::optional<int64_t> registered_extent(KernelOp kernel, uint32_t block) {
  for (const RegisteredBlock& known : host_choices(kernel).blocks)
    if (known.block == block && known.extent) return known.extent->constant();
  return std::nullopt;
}

} // namespace

Roles block_roles(KernelOp pinned) {
  // Beside sizes that are known at run time only, a known one says little of how far a loop goes.
  bool all_static = llvm::all_of(pinned.block().getArgumentTypes(), [](Type type) {
    auto array = dyn_cast<ArrayType>(type);
    return !array || array.is_static();
  });
  Roles roles(block_id_count(pinned), BlockRole{.location = pinned.getLoc()});
  SmallVector<int64_t> longest(roles.size(), 0);
  pinned.walk([&](Operation* op) {
    if (auto dot = dyn_cast<DotOp>(op)) see_dot(roles, dot);
    if (AccessOp access(op); access) see_access(roles, access, longest);
  });
  for (auto [block, role] : llvm::enumerate(roles)) {
    SmallVector<LoopDim> walks = loop_dims_of_block(pinned, block);
    if (walks.empty()) {
      role.extent = registered_extent(pinned, block);
      continue;
    }
    role.location = walks.front().loop.getLoc();
    bool known = true;
    int64_t extent = 0;
    for (LoopDim walk : walks) {
      std::optional<int64_t> length = walk.length();
      known &= length.has_value();
      extent = std::max(extent, length.value_or(0));
      role.parallel |= walk.loop.getParallel();
      if (Value outer = walk.outer_tile())
        if (auto symbol = cast<TileType>(outer.getType()).getExtent().dim().symbol()) role.inside = symbol->index;
    }
    if (!known) extent = std::max(extent, longest[block]);
    if (known || (extent > 0 && all_static)) role.extent = extent;
  }
  return roles;
}

} // namespace tilewright
