#include "backends/cpu/lower_to_loops.h"

#include "backends/cpu/loop_lowering.h"

#include "ir/run_time_numbers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright::cpu {

FailureOr<OwningOpRef<ModuleOp>> lower_to_loops(ProgramOp program, const CpuTarget& target) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(program.getLoc());
  LoopLowering lowering(program, target);
  if (failed(lowering.run(*module))) return failure();
  return module;
}

// The program's arguments, its run-time numbers, then the first program, one past the last, and the number of workers.
func::FuncOp LoopLowering::make_function(ModuleOp module) {
  SmallVector<Type> types = llvm::map_to_vector(program_.getArgumentTypes(), argument_type);
  types.append(run_time_numbers(program_.getArgumentTypes()).size() + 3, b_.getIndexType());
  b_.setInsertionPointToEnd(module.getBody());
  auto function =
      b_.create<func::FuncOp>(program_.getLoc(), program_.getSymName(), b_.getFunctionType(types, TypeRange()));
  function.addEntryBlock();
  for (auto [i, type] : llvm::enumerate(program_.getArgumentTypes())) {
    if (StringRef name = program_.argument_name(i); !name.empty())
      function.setArgAttr(i, "tile.name", b_.getStringAttr(name));
    if (auto array = dyn_cast<ArrayType>(type))
      function.setArgAttr(i, "tile.alignment", b_.getI64IntegerAttr(array.known_alignment()));
  }
  return function;
}

void LoopLowering::bind_arguments() {
  std::map<unsigned, SmallVector<Value>> strides; // of each array, by dimension
  unsigned next = program_.getNumArguments();
  for (const RunTimeNumber& number : run_time_numbers(program_.getArgumentTypes())) {
    const bool is_size = number.kind == RunTimeNumber::Kind::Size;
    std::string name = program_.argument_name(number.argument).str();
    if (name.empty()) name = "array" + std::to_string(number.argument);
    name += (is_size ? "_size" : "_stride") + std::to_string(number.dim);
    function_.setArgAttr(next, "tile.name", b_.getStringAttr(name));
    Value value = function_.getArgument(next++);
    if (is_size) {
      sizes_[number.symbol] = value;
    } else {
      strides[number.argument].resize(cast<ArrayType>(program_.getArgumentTypes()[number.argument]).rank());
      strides[number.argument][number.dim] = value;
    }
  }
  for (auto [i, argument] : llvm::enumerate(program_.getBody().getArguments())) {
    Value lowered = function_.getArgument(i);
    if (auto array = dyn_cast<ArrayType>(argument.getType())) {
      SmallVector<Value>& steps = strides[i];
      steps.resize(array.rank());
      buffers_[argument] = array_buffer(lowered, array, steps);
    } else {
      mapping_.map(argument, lowered);
    }
  }
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
  bind_arguments();
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
  if (auto branch = dyn_cast<scf::IfOp>(op)) return lower_if(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op)) return lower_while(loop);
  if (auto dot = dyn_cast<DotOp>(op)) return lower_dot(dot);
  if (auto store = dyn_cast<StoreOp>(op)) return lower_store(store), success();
  if (isa<AtomicOp, AtomicCasOp>(op)) return lower_atomic(AccessOp(op)), success();
  if (auto reduce = dyn_cast<ReduceOp>(op)) return lower_reduce(reduce), success();
  if (auto combine = dyn_cast<CombineOp>(op)) return lower_combine(combine), success();
  if (auto scan = dyn_cast<ScanOp>(op)) return lower_scan(scan), success();
  if (auto reshape = dyn_cast<ReshapeOp>(op)) return lower_reshape(reshape), success();
  if (auto sort = dyn_cast<SortOp>(op)) return lower_sort(sort), success();
  if (auto print = dyn_cast<PrintOp>(op)) return lower_print(print), success();
  if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType())) {
    if (!is_inlinable(op)) return op->emitError("the cpu backend does not support ") << op->getName();
    Value result = op->getResult(0);
    if (plan_.is_kept(result) && !leave_to_reduction(result)) keep(result);
    return success();
  }
  return lower_scalar(op);
}

LogicalResult LoopLowering::lower_scalar(Operation* op) {
  if (isa<ProgramIdOp>(op)) {
    mapping_.map(op->getResult(0), program_id_);
  } else if (isa<WorkerCountOp>(op)) {
    mapping_.map(op->getResult(0), workers_);
  } else if (auto size = dyn_cast<ExtentOp>(op)) {
    mapping_.map(op->getResult(0), extent(size.getDim().dim()));
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
  SmallVector<NestDim> dims = dims_of_access(AccessOp(store));
  const int rank = dims.size();
  auto array_type = cast<ArrayType>(store.getArray().getType());
  int contiguous = -1;
  bool decides = store.getAccess() != Access::Pointer; // else it goes along with what suits the loads
  for (auto [dim, use] : llvm::enumerate(subscripts_of(store)))
    if (decides && use.block_dim >= 0 && !use.is_gather() && array_type.stride(dim) == 1 &&
        dims[use.block_dim].extent > 1)
      contiguous = use.block_dim;
  SmallVector<bool> any(rank, true);
  int vector_dim = rank > 0 ? choose_vector_dim(store.getValue(), any, contiguous) : -1;
  int64_t lanes = vector_dim >= 0 ? native_lanes(array.element, dims[vector_dim].extent) : 1;
  bool streaming = store.getEviction() ? *store.getEviction() == Eviction::First
                                       : array_type.bytes().value_or(0) > target_.last_cache_bytes();
  nest(dims, vector_dim, lanes, [&](ArrayRef<Lanes> at) {
    ResolvedAccess access = resolve(AccessOp(store), at);
    write(array, access.where, evaluate(store.getValue(), at), streaming, access.choice);
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
  nest(dims, vector_dim, lanes, [&](ArrayRef<Lanes> at) { fill(to, from, at); });
  prefetch_ = Prefetch::Nothing;
}

void LoopLowering::fill(const Buffer& to, Value from, ArrayRef<Lanes> at) {
  Value value = evaluate(from, at);
  SmallVector<Lanes> where(at);
  if (where.back().count > 1) where.back().existing = {}; // rows of scratch hold whole vectors
  write(to, where, value);
}

void LoopLowering::lower_print(PrintOp print) {
  Value value = print.getValue();
  SmallVector<NestDim> dims;
  if (auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType())
    for (int64_t size : type.getShape()) dims.push_back({size, {size, {}}});
  for (auto [dim, valid] : llvm::zip(print.getValidDims(), print.getValid()))
    dims[dim].bound.value = mapping_.lookup(valid);
  nest(dims, -1, 1, [&](ArrayRef<Lanes> at) {
    SmallVector<Value> places{program_id_};
    for (const Lanes& lane : at) places.push_back(lane.begin);
    Value printed;
    if (value) {
      printed = evaluate(value, at);
      Type element = printed.getType();
      if (element.isIndex())
        printed = make<arith::IndexCastOp>(print.getLoc(), {printed}, b_.getI64Type(), printed);
      else if (!element.isInteger(1))
        printed = convert(printed, isa<FloatType>(element) ? Type(b_.getF64Type()) : Type(b_.getI64Type()));
    }
    restore_innermost();
    b_.create<PrintOp>(print.getLoc(), print.getTextAttr(), printed, places, b_.getDenseI32ArrayAttr({}));
  });
}

// Rows of other scratch hold whole vectors; one without gaps has room for a vector behind its last row.
static constexpr int64_t kRoomBehind = 64;

// A buffer of these dimensions that lies at the begin of `memory`.
static Buffer view_of(OpBuilder& b, Location loc, Value memory, ArrayRef<int64_t> shape, Type element) {
  auto type = MemRefType::get(shape, cast<MemRefType>(memory.getType()).getElementType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(getStridesAndOffset(type, strides, offset))) llvm_unreachable("a contiguous memref has strides");
  Buffer buffer{b.create<memref::ReinterpretCastOp>(loc, type, memory, offset, shape, strides), {}, element};
  for (unsigned dim = 0; dim < shape.size(); ++dim) buffer.order.push_back(dim);
  return buffer;
}

// The elements in row-major order without gaps; the result is the same memory under other dimensions.
void LoopLowering::lower_reshape(ReshapeOp reshape) {
  auto from = cast<RankedTensorType>(reshape.getSource().getType()), to = cast<RankedTensorType>(reshape.getType());
  Type element = from.getElementType(), stored = element.isInteger(1) ? b_.getI8Type() : element;
  Value memory = make_scratch({from.getNumElements() + kRoomBehind}, stored).memref;
  Buffer source, result;
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointAfter(memory.getDefiningOp());
    source = view_of(b_, reshape.getLoc(), memory, from.getShape(), element);
    result = view_of(b_, reshape.getLoc(), memory, to.getShape(), element);
  }
  SmallVector<NestDim> dims = dims_to_walk(reshape.getSource());
  int rank = dims.size(), vector_dim = choose_vector_dim(reshape.getSource(), SmallVector<bool>(rank, true), rank - 1);
  int64_t lanes = vector_dim >= 0 ? native_lanes(compute_type(element), dims[vector_dim].extent) : 1;
  nest(dims, vector_dim, lanes, [&](ArrayRef<Lanes> at) { write(source, at, evaluate(reshape.getSource(), at)); });
  buffers_[reshape.getResult()] = result;
}

} // namespace tilewright::cpu
