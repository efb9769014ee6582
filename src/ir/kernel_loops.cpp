#include "ir/kernel_loops.h"

#include "ir/host_choices.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {

SmallVector<ForOp> parallel_loops(KernelOp kernel) { return llvm::to_vector(kernel.block().getOps<ForOp>()); }
ForOp parallel_loop(KernelOp kernel) { return *kernel.block().getOps<ForOp>().begin(); }
bool has_barrier(KernelOp kernel) { return !kernel.block().getOps<BarrierOp>().empty(); }

SmallVector<ForOp> sequential_loops(KernelOp kernel) {
  SmallVector<ForOp> loops;
  for (ForOp outermost : parallel_loops(kernel))
    outermost.getBody().walk<WalkOrder::PreOrder>([&](ForOp loop) { loops.push_back(loop); });
  return loops;
}

SmallVector<ForOp> permutable_loops(KernelOp kernel) {
  SmallVector<ForOp> loops;
  for (ForOp outermost : parallel_loops(kernel))
    if (outermost.rank() > 1) loops.push_back(outermost);
  for (ForOp loop : sequential_loops(kernel))
    if (loop.rank() > 1 && order_is_free(loop)) loops.push_back(loop);
  return loops;
}

//===----------------------------------------------------------------------===//
// Whether the order of a loop can be seen
//===----------------------------------------------------------------------===//

// The combiner by which an op adds to a value it is given, if it is one whose order is free: a product of matrices adds
// to its accumulator.
static std::optional<Reduction> combiner_of(Operation* op, Value accumulator) {
  if (auto dot = dyn_cast<DotOp>(op)) return dot.getAcc() == accumulator ? std::optional(Reduction::Add) : std::nullopt;
  if (isa<arith::AddFOp, arith::AddIOp>(op)) return Reduction::Add;
  if (isa<arith::MulFOp, arith::MulIOp>(op)) return Reduction::Mul;
  if (isa<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(op)) return Reduction::Max;
  if (isa<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(op)) return Reduction::Min;
  if (isa<arith::AndIOp>(op)) return Reduction::And;
  if (isa<arith::OrIOp>(op)) return Reduction::Or;
  return std::nullopt;
}

// Whether all that happens to a carried value is that one combiner adds to it, on the way to the yield.
static bool is_accumulated(ForOp loop, unsigned index) {
  Value value = loop.carried()[index];
  std::optional<Reduction> kind;
  while (value != loop.yield().getValues()[index]) {
    if (!value.hasOneUse()) return false;
    Operation* user = *value.user_begin();
    std::optional<Reduction> combiner = combiner_of(user, value);
    if (!combiner || (kind && *kind != *combiner) || user->getBlock() != &loop.block()) return false;
    kind = combiner;
    value = user->getResult(0);
  }
  return value.hasOneUse();
}

// Whether distinct iterations store distinct elements: each variable of the loop is a subscript.
static bool stores_apart(ForOp loop, StoreOp store) {
  return llvm::all_of(loop.variables(),
                      [&](Value variable) { return llvm::is_contained(store.getIndices(), variable); });
}

bool order_is_free(ForOp loop) {
  for (unsigned i = 0; i < loop.getInits().size(); ++i)
    if (!is_accumulated(loop, i)) return false;
  SmallVector<Value> loaded, stored;
  bool apart = true;
  loop.getBody().walk([&](Operation* op) {
    apart &= !isa<AtomicOp, AtomicCasOp, PrintOp>(op);
    if (auto load = dyn_cast<LoadOp>(op)) loaded.push_back(load.getArray());
    auto store = dyn_cast<StoreOp>(op);
    if (!store) return;
    apart &= stores_apart(loop, store) && !llvm::is_contained(stored, store.getArray());
    stored.push_back(store.getArray());
  });
  return apart && llvm::none_of(stored, [&](Value array) { return llvm::is_contained(loaded, array); });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

unsigned block_id_count(KernelOp kernel) {
  unsigned count = 0;
  auto see = [&](const Dim& dim) {
    for (const Monomial& monomial : dim.monomials())
      for (Symbol symbol : monomial.symbols)
        if (symbol.kind == Symbol::Kind::Block) count = std::max(count, symbol.index + 1);
  };
  for (const RegisteredBlock& block : host_choices(kernel).blocks) count = std::max(count, block.block + 1);
  kernel.walk([&](Operation* op) {
    if (auto loop = dyn_cast<ForOp>(op))
      for (DimAttr block : loop.getBlocks().getDims()) see(block.dim());
    if (auto extent = dyn_cast<ExtentOp>(op)) see(extent.getDim().dim());
    for (Value result : op->getResults())
      for (const Dim& dim : dims_of(result)) see(dim);
  });
  return count;
}

std::optional<int64_t> LoopDim::length() const {
  ForOp op = loop;
  std::optional<int64_t> lower = getConstantIntValue(op.getLower()[dim]);
  std::optional<int64_t> upper = getConstantIntValue(op.getUpper()[dim]);
  if (!lower || !upper) return std::nullopt;
  return std::max<int64_t>(*upper - *lower, 0);
}

static std::optional<Dim> host_number(Value value) {
  if (std::optional<int64_t> number = getConstantIntValue(value)) return Dim(*number);
  if (auto extent = value.getDefiningOp<ExtentOp>()) return extent.getDim().dim();
  return std::nullopt;
}

std::optional<Dim> LoopDim::host_length() const {
  ForOp op = loop;
  std::optional<Dim> lower = host_number(op.getLower()[dim]), upper = host_number(op.getUpper()[dim]);
  if (!lower || !upper) return std::nullopt;
  return *upper - *lower;
}

static bool is_read(Value bound) {
  if (auto cast = bound.getDefiningOp<arith::IndexCastOp>()) bound = cast.getIn();
  return bound.getDefiningOp<LoadOp>() != nullptr;
}

bool LoopDim::is_data() const {
  ForOp op = loop;
  return is_read(op.getLower()[dim]) || is_read(op.getUpper()[dim]);
}

bool has_data_bounds(ForOp parallel) {
  for (unsigned dim = 0; dim < parallel.rank(); ++dim)
    if (LoopDim{parallel, dim}.is_data()) return true;
  return false;
}

Value LoopDim::outer_tile() const {
  ForOp op = loop;
  auto begin = op.getLower()[dim].getDefiningOp<BeginOp>();
  auto end = op.getUpper()[dim].getDefiningOp<EndOp>();
  return begin && end && begin.getTile() == end.getTile() ? begin.getTile() : Value();
}

SmallVector<LoopDim> loop_dims_of_block(KernelOp kernel, uint32_t block) {
  SmallVector<LoopDim> dims;
  kernel.walk<WalkOrder::PreOrder>([&](ForOp loop) {
    for (auto [dim, size] : llvm::enumerate(loop.getBlocks().getDims()))
      if (size.dim().symbol() == Symbol::block(block)) dims.push_back({loop, static_cast<unsigned>(dim)});
  });
  return dims;
}

LoopDim loop_dim_of(Value tile) {
  auto argument = cast<BlockArgument>(tile);
  return {cast<ForOp>(argument.getOwner()->getParentOp()), argument.getArgNumber()};
}

Value enclosing_tile(Operation* op, const Dim& extent) {
  SmallVector<Value, 2> found;
  bool had_slice = false; // all of one extent have as many lanes
  auto see = [&](Value value) {
    auto tile = dyn_cast<TileType>(value.getType());
    if (tile && tile.getExtent().dim() == extent) found.push_back(value);
  };
  Operation* inner = op;
  for (auto loop = op->getParentOfType<ForOp>(); loop; inner = loop, loop = loop->getParentOfType<ForOp>()) {
    for (Value variable : loop.variables()) see(variable);
    for (SliceOp slice : loop.block().getOps<SliceOp>()) {
      if (had_slice || !slice.getEnd()) continue;
      if (!slice->isBeforeInBlock(loop.block().findAncestorOpInBlock(*inner))) break;
      size_t before = found.size();
      see(slice.getResult());
      had_slice = found.size() > before;
    }
  }
  return found.size() == 1 ? found.front() : Value();
}

} // namespace tilewright
