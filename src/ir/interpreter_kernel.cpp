// The interpreter on tile IR: interpret_kernel.
#include "ir/interpreter.h"

#include "ir/context.h"
#include "ir/interpreter_combine.h"
#include "ir/interpreter_memory.h"
#include "ir/interpreter_shape.h"
#include "ir/validity.h"
#include "support/error.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {

namespace {

/// How many lanes of each dimension of a value exist: the first ones. None: every lane holds something, and takes on
/// what it is combined with (LaneValidity::Any). This is what LANGUAGE's edges mean, followed value by value while the
/// kernel runs, where Validity derives it from the kernel's text.
using ExistingLanes = SmallVector<std::optional<int64_t>, 2>;

class KernelInterpreter {
public:
  KernelInterpreter(KernelOp kernel, ArrayRef<int64_t> block_sizes) : kernel_(kernel), block_sizes_(block_sizes) {
    for (auto [id, size] : llvm::enumerate(block_sizes))
      if (size < 1) fail("block size b{} is {}; it must be positive", id, size);
    check_diagnostics(kernel->getContext(), [&] { return success(succeeded(Validity::of(kernel))); });
  }

  std::vector<Array> run(ArrayRef<InterpreterArgument> arguments, ArrayRef<Array> allocations);

private:
  struct Carried {
    BlockValue value;
    ExistingLanes existing;
  };

  // The host part.
  void check(CheckOp op);
  void allocate(ArrayRef<Array> allocations);

  // The device part.
  void evaluate(Operation* op);
  void run_loop(ForOp loop);
  void walk_dimension(ForOp loop, unsigned dim, SmallVectorImpl<Carried>& carried);
  void evaluate_load(LoadOp op);
  void evaluate_store(StoreOp op);
  void evaluate_full(FullOp op);
  void evaluate_index(IndexOp op);
  void evaluate_reduce(ReduceOp op);
  void evaluate_dot(DotOp op);
  void evaluate_lane_count(LaneCountOp op);
  ExistingLanes existing_lanes_of_lanewise(Operation* op);

  int64_t number_of(Operation* op, const Dim& dim);
  SmallVector<int64_t> shape_of(Operation* op, Type type);
  SmallVector<SubscriptRange> ranges_of(Operation* op, ArrayRef<SubscriptUse> uses, ArrayType array, ArrayRef<Dim> dims,
                                        ArrayRef<int64_t> shape, SmallVectorImpl<int64_t>& bounds);
  int64_t count_along(Operation* op, Value value, unsigned dim);
  ExistingLanes existing(Value value) { return existing_.lookup(value); }
  void set(Operation* op, BlockValue value, ExistingLanes existing);

  KernelOp kernel_;
  ArrayRef<int64_t> block_sizes_;
  Environment values_;
  llvm::DenseMap<Value, ExistingLanes> existing_; // of tensors
};

} // namespace

// What two values combined lane by lane have.
static std::optional<int64_t> joint_count(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

int64_t KernelInterpreter::number_of(Operation* op, const Dim& dim) {
  SmallVector<Dim> whole = kernel_.whole_dims();
  Dim number = dim.substitute([&](Symbol symbol) -> std::optional<Dim> {
    if (symbol.kind == Symbol::Kind::Block && symbol.index < block_sizes_.size())
      return Dim(block_sizes_[symbol.index]);
    if (symbol.kind == Symbol::Kind::Whole && symbol.index < whole.size()) return whole[symbol.index];
    return std::nullopt;
  });
  if (std::optional<int64_t> constant = number.constant()) return *constant;
  Symbol unknown = number.monomials().front().symbols.front();
  if (unknown.kind == Symbol::Kind::Block)
    fail(source_location(op->getLoc()), "{} needs the size of block {}; {} block sizes were given", op_name(op),
         Dim(unknown).str(), block_sizes_.size());
  fail(source_location(op->getLoc()), "{} needs {}, which is not pinned", op_name(op), Dim(unknown).str());
}

SmallVector<int64_t> KernelInterpreter::shape_of(Operation* op, Type type) {
  return llvm::map_to_vector(dims_of(type), [&](const Dim& dim) { return number_of(op, dim); });
}

// How many lanes of a value exist along a dimension. Where its own lanes do not say, as those of a splat, it is as long
// as the tile of the loop around it that has the same extent. Where there is none, the answer would depend on the block
// size, so there is no answer.
int64_t KernelInterpreter::count_along(Operation* op, Value value, unsigned dim) {
  if (std::optional<int64_t> count = existing(value)[dim]) return *count;
  Dim extent = dims_of(value)[dim];
  SmallVector<Value> tiles;
  for (auto loop = op->getParentOfType<ForOp>(); loop; loop = loop->getParentOfType<ForOp>())
    for (Value variable : loop.variables())
      if (auto tile = dyn_cast<TileType>(variable.getType()); tile && tile.getExtent().dim() == extent)
        tiles.push_back(variable);
  if (tiles.size() == 1) return values_.tile(tiles[0]).lanes();
  auto is_block = [](Symbol symbol) { return symbol.kind == Symbol::Kind::Block; };
  for (const Monomial& monomial : extent.monomials())
    if (llvm::any_of(monomial.symbols, is_block))
      fail(source_location(op->getLoc()), "{} needs the number of lanes along {}, but no tile limits its operand there",
           op_name(op), extent.str());
  return number_of(op, extent);
}

void KernelInterpreter::set(Operation* op, BlockValue value, ExistingLanes existing) {
  SmallVector<int64_t> counts;
  for (auto [size, count] : llvm::zip_equal(value.shape, existing)) counts.push_back(count.value_or(size));
  clip(value, counts);
  values_.set_result(op, std::move(value));
  existing_[op->getResult(0)] = std::move(existing);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

// Also gives the number of lanes that exist along each dimension of the block.
SmallVector<SubscriptRange> KernelInterpreter::ranges_of(Operation* op, ArrayRef<SubscriptUse> uses, ArrayType array,
                                                         ArrayRef<Dim> dims, ArrayRef<int64_t> shape,
                                                         SmallVectorImpl<int64_t>& bounds) {
  SmallVector<SubscriptRange> ranges;
  for (auto [use, size] : llvm::zip_equal(uses, array.sizes())) {
    switch (use.kind) {
    case Subscript::Whole:
      ranges.push_back(whole_range(op, size, shape[use.block_dim], use.block_dim));
      bounds.push_back(size);
      break;
    case Subscript::Scalar: ranges.push_back({values_.integer(op, use.operand)}); break;
    case Subscript::Tile: {
      const TileRange& tile = values_.tile(use.operand);
      bool broadcasts = size == 1 && dims[use.block_dim].is_one();
      ranges.push_back({broadcasts ? 0 : tile.begin, use.block_dim});
      bounds.push_back(broadcasts ? 1 : tile.lanes());
      break;
    }
    case Subscript::Block: fail(source_location(op->getLoc()), "{} has a subscript of program IR", op_name(op));
    }
  }
  return ranges;
}

void KernelInterpreter::evaluate_load(LoadOp op) {
  const ArrayMemory& memory = values_.array(op.getArray());
  SmallVector<int64_t> bounds, shape = shape_of(op, op.getType());
  SmallVector<SubscriptRange> ranges =
      ranges_of(op, subscripts_of(op), memory.type, dims_of(op.getType()), shape, bounds);
  set(op, load(op, memory, ranges, shape, bounds), ExistingLanes(bounds.begin(), bounds.end()));
}

// Lanes are written that exist both in the value and in the block it goes to.
void KernelInterpreter::evaluate_store(StoreOp op) {
  const ArrayMemory& memory = values_.array(op.getArray());
  const BlockValue& value = values_.block(op.getValue());
  SmallVector<int64_t> bounds;
  SmallVector<SubscriptRange> ranges =
      ranges_of(op, subscripts_of(op), memory.type, dims_of(op.getValue()), value.shape, bounds);
  for (auto [bound, count] : llvm::zip_equal(bounds, existing(op.getValue()))) bound = *joint_count(bound, count);
  store(op, value, memory, ranges, bounds);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void KernelInterpreter::evaluate_full(FullOp op) {
  BlockValue value(element_type(op.getType()), shape_of(op, op.getType()));
  std::fill(value.lanes.begin(), value.lanes.end(), values_.block(op.getScalar()).lanes[0]);
  ExistingLanes existing(value.shape.begin(), value.shape.end());
  for (auto [dim, tile] : llvm::zip_equal(op.getTileDims(), op.getTiles())) existing[dim] = values_.tile(tile).lanes();
  set(op, std::move(value), std::move(existing));
}

void KernelInterpreter::evaluate_index(IndexOp op) {
  const TileRange& tile = values_.tile(op.getTile());
  set(op, iota(element_type(op.getType()), tile.begin, tile.extent), {tile.lanes()});
}

void KernelInterpreter::evaluate_reduce(ReduceOp op) {
  const BlockValue& source = values_.block(op.getSource());
  SmallVector<int64_t> bounds(source.shape);
  ExistingLanes kept;
  for (auto [dim, count] : llvm::enumerate(existing(op.getSource()))) {
    if (llvm::is_contained(op.getDims(), static_cast<int64_t>(dim))) {
      bounds[dim] = count_along(op, op.getSource(), dim);
    } else {
      bounds[dim] = count.value_or(source.shape[dim]);
      kept.push_back(count);
    }
  }
  set(op, reduce(op, source, bounds), std::move(kept));
}

void KernelInterpreter::evaluate_dot(DotOp op) {
  ExistingLanes a = existing(op.getA()), b = existing(op.getB()), result = existing(op.getAcc());
  unsigned rank = result.size(), a_k = rank - 1, b_k = rank - 2;
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (dim != a_k) result[dim] = joint_count(result[dim], a[dim]);
    if (dim != b_k) result[dim] = joint_count(result[dim], b[dim]);
  }
  int64_t bound = b[b_k] && !a[a_k] ? *b[b_k] : count_along(op, op.getA(), a_k);
  if (b[b_k]) bound = std::min(bound, *b[b_k]);
  set(op, dot(op, values_.block(op.getA()), values_.block(op.getB()), values_.block(op.getAcc()), bound),
      std::move(result));
}

void KernelInterpreter::evaluate_lane_count(LaneCountOp op) {
  int64_t count = 1;
  for (int64_t dim : op.getDims()) count *= count_along(op, op.getSource(), dim);
  values_.set_index(op, count);
}

ExistingLanes KernelInterpreter::existing_lanes_of_lanewise(Operation* op) {
  SmallVector<Dim> dims = dims_of(op->getResult(0));
  ExistingLanes result(dims.size());
  if (isa<SplatOp>(op)) return result;
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    result = existing(expand.getSource());
    result.insert(result.begin() + expand.getDim(), std::nullopt);
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [count, dim] : llvm::zip_equal(result, transpose.getPermutation()))
      count = existing(transpose.getSource())[dim];
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [count, source, from, to] :
         llvm::zip_equal(result, existing(broadcast.getSource()), dims_of(broadcast.getSource()), dims))
      if (from == to) count = source;
  } else { // pointwise; a constant has no operands
    for (Value operand : op->getOperands())
      for (auto [dim, count] : llvm::enumerate(existing(operand))) result[dim] = joint_count(result[dim], count);
  }
  return result;
}

void KernelInterpreter::evaluate(Operation* op) {
  auto tile = [&](Value value) -> const TileRange& { return values_.tile(value); };
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](ForOp op) { run_loop(op); })
      .Case([&](LoadOp op) { evaluate_load(op); })
      .Case([&](StoreOp op) { evaluate_store(op); })
      .Case([&](FullOp op) { evaluate_full(op); })
      .Case([&](IndexOp op) { evaluate_index(op); })
      .Case([&](ReduceOp op) { evaluate_reduce(op); })
      .Case([&](DotOp op) { evaluate_dot(op); })
      .Case([&](LaneCountOp op) { evaluate_lane_count(op); })
      .Case([&](ExtentOp op) { values_.set_index(op, number_of(op, op.getDim().dim())); })
      .Case([&](BeginOp op) { values_.set_index(op, tile(op.getTile()).begin); })
      .Case([&](EndOp op) { values_.set_index(op, tile(op.getTile()).end); })
      .Case([&](IdOp op) { values_.set_index(op, tile(op.getTile()).begin / tile(op.getTile()).extent); })
      .Case([&](CountOp op) { values_.set_index(op, tile(op.getTile()).count); })
      .Default([&](Operation* op) {
        ExistingLanes existing;
        if (op->getNumResults() == 1) existing = existing_lanes_of_lanewise(op);
        SmallVector<int64_t> shape;
        if (op->getNumResults() == 1) shape = shape_of(op, op->getResult(0).getType());
        set(op, evaluate_lanewise(op, values_, shape), std::move(existing));
      });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void KernelInterpreter::run_loop(ForOp loop) {
  SmallVector<Carried> carried;
  for (Value init : loop.getInits()) carried.push_back({values_.block(init), existing(init)});
  walk_dimension(loop, 0, carried);
  for (auto [result, last] : llvm::zip_equal(loop.getResults(), carried)) {
    values_.set(result, std::move(last.value));
    existing_[result] = std::move(last.existing);
  }
}

void KernelInterpreter::walk_dimension(ForOp loop, unsigned dim, SmallVectorImpl<Carried>& carried) {
  if (dim < loop.rank()) {
    int64_t lower = values_.integer(loop, loop.getLower()[dim]), upper = values_.integer(loop, loop.getUpper()[dim]);
    int64_t block = number_of(loop, loop.getBlocks().getDims()[dim].dim());
    if (block < 1) fail(source_location(loop.getLoc()), "tile.for has a block of {}", block);
    int64_t count = (upper - lower + block - 1) / block;
    for (int64_t begin = lower; begin < upper; begin += block) {
      Value variable = loop.variables()[dim];
      if (variable.getType().isIndex())
        values_.set(variable, BlockValue::scalar(variable.getType(), {.integer = begin}));
      else
        values_.set(variable, TileRange{begin, std::min(begin + block, upper), block, count});
      walk_dimension(loop, dim + 1, carried);
    }
    return;
  }
  for (auto [argument, value] : llvm::zip_equal(loop.carried(), carried)) {
    values_.set(argument, std::move(value.value));
    existing_[argument] = std::move(value.existing);
  }
  for (Operation& op : loop.block().without_terminator()) evaluate(&op);
  carried.clear();
  for (Value value : loop.yield().getValues()) carried.push_back({values_.block(value), existing(value)});
}

//===----------------------------------------------------------------------===//
// The host part
//===----------------------------------------------------------------------===//

void KernelInterpreter::check(CheckOp op) {
  if (values_.integer(op, op.getCondition())) return;
  std::string message = op.getMessage().str();
  size_t from = 0;
  for (Value value : op.getValues()) {
    size_t at = message.find("{}", from);
    if (at == std::string::npos) break;
    std::string number = std::to_string(values_.integer(op, value));
    message.replace(at, 2, number);
    from = at + number.size();
  }
  fail(source_location(op.getLoc()), "{}", message);
}

void KernelInterpreter::allocate(ArrayRef<Array> allocations) {
  size_t count = 0;
  for (EmptyOp empty : kernel_.block().getOps<EmptyOp>()) {
    bool given = count < allocations.size();
    auto type = cast<ArrayType>(empty.getType());
    Array array = given ? allocations[count] : make_allocation(empty, type);
    if (!given && !allocations.empty()) fail("the kernel makes more than {} allocations", allocations.size());
    values_.set(empty.getArray(), bind_array(empty, array, type, fmt::format("allocation {}", count)));
    ++count;
  }
  if (count < allocations.size()) fail("the kernel makes {} allocations, found {}", count, allocations.size());
}

std::vector<Array> KernelInterpreter::run(ArrayRef<InterpreterArgument> arguments, ArrayRef<Array> allocations) {
  bind_arguments(kernel_, arguments, values_);
  // A check fails the call before anything is allocated or written, wherever it stands.
  for (Operation& op : kernel_.block()) {
    if (isa<EmptyOp, ForOp, ReturnOp>(op)) continue;
    if (auto check_op = dyn_cast<CheckOp>(op))
      check(check_op);
    else
      evaluate(&op);
  }
  allocate(allocations);
  for (ForOp loop : kernel_.block().getOps<ForOp>()) run_loop(loop);
  std::vector<Array> returned;
  for (Value array : cast<ReturnOp>(kernel_.block().getTerminator()).getArrays())
    returned.push_back(values_.array(array).array);
  return returned;
}

std::vector<Array> interpret_kernel(KernelOp kernel, ArrayRef<int64_t> block_sizes,
                                    ArrayRef<InterpreterArgument> arguments, ArrayRef<Array> allocations) {
  return KernelInterpreter(kernel, block_sizes).run(arguments, allocations);
}

} // namespace tilewright
