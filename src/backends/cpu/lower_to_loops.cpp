#include "backends/cpu/lower_to_loops.h"

#include "backends/cpu/loop_lowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright::cpu {

FailureOr<OwningOpRef<ModuleOp>> lower_to_loops(ProgramOp program, const CpuTarget& target) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(program.getLoc());
  LoopLowering lowering(program, target);
  if (failed(lowering.run(*module))) return failure();
  return module;
}

func::FuncOp LoopLowering::make_function(ModuleOp module) {
  SmallVector<Type> types;
  for (Type type : program_.getArgumentTypes()) {
    auto array = dyn_cast<ArrayType>(type);
    types.push_back(array ? Type(array_memref(array)) : type);
  }
  types.append(3, b_.getIndexType()); // the first program, one past the last, the number of workers
  b_.setInsertionPointToEnd(module.getBody());
  auto function =
      b_.create<func::FuncOp>(program_.getLoc(), program_.getSymName(), b_.getFunctionType(types, TypeRange()));
  Block* entry = function.addEntryBlock();
  for (auto [i, argument] : llvm::enumerate(program_.getBody().getArguments())) {
    Value lowered = entry->getArgument(i);
    if (StringRef name = program_.argument_name(i); !name.empty())
      function.setArgAttr(i, "tile.name", b_.getStringAttr(name));
    if (auto array = dyn_cast<ArrayType>(argument.getType())) {
      buffers_[argument] = array_buffer(lowered, array);
      function.setArgAttr(i, "tile.alignment", b_.getI64IntegerAttr(array.known_alignment()));
    } else {
      mapping_.map(argument, lowered);
    }
  }
  return function;
}

LogicalResult LoopLowering::run(ModuleOp module) {
  current_ = program_;
  function_ = make_function(module);
  Block* entry = &function_.getBody().front();
  unsigned arguments = entry->getNumArguments();
  Value begin = entry->getArgument(arguments - 3), end = entry->getArgument(arguments - 2);
  workers_ = entry->getArgument(arguments - 1);
  LogicalResult lowered = success();
  push_level(entry);
  loop(begin, end, 1, {}, [&](Value id, ValueRange) -> SmallVector<Value> {
    program_id_ = id;
    lowered = lower_block(program_.block());
    return {};
  });
  current_ = program_;
  b_.create<func::ReturnOp>(program_.getLoc());
  pop_level();
  return lowered;
}

//===----------------------------------------------------------------------===//
// Ops in order
//===----------------------------------------------------------------------===//

LogicalResult LoopLowering::lower_block(Block& block) {
  for (Operation& op : block.without_terminator()) {
    Operation* outer = std::exchange(current_, &op);
    nest_level_ = levels_.size() - 1;
    computed_.clear();
    if (failed(lower_op(&op))) return failure();
    for (Value result : op.getResults())
      for (DotOp dot : plan_.packed_here(result)) {
        nest_level_ = levels_.size() - 1;
        pack(dot);
      }
    current_ = outer;
  }
  nest_level_ = levels_.size() - 1;
  computed_.clear();
  return success();
}

LogicalResult LoopLowering::lower_op(Operation* op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) return lower_for(loop);
  if (auto dot = dyn_cast<DotOp>(op)) return lower_dot(dot);
  if (auto store = dyn_cast<StoreOp>(op)) return lower_store(store), success();
  if (auto reduce = dyn_cast<ReduceOp>(op)) return lower_reduce(reduce), success();
  if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType())) {
    if (!is_inlinable(op)) return op->emitError("the cpu backend does not support ") << op->getName();
    if (plan_.is_kept(op->getResult(0))) keep(op->getResult(0));
    return success();
  }
  return lower_scalar(op);
}

LogicalResult LoopLowering::lower_scalar(Operation* op) {
  if (isa<ProgramIdOp>(op)) {
    mapping_.map(op->getResult(0), program_id_);
  } else if (isa<WorkerCountOp>(op)) {
    mapping_.map(op->getResult(0), workers_);
  } else if (auto load = dyn_cast<LoadOp>(op)) {
    mapping_.map(op->getResult(0), compute_load(load, {}));
  } else if (auto constant_op = dyn_cast<arith::ConstantOp>(op)) {
    mapping_.map(op->getResult(0), constant(constant_op.getValue(), op->getLoc()));
  } else if (isa<CompositeOp>(op) || isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return mapping_.lookup(operand); });
    mapping_.map(op->getResult(0), pointwise(op, operands));
  } else {
    return op->emitError("the cpu backend does not support ") << op->getName();
  }
  return success();
}

void LoopLowering::lower_store(StoreOp store) {
  const Buffer& array = buffers_.find(store.getArray())->second;
  SmallVector<SubscriptUse> uses = subscripts_of(store);
  auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
  unsigned rank = type ? type.getRank() : 0;
  SmallVector<NestDim> dims;
  for (unsigned dim = 0; dim < rank; ++dim) dims.push_back({type.getDimSize(dim), {type.getDimSize(dim), {}}});
  auto array_type = cast<ArrayType>(store.getArray().getType());
  int contiguous = -1;
  for (auto [dim, use] : llvm::enumerate(uses)) {
    if (use.valid) dims[use.block_dim].bound.value = mapping_.lookup(use.valid);
    if (use.block_dim >= 0 && array_type.stride(dim) == 1 && dims[use.block_dim].extent > 1) contiguous = use.block_dim;
  }
  SmallVector<bool> any(rank, true);
  int vector_dim = rank > 0 ? choose_vector_dim(store.getValue(), any, contiguous) : -1;
  int64_t lanes = vector_dim >= 0 ? native_lanes(array.element, dims[vector_dim].extent) : 1;
  bool streaming = array_type.bytes() > target_.last_cache_bytes();
  nest(dims, vector_dim, lanes, [&](ArrayRef<Lanes> at) {
    Value value = evaluate(store.getValue(), at);
    SmallVector<Lanes> where;
    for (const SubscriptUse& use : uses) {
      Lanes lane = use.block_dim >= 0 ? at[use.block_dim] : Lanes{};
      if (use.kind == Subscript::Scalar) lane.begin = mapping_.lookup(use.operand);
      if (use.kind == Subscript::Block) lane.begin = add(mapping_.lookup(use.operand), lane.begin);
      where.push_back(lane);
    }
    write(array, where, value, streaming);
  });
}

//===----------------------------------------------------------------------===//
// Kept values
//===----------------------------------------------------------------------===//

Buffer LoopLowering::destination_of(Value value) {
  auto found = destinations_.find(value);
  return found == destinations_.end() ? make_scratch(value) : found->second;
}

void LoopLowering::keep(Value value) {
  Buffer buffer = destination_of(value);
  assign(buffer, value, dims_to_walk(value));
  buffers_[value] = buffer; // only now, so that it was computed and not read
}

void LoopLowering::assign(const Buffer& to, Value from, ArrayRef<NestDim> dims) {
  int rank = dims.size();
  SmallVector<bool> any(rank, true);
  int vector_dim = choose_vector_dim(from, any, rank - 1);
  Type element = compute_type(element_type(from.getType()));
  int64_t lanes = vector_dim >= 0 ? native_lanes(element, dims[vector_dim].extent) : 1;
  // Memory and arithmetic overlap only if what the next tile reads is asked for while this one is computed.
  if (lanes > 1 && computes_costly(from)) prefetch_ = Prefetch::NextTile;
  nest(dims, vector_dim, lanes, [&](ArrayRef<Lanes> at) {
    Value value = evaluate(from, at);
    SmallVector<Lanes> where(at);
    if (vector_dim == rank - 1) where.back().existing = {}; // rows of scratch hold whole vectors
    write(to, where, value, false);
  });
  prefetch_ = Prefetch::Nothing;
}

//===----------------------------------------------------------------------===//
// Loops of the program
//===----------------------------------------------------------------------===//

LogicalResult LoopLowering::lower_for(scf::ForOp op) {
  auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
  SmallVector<Value> scalars;
  for (auto [i, argument] : llvm::enumerate(op.getRegionIterArgs())) {
    Value init = op.getInitArgs()[i];
    if (!isa<RankedTensorType>(argument.getType())) {
      scalars.push_back(mapping_.lookup(init));
      continue;
    }
    Buffer slot = make_scratch(argument);
    assign(slot, init, dims_to_walk(init));
    buffers_[argument] = slot;
    if (plan_.is_updated_in_place(op, i)) destinations_[yield.getOperand(i)] = slot;
  }
  auto step = op.getStep().getDefiningOp<arith::ConstantIndexOp>();
  if (!step) return op.emitError("the cpu backend needs loops of a constant step");
  LogicalResult lowered = success();
  SmallVector<Value> results;
  loop(
      mapping_.lookup(op.getLowerBound()), mapping_.lookup(op.getUpperBound()), step.value(), scalars,
      [&](Value variable, ValueRange carried) {
        mapping_.map(op.getInductionVar(), variable);
        for (unsigned i = 0, next = 0; i < op.getNumRegionIterArgs(); ++i)
          if (Value argument = op.getRegionIterArg(i); !isa<RankedTensorType>(argument.getType()))
            mapping_.map(argument, carried[next++]);
        lowered = lower_block(*op.getBody());
        if (succeeded(lowered)) carry_on(op, yield);
        SmallVector<Value> next;
        for (Value value : yield.getOperands())
          if (!isa<RankedTensorType>(value.getType()))
            next.push_back(succeeded(lowered) ? mapping_.lookup(value) : carried[next.size()]);
        return next;
      },
      &results);
  unsigned next = 0;
  for (auto [argument, result] : llvm::zip(op.getRegionIterArgs(), op.getResults())) {
    if (isa<RankedTensorType>(result.getType()))
      buffers_.insert({result, Buffer(buffers_.find(argument)->second)}); // a copy: insertion moves the map's entries
    else
      mapping_.map(result, results[next++]);
  }
  return lowered;
}

// Moves what an iteration yields to where the next one finds it, all at once: a value that is itself carried is copied
// aside before its place is overwritten.
void LoopLowering::carry_on(scf::ForOp op, scf::YieldOp yield) {
  SmallVector<std::pair<Buffer, Value>> moves;
  for (auto [argument, next] : llvm::zip(op.getRegionIterArgs(), yield.getOperands())) {
    if (!isa<RankedTensorType>(next.getType()) || next == argument) continue;
    Buffer slot = buffers_[argument];
    auto kept = buffers_.find(next);
    if (kept != buffers_.end() && kept->second.memref == slot.memref) continue; // updated in place
    moves.push_back({slot, next});
  }
  for (auto& [slot, next] : moves) {
    if (!llvm::is_contained(op.getRegionIterArgs(), next)) continue;
    Buffer aside = make_scratch(next);
    assign(aside, next, dims_to_walk(next));
    asides_[next] = aside;
  }
  for (auto& [slot, next] : moves) {
    auto aside = asides_.find(next);
    Buffer source = aside == asides_.end() ? Buffer() : aside->second;
    if (source.memref) std::swap(buffers_[next], source);
    assign(slot, next, dims_to_walk(next));
    if (source.memref) std::swap(buffers_[next], source);
  }
  asides_.clear();
}

} // namespace tilewright::cpu
