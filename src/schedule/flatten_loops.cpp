#include "schedule/flatten_loops.h"

#include "ir/flattening.h"
#include "ir/kernel_loops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {
namespace {

/// Rewrites a kernel for one loop.
class Flattener {
public:
  Flattener(KernelOp kernel, ForOp loop, Flattening flattening, Symbol block)
      : kernel_(kernel), loop_(loop), flattening_(std::move(flattening)), block_(block) {}

  void run() {
    replace_loop();
    // Ops name dimensions by number, so they change while the types still tell which.
    kernel_.walk([&](Operation* op) { renumber(op); });
    kernel_.walk([&](Operation* op) {
      retype(op->getResults());
      for (Region& region : op->getRegions())
        for (Block& block : region) retype(block.getArguments());
    });
    for (const Flattening::Merged& merged : flattening_.arrays) merge_dims(merged);
    auto results = kernel_.block().getTerminator()->getOperandTypes();
    kernel_.setFunctionType(
        FunctionType::get(kernel_.getContext(), kernel_.block().getArgumentTypes(), TypeRange(results)));
    for (unsigned dim = flattening_.rank(); dim-- > 0;) loop_.block().eraseArgument(1 + dim);
  }

private:
  unsigned rank() const { return flattening_.rank(); }

  // One range and one tile; the old tiles stay beside it until nothing uses them.
  void replace_loop() {
    OpBuilder builder(loop_);
    int64_t row = 1;
    for (unsigned dim = 1; dim < rank(); ++dim) row *= *LoopDim{loop_, dim}.length();
    auto bound = [&](Value outermost) -> Value {
      return builder.create<arith::ConstantIndexOp>(loop_.getLoc(), *getConstantIntValue(outermost) * row);
    };
    Value lower = bound(loop_.getLower()[0]), upper = bound(loop_.getUpper()[0]);
    loop_.getLowerMutable().assign(lower);
    loop_.getUpperMutable().assign(upper);
    auto block = DimAttr::get(kernel_.getContext(), Dim(block_));
    loop_.setBlocksAttr(DimsAttr::get(kernel_.getContext(), block));
    tile_ = loop_.block().insertArgument(0u, TileType::get(kernel_.getContext(), block), loop_.getLoc());
  }

  Value old_tile(unsigned dim) { return loop_.block().getArgument(1 + dim); }
  bool is_old_tile(Value value, unsigned from) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &loop_.block() && argument.getArgNumber() >= 1 + from &&
           argument.getArgNumber() < 1 + rank();
  }

  void renumber(Operation* op) {
    if (auto load = dyn_cast<LoadOp>(op)) return renumber_access(load);
    if (auto store = dyn_cast<StoreOp>(op)) return renumber_access(store);
    if (auto reduce = dyn_cast<ReduceOp>(op)) return reduce.setDims(merged_dims(reduce.getSource(), reduce.getDims()));
    if (auto count = dyn_cast<LaneCountOp>(op)) return count.setDims(merged_dims(count.getSource(), count.getDims()));
    if (auto full = dyn_cast<FullOp>(op)) return renumber_full(full);
    auto expand = dyn_cast<ExpandDimsOp>(op);
    if (!expand) return;
    std::optional<unsigned> first = flattening_.position_in(expand.getType());
    if (first && expand.getDim() > *first) expand.setDim(expand.getDim() - (rank() - 1));
  }

  SmallVector<int64_t> merged_dims(Value source, ArrayRef<int64_t> dims) {
    std::optional<unsigned> position = flattening_.position_in(source.getType());
    if (!position) return SmallVector<int64_t>(dims);
    const int64_t first = *position, merged_away = rank() - 1;
    SmallVector<int64_t> merged;
    for (int64_t dim : dims) {
      if (dim <= first) merged.push_back(dim);
      if (dim > first + merged_away) merged.push_back(dim - merged_away);
    }
    return merged;
  }

  template <typename Op> void renumber_access(Op access) {
    SmallVector<Value> operands;
    SmallVector<int32_t> kinds;
    for (const SubscriptUse& use : subscripts_of(access)) {
      if (use.operand && is_old_tile(use.operand, 1)) continue;
      kinds.push_back(static_cast<int32_t>(use.kind));
      if (use.operand) operands.push_back(use.operand == old_tile(0) ? tile_ : use.operand);
    }
    access.getIndicesMutable().assign(operands);
    access.setSubscripts(kinds);
  }

  void renumber_full(FullOp full) {
    std::optional<unsigned> first = flattening_.position_in(full.getType());
    if (!first) return;
    SmallVector<Value> tiles;
    SmallVector<int32_t> dims;
    for (auto [tile, dim] : llvm::zip(full.getTiles(), full.getTileDims())) {
      if (is_old_tile(tile, 1)) continue;
      tiles.push_back(tile == old_tile(0) ? tile_ : tile);
      dims.push_back(dim <= static_cast<int32_t>(*first) ? dim : dim - static_cast<int32_t>(rank() - 1));
    }
    full.getTilesMutable().assign(tiles);
    full.setTileDims(dims);
  }

  void retype(ValueRange values) {
    for (Value value : values) {
      std::optional<unsigned> first = flattening_.position_in(value.getType());
      if (!first) continue;
      SmallVector<Dim> dims = dims_of(value);
      dims[*first] = Dim(block_);
      dims.erase(dims.begin() + *first + 1, dims.begin() + *first + rank());
      value.setType(value_type(element_type(value.getType()), dims));
    }
  }

  void merge_dims(const Flattening::Merged& merged) {
    auto type = cast<ArrayType>(merged.array.getType());
    SmallVector<DimAttr> dims;
    SmallVector<int64_t> strides, sizes = type.sizes();
    for (unsigned dim = 0; dim < sizes.size(); ++dim) {
      if (dim > merged.first_dim && dim < merged.first_dim + rank()) continue;
      dims.push_back(type.getDims()[dim]);
      strides.push_back(type.stride(dim));
    }
    int64_t size = 1, stride = 1;
    for (unsigned dim = merged.first_dim + rank(); dim-- > merged.first_dim;) {
      if (size == 1) stride = type.stride(dim); // that of the innermost dimension with more than one element
      size *= sizes[dim];
    }
    dims[merged.first_dim] = DimAttr::get(type.getContext(), Dim(size));
    strides[merged.first_dim] = stride;
    Value array = merged.array;
    array.setType(ArrayType::get(type.getContext(), type.getElementType(), dims, strides, type.getAlignment()));
  }

  KernelOp kernel_;
  ForOp loop_;
  Flattening flattening_;
  Symbol block_;
  Value tile_;
};

} // namespace

LogicalResult flatten_loops(KernelOp kernel, const std::vector<bool>& flatten, SmallVectorImpl<int64_t>& block_sizes) {
  SmallVector<ForOp> loops = permutable_loops(kernel);
  if (flatten.size() > loops.size())
    return kernel.emitError() << "has " << loops.size() << " loops to flatten, " << flatten.size()
                              << " values are given";
  for (auto [loop, wanted] : llvm::zip(loops, flatten)) {
    if (!wanted) continue;
    std::string reason;
    std::optional<Flattening> flattening = find_flattening(kernel, loop, reason);
    if (!flattening) return loop.emitError() << "cannot be walked as one: " << reason;
    int64_t size = 1;
    for (auto [dim, block] : llvm::enumerate(flattening->blocks)) {
      if (block.index >= block_sizes.size()) return loop.emitError() << "has a block whose size is not given";
      size *= std::min(block_sizes[block.index], *LoopDim{loop, static_cast<unsigned>(dim)}.length());
    }
    uint32_t block = block_sizes.size();
    block_sizes.push_back(size);
    Flattener(kernel, loop, *std::move(flattening), Symbol::block(block)).run();
  }
  return success();
}

} // namespace tilewright
