// The interpreter on tile IR: interpret_kernel.
#include "ir/interpreter.h"

#include "ir/context.h"
#include "ir/interpreter_combine.h"
#include "ir/interpreter_memory.h"
#include "ir/interpreter_scan.h"
#include "ir/interpreter_shape.h"
#include "ir/reshape.h"
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
    check_diagnostics(kernel->getContext(), [&]() -> LogicalResult {
      FailureOr<Validity> validity = Validity::of(kernel);
      if (succeeded(validity)) validity_ = std::move(*validity);
      return success(succeeded(validity));
    });
  }

  std::vector<Array> run(ArrayRef<InterpreterArgument> arguments, ArrayRef<Array> allocations, ErrorBounds* bounds,
                         UnroundedElements* unrounded);

private:
  struct Carried {
    BlockValue value;
    ExistingLanes existing;
  };

  // The host part.
  void check(CheckOp op);
  void allocate(ArrayRef<Array> allocations);
  void keep_bounds(ErrorBounds& bounds);
  void keep_unrounded(UnroundedElements& unrounded);

  // The device part.
  void evaluate(Operation* op);
  void run_loop(ForOp loop);
  void walk_dimension(ForOp loop, unsigned dim, SmallVectorImpl<Carried>& carried);
  void run_if(scf::IfOp branch);
  void run_while(scf::WhileOp loop);
  void run_block(Block& block);
  void evaluate_access(AccessOp access);
  ResolvedAccess resolve(AccessOp access, ArrayRef<int64_t> shape, ArrayRef<Value> written);
  void evaluate_slice(SliceOp op);
  void evaluate_full(FullOp op);
  void evaluate_index(IndexOp op);
  void evaluate_reduce(ReduceOp op);
  void evaluate_dot(DotOp op);
  void evaluate_combine(CombineOp op);
  void evaluate_scan(ScanOp op);
  void evaluate_lane_count(LaneCountOp op);
  ExistingLanes existing_lanes_of_reshape(ReshapeOp op);
  void evaluate_pointwise(Operation* op);
  Carried completed(OpOperand& operand);
  ExistingLanes existing_lanes_of_lanewise(Operation* op);

  int64_t number_of(Operation* op, const Dim& dim);
  SmallVector<int64_t> shape_of(Operation* op, Type type);
  int64_t count_along(Operation* op, Value value, unsigned dim);
  ExistingLanes existing(Value value) { return existing_.lookup(value); }
  ExistingLanes existing_in_all(ValueRange values);
  Carried carried_of(Value value) { return {values_.block(value), existing(value)}; }
  void bind(ValueRange variables, SmallVectorImpl<Carried>& values);
  void set(Operation* op, BlockValue value, ExistingLanes existing);

  KernelOp kernel_;
  ArrayRef<int64_t> block_sizes_;
  Validity validity_;
  int64_t program_ = 0; // how many tiles of an outermost loop have begun before this one
  Environment values_;
  llvm::DenseMap<Value, ExistingLanes> existing_; // of tensors
  llvm::DenseMap<DimAttr, Value> buckets_;        // of each extent a slice that ends early
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
  auto size_of = [&](const Dim& dim) { return dim.is_over_sizes() ? Dim(dim.evaluate(values_.sizes)) : dim; };
  Dim number = dim.substitute([&](Symbol symbol) -> std::optional<Dim> {
    if (symbol.kind == Symbol::Kind::Block && symbol.index < block_sizes_.size())
      return Dim(block_sizes_[symbol.index]);
    if (symbol.kind == Symbol::Kind::Whole && symbol.index < whole.size()) return size_of(whole[symbol.index]);
    if (symbol.kind == Symbol::Kind::Size && symbol.index < values_.sizes.size())
      return Dim(values_.sizes[symbol.index]);
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
  // A dimension of unknown length in a bucket: its slices all end where it ends.
  if (auto bucket = buckets_.find(DimAttr::get(op->getContext(), extent)); bucket != buckets_.end())
    tiles.push_back(bucket->second);
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

// `written`: the values that go to memory, whose own missing lanes are not accessed.
ResolvedAccess KernelInterpreter::resolve(AccessOp access, ArrayRef<int64_t> shape, ArrayRef<Value> written) {
  Operation* op = access.operation();
  const ArrayMemory& memory = values_.array(access.array());
  SmallVector<Dim> dims = dims_of(access.block());
  ResolvedAccess resolved{memory, {}, SmallVector<int64_t>(shape)};
  auto limit = [&](int dim, int64_t count) { resolved.bounds[dim] = std::min(resolved.bounds[dim], count); };
  for (auto [use, size] : llvm::zip_equal(access.subscripts(), memory.sizes)) {
    switch (use.kind) {
    case Subscript::Whole:
      resolved.subscripts.push_back(whole_range(op, size, shape[use.block_dim], use.block_dim));
      break;
    case Subscript::Scalar: resolved.subscripts.push_back({values_.integer(op, use.operand)}); break;
    case Subscript::Tile: {
      const TileRange& tile = values_.tile(use.operand);
      bool broadcasts = size == 1 && dims[use.block_dim].is_one();
      resolved.subscripts.push_back({broadcasts ? 0 : tile.begin, use.block_dim});
      limit(use.block_dim, broadcasts ? 1 : tile.lanes());
      break;
    }
    case Subscript::Gather:
    case Subscript::GatherWith:
      resolved.subscripts.push_back({0, use.block_dim, &values_.block(use.operand)});
      for (int dim = 0; dim < use.block_rank; ++dim) limit(use.block_dim + dim, count_along(op, use.operand, dim));
      break;
    case Subscript::Block: fail(source_location(op->getLoc()), "{} has a subscript of program IR", op_name(op));
    }
  }
  auto limit_by = [&](Value value) {
    for (auto [dim, count] : llvm::enumerate(existing(value)))
      if (count) limit(dim, *count);
  };
  for (Value value : written) limit_by(value);
  if (Value mask = access.mask()) {
    limit_by(mask);
    resolved.mask = &values_.block(mask);
  }
  return resolved;
}

void KernelInterpreter::evaluate_access(AccessOp access) {
  SmallVector<int64_t> shape = shape_of(access.operation(), access.block());
  auto block = [&](Value value) -> const BlockValue& { return values_.block(value); };
  auto finish = [&](Operation* op, const ResolvedAccess& resolved, BlockValue result) {
    set(op, std::move(result), ExistingLanes(resolved.bounds.begin(), resolved.bounds.end()));
  };
  llvm::TypeSwitch<Operation*>(access.operation())
      .Case([&](LoadOp op) {
        ResolvedAccess resolved = resolve(access, shape, {});
        finish(op, resolved, load(op, resolved, shape));
      })
      .Case([&](StoreOp op) { store(op, resolve(access, shape, op.getValue()), block(op.getValue())); })
      .Case([&](AtomicOp op) {
        ResolvedAccess resolved = resolve(access, shape, op.getValue());
        finish(op, resolved, atomic(op, resolved, block(op.getValue())));
      })
      .Case([&](AtomicCasOp op) {
        ResolvedAccess resolved = resolve(access, shape, {op.getExpected(), op.getValue()});
        finish(op, resolved, atomic_cas(op, resolved, block(op.getExpected()), block(op.getValue())));
      });
}

// All lanes exist, or those before the end.
void KernelInterpreter::evaluate_slice(SliceOp op) {
  int64_t begin = values_.integer(op, op.getBegin());
  int64_t extent = number_of(op, cast<TileType>(op.getResult().getType()).getExtent().dim());
  int64_t end = begin + extent;
  if (op.getEnd()) end = std::max(begin, std::min(end, values_.integer(op, op.getEnd())));
  values_.set(op.getResult(), TileRange{begin, end, extent, 1});
  if (op.getEnd()) buckets_[cast<TileType>(op.getResult().getType()).getExtent()] = op.getResult();
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
  std::optional<int64_t> lanes = tile.lanes();
  // The numbers of a range of fixed length are there whatever they are combined with (Validity).
  if (auto slice = op.getTile().getDefiningOp<SliceOp>(); slice && !slice.getEnd()) lanes = std::nullopt;
  set(op, iota(element_type(op.getType()), tile.begin, tile.extent), {lanes});
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
  set(op, reduce(op, source, bounds, values_.with_bounds), std::move(kept));
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
  set(op,
      dot(op, values_.block(op.getA()), values_.block(op.getB()), values_.block(op.getAcc()), bound,
          values_.with_bounds),
      std::move(result));
}

ExistingLanes KernelInterpreter::existing_in_all(ValueRange values) {
  ExistingLanes lanes = existing(values.front());
  for (Value value : values.drop_front())
    for (auto [joint, count] : llvm::zip_equal(lanes, existing(value))) joint = joint_count(joint, count);
  return lanes;
}

void KernelInterpreter::evaluate_combine(CombineOp op) {
  ExistingLanes lanes = existing_in_all(op.getSources());
  int64_t dim = op.getDim(), count = lanes[dim] ? *lanes[dim] : count_along(op, op.getSources()[0], dim);
  lanes.erase(lanes.begin() + dim);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), combine(op, values_, count))) {
    values_.set(result, value);
    existing_[result] = lanes;
  }
}

void KernelInterpreter::evaluate_scan(ScanOp op) {
  ExistingLanes lanes = existing_in_all(op.getSources());
  int64_t dim = op.getDim(), count = lanes[dim] ? *lanes[dim] : count_along(op, op.getSources()[0], dim);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), scan(op, values_, count))) {
    values_.set(result, value);
    existing_[result] = lanes;
  }
}

// Dimensions that merge or split exist whole, which Validity sees to.
ExistingLanes KernelInterpreter::existing_lanes_of_reshape(ReshapeOp op) {
  SmallVector<Dim> from = dims_of(op.getSource()), to = dims_of(op.getResult());
  ExistingLanes source = existing(op.getSource()), result(to.size());
  for (const ReshapeGroup& group : reshape_groups(from, to)) {
    if (auto kept = kept_dim(group, from, to)) {
      result[kept->second] = source[kept->first];
      continue;
    }
    bool known = false;
    for (unsigned dim = group.from; dim < group.from_end; ++dim) known |= source[dim].has_value();
    for (unsigned dim = group.to; known && dim < group.to_end; ++dim) result[dim] = number_of(op, to[dim]);
  }
  return result;
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
  if (auto reshape = dyn_cast<ReshapeOp>(op)) return existing_lanes_of_reshape(reshape);
  if (auto take = dyn_cast<TakeOp>(op)) {
    result = existing(take.getIndices());
    for (auto [dim, count] : llvm::enumerate(existing(take.getSource())))
      if (static_cast<int64_t>(dim) != static_cast<int64_t>(take.getDim()))
        result[dim] = joint_count(result[dim], count);
    return result;
  }
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

// An operand whose missing lanes meet lanes of a whole value: there it is what changes nothing.
KernelInterpreter::Carried KernelInterpreter::completed(OpOperand& operand) {
  Carried value = carried_of(operand.get());
  Operation* op = operand.getOwner();
  ArrayRef<SmallVector<Value, 1>> dims = validity_.completed_by(operand);
  // The condition of where() is false there.
  TypedAttr neutral = isa<arith::SelectOp>(op) ? TypedAttr(IntegerAttr::get(value.value.element, 0))
                                               : neutral_operand(op, operand.getOperandNumber());
  Lane filling;
  if (auto real = dyn_cast<FloatAttr>(neutral))
    filling = real_lane(real.getValueAsDouble(), value.value.element);
  else
    filling = integer_lane(cast<IntegerAttr>(neutral).getValue().getSExtValue(), value.value.element);
  SmallVector<int64_t> counts(value.value.shape);
  for (auto [dim, tiles] : llvm::enumerate(dims)) {
    for (Value tile : tiles) counts[dim] = std::min(counts[dim], values_.tile(tile).lanes());
    if (!tiles.empty()) value.existing[dim] = value.value.shape[dim];
  }
  for_each_index(value.value.shape, [&](ArrayRef<int64_t> index) {
    bool beyond = llvm::any_of(llvm::zip_equal(index, counts), [](auto pair) {
      auto [i, count] = pair;
      return i >= count;
    });
    bool whole = llvm::all_of(llvm::enumerate(index), [&](auto entry) {
      std::optional<int64_t> count = value.existing[entry.index()];
      return !count || entry.value() < *count;
    });
    if (beyond && whole) value.value.at(index) = filling;
  });
  return value;
}

void KernelInterpreter::evaluate_pointwise(Operation* op) {
  // Completed operands stand in for their values while the op is evaluated.
  SmallVector<std::pair<Value, Carried>> held;
  for (OpOperand& operand : op->getOpOperands()) {
    if (validity_.completed_by(operand).empty()) continue;
    Carried value = completed(operand);
    held.emplace_back(operand.get(), carried_of(operand.get()));
    values_.set(operand.get(), std::move(value.value));
    existing_[operand.get()] = std::move(value.existing);
  }
  ExistingLanes existing;
  SmallVector<int64_t> shape;
  if (op->getNumResults() == 1) {
    existing = existing_lanes_of_lanewise(op);
    // Where a completed condition is false, the else value alone says what is there.
    if (auto select = dyn_cast<arith::SelectOp>(op))
      for (auto [dim, tiles] : llvm::enumerate(validity_.completed_by(op->getOpOperand(0))))
        if (!tiles.empty()) existing[dim] = this->existing(select.getFalseValue())[dim];
    shape = shape_of(op, op->getResult(0).getType());
  }
  BlockValue result = evaluate_lanewise(op, values_, shape);
  for (auto& [value, carried] : held) {
    values_.set(value, std::move(carried.value));
    existing_[value] = std::move(carried.existing);
  }
  set(op, std::move(result), std::move(existing));
}

void KernelInterpreter::evaluate(Operation* op) {
  auto tile = [&](Value value) -> const TileRange& { return values_.tile(value); };
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](ForOp op) { run_loop(op); })
      .Case([&](scf::IfOp op) { run_if(op); })
      .Case([&](scf::WhileOp op) { run_while(op); })
      .Case<LoadOp, StoreOp, AtomicOp, AtomicCasOp>([&](auto op) { evaluate_access(AccessOp(op)); })
      .Case([&](PrintOp op) {
        const BlockValue* value = op.getValue() ? &values_.block(op.getValue()) : nullptr;
        SmallVector<int64_t> bounds;
        for (unsigned dim = 0; value && dim < value->shape.size(); ++dim)
          bounds.push_back(count_along(op, op.getValue(), dim));
        print(op, value, bounds, program_);
      })
      .Case([&](CombineOp op) { evaluate_combine(op); })
      .Case([&](ScanOp op) { evaluate_scan(op); })
      .Case([&](SliceOp op) { evaluate_slice(op); })
      .Case([&](ShiftOp op) {
        TileRange range = tile(op.getTile());
        int64_t by = values_.integer(op, op.getBy());
        values_.set(op.getResult(), TileRange{range.begin + by, range.end + by, range.extent, range.count});
      })
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
      .Default([&](Operation* op) { evaluate_pointwise(op); });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void KernelInterpreter::bind(ValueRange variables, SmallVectorImpl<Carried>& values) {
  for (auto [variable, value] : llvm::zip_equal(variables, values)) {
    values_.set(variable, std::move(value.value));
    existing_[variable] = std::move(value.existing);
  }
  values.clear();
}

void KernelInterpreter::run_block(Block& block) {
  for (Operation& op : block.without_terminator()) evaluate(&op);
}

void KernelInterpreter::run_loop(ForOp loop) {
  SmallVector<Carried> carried;
  for (Value init : loop.getInits()) carried.push_back(carried_of(init));
  walk_dimension(loop, 0, carried);
  bind(loop.getResults(), carried);
}

void KernelInterpreter::run_if(scf::IfOp branch) {
  Block* block = values_.integer(branch, branch.getCondition()) ? branch.thenBlock() : branch.elseBlock();
  if (!block) return;
  run_block(*block);
  SmallVector<Carried> results;
  for (Value value : block->getTerminator()->getOperands()) results.push_back(carried_of(value));
  bind(branch.getResults(), results);
}

void KernelInterpreter::run_while(scf::WhileOp loop) {
  SmallVector<Carried> carried;
  for (Value init : loop.getInits()) carried.push_back(carried_of(init));
  for (;;) {
    bind(loop.getBeforeArguments(), carried);
    run_block(*loop.getBeforeBody());
    for (Value value : loop.getConditionOp().getArgs()) carried.push_back(carried_of(value));
    if (!values_.integer(loop, loop.getConditionOp().getCondition())) break;
    bind(loop.getAfterArguments(), carried);
    run_block(*loop.getAfterBody());
    for (Value value : loop.getYieldOp().getOperands()) carried.push_back(carried_of(value));
  }
  bind(loop.getResults(), carried);
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
  bind(loop.carried(), carried);
  run_block(loop.block());
  program_ += loop.getParallel();
  for (Value value : loop.yield().getValues()) carried.push_back(carried_of(value));
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
    Array array = given ? allocations[count] : make_allocation(empty, type, values_.sizes);
    if (auto real = dyn_cast_or_null<FloatAttr>(empty.getFillAttr())) array.fill(real.getValueAsDouble());
    if (auto integer = dyn_cast_or_null<IntegerAttr>(empty.getFillAttr()))
      array.fill(integer.getType().isInteger(1) ? integer.getValue().getZExtValue()
                                                : integer.getValue().getSExtValue());
    if (!given && !allocations.empty()) fail("the kernel makes more than {} allocations", allocations.size());
    values_.set(empty.getArray(), bind_array(empty, array, type, values_.sizes, fmt::format("allocation {}", count)));
    ++count;
  }
  if (count < allocations.size()) fail("the kernel makes {} allocations, found {}", count, allocations.size());
}

void KernelInterpreter::keep_bounds(ErrorBounds& bounds) {
  values_.with_bounds = true;
  auto keep = [&](ArrayRef<Value> values, std::vector<std::vector<double>>& all) {
    all.assign(values.size(), {});
    for (auto [value, errors] : llvm::zip_equal(values, all)) {
      if (!isa<ArrayType>(value.getType())) continue;
      ArrayMemory memory = values_.array(value);
      errors.resize(memory.array.numel());
      memory.errors = &errors;
      values_.set(value, std::move(memory));
    }
  };
  keep(llvm::to_vector_of<Value>(kernel_.getArguments()), bounds.arguments);
  keep(llvm::map_to_vector(kernel_.block().getOps<EmptyOp>(), [](EmptyOp op) -> Value { return op.getArray(); }),
       bounds.allocations);
}

void KernelInterpreter::keep_unrounded(UnroundedElements& unrounded) {
  auto keep = [&](ArrayRef<Value> values, std::vector<std::vector<double>>& all) {
    all.assign(values.size(), {});
    for (auto [value, elements] : llvm::zip_equal(values, all)) {
      auto type = dyn_cast<ArrayType>(value.getType());
      if (!type || !is_real(type.getElementType())) continue;
      ArrayMemory memory = values_.array(value);
      elements = memory.array.to_vector<double>();
      memory.unrounded = &elements;
      values_.set(value, std::move(memory));
    }
  };
  keep(llvm::to_vector_of<Value>(kernel_.getArguments()), unrounded.arguments);
  keep(llvm::map_to_vector(kernel_.block().getOps<EmptyOp>(), [](EmptyOp op) -> Value { return op.getArray(); }),
       unrounded.allocations);
}

std::vector<Array> KernelInterpreter::run(ArrayRef<InterpreterArgument> arguments, ArrayRef<Array> allocations,
                                          ErrorBounds* bounds, UnroundedElements* unrounded) {
  bind_arguments(kernel_, arguments, values_);
  // A check fails the call before anything is allocated or written, wherever it stands.
  for (Operation& op : kernel_.block()) {
    if (isa<EmptyOp, ForOp, BarrierOp, ReturnOp>(op)) continue;
    if (auto check_op = dyn_cast<CheckOp>(op))
      check(check_op);
    else
      evaluate(&op);
  }
  allocate(allocations);
  if (bounds) keep_bounds(*bounds);
  if (unrounded) keep_unrounded(*unrounded);
  UnroundedLanes wide(unrounded != nullptr);
  for (ForOp loop : kernel_.block().getOps<ForOp>()) run_loop(loop);
  std::vector<Array> returned;
  for (Value array : cast<ReturnOp>(kernel_.block().getTerminator()).getArrays())
    returned.push_back(values_.array(array).array);
  return returned;
}

std::vector<Array> interpret_kernel(KernelOp kernel, ArrayRef<int64_t> block_sizes,
                                    ArrayRef<InterpreterArgument> arguments, ArrayRef<Array> allocations,
                                    ErrorBounds* bounds, UnroundedElements* unrounded) {
  return KernelInterpreter(kernel, block_sizes).run(arguments, allocations, bounds, unrounded);
}

} // namespace tilewright
