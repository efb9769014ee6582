// The interpreter on program IR: interpret_program.
#include "ir/interpreter.h"

#include "ir/context.h"
#include "ir/interpreter_combine.h"
#include "ir/interpreter_memory.h"
#include "ir/interpreter_scan.h"
#include "ir/interpreter_shape.h"
#include "ir/programs_per_worker.h"
#include "support/error.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

namespace {

class ProgramInterpreter {
public:
  ProgramInterpreter(ProgramOp program, ArrayRef<InterpreterArgument> arguments, int64_t worker_count)
      : program_(program), worker_count_(worker_count) {
    bind_arguments(program, arguments, values_);
  }

  void run() {
    int64_t programs = program_.is_persistent() ? worker_count_ : 0;
    for (int64_t phase : program_.programs_of_phases(values_.sizes)) programs += phase;
    for (program_id_ = 0; program_id_ < programs; ++program_id_) run_block(program_.block());
  }

private:
  void run_block(Block& block);
  void evaluate(Operation* op);
  void run_loop(scf::ForOp loop);
  void run_if(scf::IfOp branch);
  void run_while(scf::WhileOp loop);
  void evaluate_access(AccessOp access);
  void evaluate_reduce(ReduceOp op);
  void evaluate_dot(DotOp op);
  void evaluate_map_program(MapProgramOp op);
  int64_t lanes_along(Operation* op, Value source, int64_t dim, Value valid);
  void set_results(Operation* op, std::vector<BlockValue> results);

  SmallVector<SubscriptRange> ranges_of(Operation* op, ArrayRef<SubscriptUse> uses, ArrayRef<int64_t> sizes,
                                        ArrayRef<int64_t> shape);
  SmallVector<int64_t> bounds_of(Operation* op, ArrayRef<int64_t> shape, OperandRange valid, ArrayRef<int32_t> dims);
  ResolvedAccess resolve(AccessOp access, ArrayRef<int64_t> shape);

  ProgramOp program_;
  int64_t worker_count_;
  int64_t program_id_ = 0;
  Environment values_;
};

} // namespace

// The digit that a program's number has along one axis of its grid; the whole number where there is no grid.
static int64_t number_along_axis(ProgramOp program, int64_t id, int64_t axis) {
  if (!program.getGrid()) return id;
  for (int64_t faster : program.getGrid()->take_front(axis)) id /= faster;
  return id % (*program.getGrid())[axis];
}

static SmallVector<int64_t> shape_of(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? SmallVector<int64_t>(tensor.getShape()) : SmallVector<int64_t>();
}

//===----------------------------------------------------------------------===//
// Memory and computation
//===----------------------------------------------------------------------===//

SmallVector<SubscriptRange> ProgramInterpreter::ranges_of(Operation* op, ArrayRef<SubscriptUse> uses,
                                                          ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape) {
  SmallVector<SubscriptRange> ranges;
  for (auto [use, size] : llvm::zip_equal(uses, sizes)) {
    switch (use.kind) {
    case Subscript::Whole: ranges.push_back(whole_range(op, size, shape[use.block_dim], use.block_dim)); break;
    case Subscript::Scalar:
    case Subscript::Block: ranges.push_back({values_.integer(op, use.operand), use.block_dim}); break;
    case Subscript::Gather:
    case Subscript::GatherWith: ranges.push_back({0, use.block_dim, &values_.block(use.operand)}); break;
    case Subscript::Tile: fail(source_location(op->getLoc()), "{} has a subscript of tile IR", op_name(op));
    }
  }
  return ranges;
}

// The number of lanes that exist along each dimension: what `valid` says, and elsewhere all.
SmallVector<int64_t> ProgramInterpreter::bounds_of(Operation* op, ArrayRef<int64_t> shape, OperandRange valid,
                                                   ArrayRef<int32_t> dims) {
  SmallVector<int64_t> bounds(shape);
  for (auto [count, dim] : llvm::zip_equal(valid, dims)) {
    bounds[dim] = values_.integer(op, count);
    if (bounds[dim] < 0 || bounds[dim] > shape[dim])
      fail(source_location(op->getLoc()), "{} says that {} of {} lanes exist", op_name(op), bounds[dim], shape[dim]);
  }
  return bounds;
}

ResolvedAccess ProgramInterpreter::resolve(AccessOp access, ArrayRef<int64_t> shape) {
  Operation* op = access.operation();
  const ArrayMemory& memory = values_.array(access.array());
  ResolvedAccess resolved{memory, ranges_of(op, access.subscripts(), memory.sizes, shape), {}};
  llvm::TypeSwitch<Operation*>(op).Case<LoadOp, StoreOp, AtomicOp, AtomicCasOp>(
      [&](auto op) { resolved.bounds = bounds_of(op, shape, op.getValid(), op.getValidDims()); });
  if (access.mask()) resolved.mask = &values_.block(access.mask());
  return resolved;
}

void ProgramInterpreter::evaluate_access(AccessOp access) {
  SmallVector<int64_t> shape = shape_of(access.block());
  ResolvedAccess resolved = resolve(access, shape);
  auto block = [&](Value value) -> const BlockValue& { return values_.block(value); };
  llvm::TypeSwitch<Operation*>(access.operation())
      .Case([&](LoadOp op) { values_.set_result(op, load(op, resolved, shape)); })
      .Case([&](StoreOp op) { store(op, resolved, block(op.getValue())); })
      .Case([&](AtomicOp op) { values_.set_result(op, atomic(op, resolved, block(op.getValue()))); })
      .Case([&](AtomicCasOp op) {
        values_.set_result(op, atomic_cas(op, resolved, block(op.getExpected()), block(op.getValue())));
      });
}

int64_t ProgramInterpreter::lanes_along(Operation* op, Value source, int64_t dim, Value valid) {
  int64_t size = shape_of(source.getType())[dim], count = valid ? values_.integer(op, valid) : size;
  if (count < 0 || count > size)
    fail(source_location(op->getLoc()), "{} says that {} of {} lanes exist", op_name(op), count, size);
  return count;
}

void ProgramInterpreter::set_results(Operation* op, std::vector<BlockValue> results) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results)) values_.set(result, std::move(value));
}

void ProgramInterpreter::evaluate_reduce(ReduceOp op) {
  const BlockValue& source = values_.block(op.getSource());
  values_.set_result(op, reduce(op, source, bounds_of(op, source.shape, op.getValid(), op.getValidDims())));
}

void ProgramInterpreter::evaluate_dot(DotOp op) {
  const BlockValue& a = values_.block(op.getA());
  int64_t k = a.shape.back(), bound = op.getValid() ? values_.integer(op, op.getValid()) : k;
  if (bound < 0 || bound > k)
    fail(source_location(op.getLoc()), "{} says that {} of {} lanes exist", op_name(op), bound, k);
  values_.set_result(op, dot(op, a, values_.block(op.getB()), values_.block(op.getAcc()), bound));
}

// Counts off tiles in the order of the definition: the leading dimensions as digits, the last two in groups of `group`
// rows, each group column by column.
void ProgramInterpreter::evaluate_map_program(MapProgramOp op) {
  SmallVector<int64_t> counts;
  for (OpFoldResult count : op.mixed_counts()) {
    auto number = dyn_cast<Attribute>(count);
    counts.push_back(number ? cast<IntegerAttr>(number).getInt() : values_.integer(op, cast<Value>(count)));
  }
  int64_t id = values_.integer(op, op.getId()), tiles = 1;
  for (int64_t count : counts) tiles *= count;
  if (id < 0 || id >= tiles)
    fail(source_location(op.getLoc()), "tile.map_program has no tile {}; there are {}", id, tiles);
  SmallVector<int64_t> coordinates(counts.size());
  size_t dim = counts.size();
  if (op.getGroup() > 1) {
    dim -= 2;
    int64_t rows = counts[dim], columns = counts[dim + 1];
    int64_t left = id % (rows * columns), first_row = 0, group_rows = std::min<int64_t>(op.getGroup(), rows);
    while (left >= group_rows * columns) {
      left -= group_rows * columns;
      first_row += group_rows;
      group_rows = std::min<int64_t>(op.getGroup(), rows - first_row);
    }
    coordinates[dim] = first_row + left % group_rows;
    coordinates[dim + 1] = left / group_rows;
    id /= rows * columns;
  }
  while (dim-- > 0) {
    coordinates[dim] = id % counts[dim];
    id /= counts[dim];
  }
  for (auto [result, coordinate] : llvm::zip_equal(op.getCoordinates(), coordinates))
    values_.set(result, BlockValue::scalar(result.getType(), {.integer = coordinate}));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void ProgramInterpreter::run_loop(scf::ForOp loop) {
  int64_t lower = values_.integer(loop, loop.getLowerBound()), upper = values_.integer(loop, loop.getUpperBound());
  int64_t step = values_.integer(loop, loop.getStep());
  if (step < 1) fail(source_location(loop.getLoc()), "scf.for has a step of {}", step);
  std::vector<BlockValue> carried;
  for (Value init : loop.getInitArgs()) carried.push_back(values_.block(init));
  for (int64_t i = lower; i < upper; i += step) {
    values_.set(loop.getInductionVar(), BlockValue::scalar(loop.getInductionVar().getType(), {.integer = i}));
    for (auto [argument, value] : llvm::zip_equal(loop.getRegionIterArgs(), carried)) values_.set(argument, value);
    run_block(*loop.getBody());
    for (auto [value, yielded] : llvm::zip_equal(carried, loop.getYieldedValues())) value = values_.block(yielded);
  }
  for (auto [result, value] : llvm::zip_equal(loop.getResults(), carried)) values_.set(result, std::move(value));
}

void ProgramInterpreter::run_if(scf::IfOp branch) {
  bool condition = values_.integer(branch, branch.getCondition());
  Block* block = condition ? branch.thenBlock() : branch.elseBlock();
  if (!block) return;
  run_block(*block);
  for (auto [result, yielded] : llvm::zip_equal(branch.getResults(), block->getTerminator()->getOperands()))
    values_.set(result, values_.block(yielded));
}

void ProgramInterpreter::run_while(scf::WhileOp loop) {
  std::vector<BlockValue> carried;
  auto take_over = [&](ValueRange values) {
    carried.clear();
    for (Value value : values) carried.push_back(values_.block(value));
  };
  take_over(loop.getInits());
  for (;;) {
    for (auto [argument, value] : llvm::zip_equal(loop.getBeforeArguments(), carried)) values_.set(argument, value);
    run_block(*loop.getBeforeBody());
    take_over(loop.getConditionOp().getArgs());
    if (!values_.integer(loop, loop.getConditionOp().getCondition())) break;
    for (auto [argument, value] : llvm::zip_equal(loop.getAfterArguments(), carried)) values_.set(argument, value);
    run_block(*loop.getAfterBody());
    take_over(loop.getYieldOp().getOperands());
  }
  set_results(loop, std::move(carried));
}

void ProgramInterpreter::run_block(Block& block) {
  for (Operation& op : block.without_terminator()) evaluate(&op);
}

void ProgramInterpreter::evaluate(Operation* op) {
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](scf::ForOp op) { run_loop(op); })
      .Case([&](scf::IfOp op) { run_if(op); })
      .Case([&](scf::WhileOp op) { run_while(op); })
      .Case<LoadOp, StoreOp, AtomicOp, AtomicCasOp>([&](auto op) { evaluate_access(AccessOp(op)); })
      .Case([&](CombineOp op) {
        set_results(op, combine(op, values_, lanes_along(op, op.getSources()[0], op.getDim(), op.getValid())));
      })
      .Case([&](ScanOp op) {
        set_results(op, scan(op, values_, lanes_along(op, op.getSources()[0], op.getDim(), op.getValid())));
      })
      .Case([&](ReduceOp op) { evaluate_reduce(op); })
      .Case([&](DotOp op) { evaluate_dot(op); })
      .Case([&](PrintOp op) {
        const BlockValue* value = op.getValue() ? &values_.block(op.getValue()) : nullptr;
        ArrayRef<int64_t> shape = value ? ArrayRef<int64_t>(value->shape) : ArrayRef<int64_t>();
        print(op, value, bounds_of(op, shape, op.getValid(), op.getValidDims()), program_id_);
      })
      .Case([&](MapProgramOp op) { evaluate_map_program(op); })
      .Case([&](ProgramIdOp op) { values_.set_index(op, number_along_axis(program_, program_id_, op.getAxis())); })
      .Case([&](ExtentOp op) { values_.set_index(op, op.getDim().dim().evaluate(values_.sizes)); })
      .Case([&](WorkerCountOp op) { values_.set_index(op, worker_count_); })
      .Case([&](IotaOp op) {
        int64_t count = shape_of(op.getType())[0];
        values_.set_result(op, iota(element_type(op.getType()), values_.integer(op, op.getBegin()), count));
      })
      .Default([&](Operation* op) {
        SmallVector<int64_t> shape;
        if (op->getNumResults() == 1) shape = shape_of(op->getResult(0).getType());
        values_.set_result(op, evaluate_lanewise(op, values_, shape));
      });
}

void interpret_program(ProgramOp program, ArrayRef<InterpreterArgument> arguments, int64_t worker_count) {
  if (worker_count < 1) fail("a launch needs at least one worker, found {}", worker_count);
  ProgramInterpreter(program, arguments, worker_count * programs_per_worker(program)).run();
}

} // namespace tilewright
