#include "schedule/bucket_dims.h"

#include "ir/kernel_loops.h"
#include "ir/reshape.h"
#include "ir/rolling.h"
#include "ir/validity.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {
namespace {

constexpr StringLiteral kCure =
    "; with run-time sizes that is not possible: use static shapes, or tw::specialize the size";

/// Rewrites a kernel for one dimension.
class Bucketing {
public:
  Bucketing(KernelOp kernel, uint32_t whole, const Dim& length)
      : kernel_(kernel), symbol_(Symbol::whole(whole)), length_(length) {}

  LogicalResult run() {
    WalkResult fits = kernel_.walk([&](Operation* op) { return WalkResult(check(op)); });
    if (fits.wasInterrupted()) return failure();
    for (ForOp loop : parallel_loops(kernel_)) rewrite(loop);
    return success();
  }

private:
  LogicalResult check(Operation* op) {
    for (Type type : op->getResultTypes())
      for (const Dim& dim : dims_of(type))
        if (dim.mentions(symbol_) && dim.symbol() != symbol_)
          return op->emitError() << "makes a dimension of one whose length is " << length_.str() << kCure;
    auto reshape = dyn_cast<ReshapeOp>(op);
    if (!reshape) return success();
    SmallVector<Dim> from = dims_of(reshape.getSource()), to = dims_of(reshape.getResult());
    for (const ReshapeGroup& group : reshape_groups(from, to))
      for (unsigned dim = group.from; dim < group.from_end; ++dim)
        if (from[dim].symbol() == symbol_ && !kept_dim(group, from, to))
          return op->emitError() << "merges or splits a dimension whose length is " << length_.str() << kCure;
    return success();
  }

  void rewrite(ForOp loop) {
    OpBuilder builder = OpBuilder::atBlockBegin(&loop.block());
    const Location loc = loop.getLoc();
    auto extent = DimAttr::get(kernel_.getContext(), Dim(symbol_));
    Value zero = builder.create<arith::ConstantIndexOp>(loc, 0);
    Value length = builder.create<ExtentOp>(loc, builder.getIndexType(), DimAttr::get(kernel_.getContext(), length_));
    auto bucket = builder.create<SliceOp>(loc, TileType::get(kernel_.getContext(), extent), zero, length);
    loop.getBody().walk([&](Operation* op) {
      if (op == bucket.getOperation()) return;
      llvm::TypeSwitch<Operation*>(op)
          .Case<LoadOp, StoreOp, AtomicOp, AtomicCasOp>([&](auto access) { use_bucket(access, bucket); })
          .Case([&](FullOp full) { end_early(full, bucket); })
          .Case([&](SliceOp slice) {
            if (cast<TileType>(slice.getResult().getType()).getExtent() != extent || slice.getEnd()) return;
            // Values that inner loops carry may end with it from the loop's beginning on, so it stands before them.
            if (Operation* begin = slice.getBegin().getDefiningOp();
                begin && begin->hasTrait<OpTrait::ConstantLike>()) {
              slice->moveAfter(bucket);
              slice.getBeginMutable().assign(OpBuilder(slice).clone(*begin)->getResult(0));
            }
            OpBuilder before(slice);
            Value end = before.createOrFold<arith::AddIOp>(slice.getLoc(), slice.getBegin(), length);
            slice.getEndMutable().assign(end);
          });
    });
  }

  // The bucket in place of `:`.
  template <typename Op> void use_bucket(Op op, Value bucket) {
    SmallVector<int32_t> kinds;
    SmallVector<Value> operands;
    SmallVector<Dim> dims = dims_of(AccessOp(op).block());
    for (const SubscriptUse& use : subscripts_of(op)) {
      bool bucketed = use.kind == Subscript::Whole && dims[use.block_dim].symbol() == symbol_;
      kinds.push_back(static_cast<int32_t>(bucketed ? Subscript::Tile : use.kind));
      if (bucketed)
        operands.push_back(bucket);
      else if (use.operand)
        operands.push_back(use.operand);
    }
    op.getIndicesMutable().assign(operands);
    op.setSubscripts(kinds);
  }

  void end_early(FullOp full, Value bucket) {
    SmallVector<Value> tiles(full.getTiles());
    SmallVector<int32_t> limited(full.getTileDims());
    for (auto [dim, extent] : llvm::enumerate(dims_of(full.getType()))) {
      if (extent.symbol() != symbol_ || llvm::is_contained(limited, static_cast<int32_t>(dim))) continue;
      tiles.push_back(bucket);
      limited.push_back(static_cast<int32_t>(dim));
    }
    full.getTilesMutable().assign(tiles);
    full.setTileDims(limited);
  }

  KernelOp kernel_;
  Symbol symbol_;
  Dim length_;
};

} // namespace

LogicalResult bucket_dims(KernelOp pinned, ArrayRef<int64_t> sizes, std::vector<Guard>& guards) {
  SmallVector<Dim> wholes = pinned.whole_dims();
  if (llvm::all_of(wholes, [](const Dim& length) { return length.constant().has_value(); })) return success();
  SmallVector<uint32_t> rollable = rollable_dims(pinned);
  for (auto [whole, length] : llvm::enumerate(wholes)) {
    if (length.constant() || llvm::is_contained(rollable, whole)) continue;
    if (failed(Bucketing(pinned, whole, length).run())) return failure();
    int64_t size = Guard::evaluate(Guard::Kind::PowerOfTwo, length.evaluate(sizes), 0);
    guards.push_back({Guard::Kind::PowerOfTwo, length, Dim(), size});
    length = Dim(size);
  }
  pinned.set_whole_dims(wholes);
  return success(succeeded(Validity::of(pinned)));
}

} // namespace tilewright
