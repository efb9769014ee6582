#include "config/default_blocks.h"

#include "ir/kernel_loops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {
namespace {

constexpr int64_t kNeighbours = 1024; // along unit stride
constexpr int64_t kOthers = 16;
constexpr int64_t kUsualLength = 4096; // of a dimension whose length is known at run time only
// For machines that do not say.
constexpr int64_t kUsualL1Bytes = 32 << 10, kUsualL2Bytes = 256 << 10;

/// The largest `tile` times a power of two up to `target`; `tile` where that is larger.
int64_t multiple_of_tile(int64_t tile, int64_t target) {
  int64_t size = tile;
  while (size * 2 <= target) size *= 2;
  return size;
}

class DefaultBlocks {
public:
  DefaultBlocks(KernelOp kernel, ArrayRef<BlockRole> roles, const BackendLimits& limits)
      : kernel_(kernel), roles_(roles), limits_(limits) {}

  SmallVector<int64_t> run() {
    for (const BlockRole& role : roles_) sizes_.push_back(first_size(role));
    const bool has_dot = llvm::any_of(roles_, [](const BlockRole& role) { return role.in_dot(); });
    const int64_t cache = has_dot ? (limits_.l2_bytes > 0 ? limits_.l2_bytes : kUsualL2Bytes)
                                  : (limits_.l1_bytes > 0 ? limits_.l1_bytes : kUsualL1Bytes);
    while (bytes_touched() > cache / 2 && shrink([](const BlockRole&) { return true; })) {
    }
    while (programs() < limits_.programs_per_worker * limits_.worker_count &&
           shrink([](const BlockRole& role) { return role.parallel; })) {
    }
    for (auto [role, size] : llvm::zip(roles_, sizes_))
      if (role.inside) size = std::min(size, sizes_[*role.inside]);
    return sizes_;
  }

private:
  int64_t first_size(const BlockRole& role) const {
    int64_t size = INT64_MAX;
    if (role.dot_row) size = std::min(size, multiple_of_tile(limits_.dot_tile_rows, limits_.dot_rows));
    if (role.dot_column) size = std::min(size, multiple_of_tile(limits_.dot_tile_columns, limits_.dot_columns));
    if (role.dot_sum) size = std::min(size, limits_.dot_sum);
    if (role.dot_batch) size = 1;
    if (!role.in_dot()) size = role.unit_stride ? kNeighbours : kOthers;
    return role.extent ? std::clamp<int64_t>(*role.extent, 1, size) : size;
  }

  /// The least that a block is made for a cache's or for parallelism's sake.
  int64_t least_size(const BlockRole& role) const {
    if (role.dot_batch) return 1;
    if (role.in_dot())
      return std::max({role.dot_row ? limits_.dot_tile_rows : 1, role.dot_column ? limits_.dot_tile_columns : 1,
                       role.dot_sum ? 4 * limits_.vector_lanes : 1, limits_.min_dot_block});
    return role.unit_stride ? 4 * limits_.vector_lanes : 1;
  }

  static int64_t next_smaller(int64_t size) {
    return size % 2 == 0 ? size / 2 : static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(size - 1)));
  }

  /// Makes the largest block smaller that may be, those without neighbours first; false where there is none.
  bool shrink(llvm::function_ref<bool(const BlockRole&)> may) {
    int64_t best = -1;
    auto prefers = [&](int64_t a, int64_t b) {
      bool a_cheap = !roles_[a].unit_stride && !roles_[a].in_dot(),
           b_cheap = !roles_[b].unit_stride && !roles_[b].in_dot();
      return a_cheap != b_cheap ? a_cheap : sizes_[a] > sizes_[b];
    };
    for (int64_t i = 0; i < static_cast<int64_t>(roles_.size()); ++i) {
      if (!may(roles_[i]) || sizes_[i] <= 1 || next_smaller(sizes_[i]) < least_size(roles_[i])) continue;
      if (best < 0 || prefers(i, best)) best = i;
    }
    if (best < 0) return false;
    sizes_[best] = next_smaller(sizes_[best]);
    return true;
  }

  int64_t elements(Type value) const {
    SmallVector<Dim> wholes = const_cast<KernelOp&>(kernel_).whole_dims();
    int64_t product = 1;
    for (const Dim& dim : dims_of(value)) {
      Dim size = dim.substitute([&](Symbol symbol) -> std::optional<Dim> {
        if (symbol.kind == Symbol::Kind::Block) return Dim(sizes_[symbol.index]);
        if (symbol.kind != Symbol::Kind::Whole) return std::nullopt;
        return wholes[symbol.index].constant() ? wholes[symbol.index] : Dim(kRolledBlock);
      });
      product *= size.constant().value_or(1);
    }
    return product;
  }

  /// By all blocks that are accessed, at once.
  int64_t bytes_touched() {
    int64_t bytes = 0;
    kernel_.walk([&](Operation* op) {
      if (AccessOp access(op); access) bytes += elements(access.block()) * access.array_type().element_bytes();
    });
    return bytes;
  }

  int64_t programs() {
    int64_t count = 1;
    ForOp loop = parallel_loop(kernel_);
    for (unsigned dim = 0; dim < loop.rank(); ++dim) {
      std::optional<Symbol> symbol = loop.getBlocks().getDims()[dim].dim().symbol();
      int64_t block = symbol ? sizes_[symbol->index] : loop.getBlocks().getDims()[dim].dim().constant().value_or(1);
      count *= llvm::divideCeil(LoopDim{loop, dim}.length().value_or(kUsualLength), block);
    }
    return count;
  }

  KernelOp kernel_;
  ArrayRef<BlockRole> roles_;
  const BackendLimits& limits_;
  SmallVector<int64_t> sizes_;
};

} // namespace

SmallVector<int64_t> default_blocks(KernelOp pinned, ArrayRef<BlockRole> roles, const BackendLimits& limits) {
  return DefaultBlocks(pinned, roles, limits).run();
}

} // namespace tilewright
