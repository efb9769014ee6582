// What must hold of a kernel and of a program as a whole, beyond what each op checks: the rules of tile_types.td.
#include "ir/host_choices.h"
#include "ir/tile_dialect.h"

using namespace mlir;

namespace tilewright {

// arith and math ops are the pointwise ops of the dialect. Upstream lets some of them mix shapes that it calls
// compatible because both are dynamic (math.fpowi) or one has no encoding (arith.addf); here their dimensions are
// equal.
static LogicalResult verify_pointwise(Operation* op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) return success();
  std::optional<SmallVector<Dim>> expected;
  auto check = [&](Type type) {
    if (!isa<RankedTensorType>(type)) return true;
    if (!expected) expected = dims_of(type);
    return dims_of(type) == *expected;
  };
  for (Type type : op->getResultTypes())
    if (!check(type)) return op->emitOpError("has results of different dimensions");
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes())) {
    bool scalar_condition = i == 0 && isa<arith::SelectOp>(op) && !isa<RankedTensorType>(type);
    if (!scalar_condition && !check(type)) return op->emitOpError("mixes values of different dimensions");
  }
  return success();
}

static SmallVector<Type> types_of(Operation* op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return types;
}

static LogicalResult verify_tile_value(Operation* op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) return success();
  if (tensor.getRank() == 0) return op->emitOpError("has a tensor of rank 0; a device value of rank 0 is a scalar");
  if (!isa_and_nonnull<DimsAttr>(tensor.getEncoding()))
    return op->emitOpError("has a tensor whose dimensions are not named by #tile.dims: ") << type;
  return success();
}

static bool is_host_op(Operation* op) {
  if (isa<ExtentOp, EmptyOp, CheckOp, BarrierOp, ReturnOp, ForOp>(op)) return true;
  // An element of an argument, which is a bound.
  if (auto load = dyn_cast<LoadOp>(op))
    return isa<BlockArgument>(load.getArray()) && !isa<RankedTensorType>(load.getType());
  if (!isa<arith::ArithDialect>(op->getDialect())) return false;
  return llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

LogicalResult KernelOp::verifyRegions() {
  if (getBody().empty()) return emitOpError("has no body");
  if (failed(verify_host_choices(*this))) return failure();
  SmallVector<ForOp> outermost;
  Operation* barrier = nullptr;
  for (Operation& op : block()) {
    if (!is_host_op(&op)) return op.emitOpError("cannot stand in a kernel's host part");
    if (isa<BarrierOp>(op)) {
      if (barrier || outermost.empty()) return op.emitOpError("must stand between two outermost loops");
      barrier = &op;
    }
    auto loop = dyn_cast<ForOp>(op);
    if (!loop) continue;
    if (!loop.getParallel()) return op.emitOpError("is an outermost loop, so it must be parallel");
    outermost.push_back(loop);
    barrier = nullptr;
  }
  if (outermost.empty()) return emitOpError("has no tile loop");
  if (barrier) return barrier->emitOpError("must stand between two outermost loops");
  auto returned = dyn_cast<ReturnOp>(block().getTerminator());
  if (!returned || returned.getArrays().getTypes() != TypeRange(getResultTypes()))
    return emitOpError("must end with a return of its result types");
  auto verify_device_op = [](Operation* op) -> WalkResult {
    if (isa<EmptyOp, CheckOp, BarrierOp, ReturnOp>(op)) return op->emitOpError("belongs to a kernel's host part");
    if (isa<IotaOp, ProgramIdOp, WorkerCountOp, MapProgramOp>(op)) return op->emitOpError("belongs to program IR");
    if (auto loop = dyn_cast<ForOp>(op); loop && loop.getParallel())
      return loop.emitOpError("is an inner loop, so it cannot be parallel");
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto type = dyn_cast<RankedTensorType>(constant.getType()); type && !type.hasStaticShape())
        return constant.emitOpError("has a dynamic shape; use tile.splat");
    for (Type type : types_of(op))
      if (failed(verify_tile_value(op, type))) return failure();
    return verify_pointwise(op);
  };
  for (ForOp loop : outermost)
    if (loop.getBody().walk(verify_device_op).wasInterrupted()) return failure();
  return success();
}

static bool is_list_of_tiles(Attribute phase) {
  auto loops = dyn_cast<ArrayAttr>(phase);
  return loops && llvm::all_of(loops, llvm::IsaPred<TilesAttr>);
}

LogicalResult ProgramOp::verifyRegions() {
  if (getBody().empty()) return emitOpError("has no body");
  if (getTiles() && !llvm::all_of(*getTiles(), is_list_of_tiles))
    return emitOpError("needs #tile.tiles for each loop of each phase as its tiles");
  if (getTiles() && getPrograms()) return emitOpError("has both a number of programs and tiles to count");
  if (block().empty() || !isa<ReturnOp>(block().back())) return emitOpError("must end with tile.return");
  WalkResult result = getBody().walk([&](Operation* op) -> WalkResult {
    auto extent = dyn_cast<ExtentOp>(op);
    if (extent && !extent.getDim().dim().is_over_sizes()) return extent.emitOpError("is not over sizes alone");
    if (isa<ForOp, EmptyOp, CheckOp, BarrierOp, BeginOp, EndOp, IdOp, CountOp, IndexOp, ShiftOp, SliceOp, FullOp,
            LaneCountOp>(op))
      return op->emitOpError("belongs to tile IR");
    for (Type type : types_of(op)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (tensor && (!tensor.hasStaticShape() || tensor.getRank() == 0))
        return op->emitOpError("has a tensor whose shape is not static: ") << type;
      if (auto array = dyn_cast<ArrayType>(type); array && !array.is_pinned())
        return op->emitOpError("has an array whose sizes and strides are not pinned: ") << type;
    }
    return verify_pointwise(op);
  });
  return failure(result.wasInterrupted());
}

} // namespace tilewright
