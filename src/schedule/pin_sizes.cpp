#include "schedule/pin_sizes.h"

#include "ir/kernel_loops.h"
#include "schedule/substitute_symbols.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

std::vector<int64_t> contiguous_strides(ArrayRef<int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim-- > 1;) {
    bool known = !ShapedType::isDynamic(strides[dim]) && !ShapedType::isDynamic(sizes[dim]);
    strides[dim - 1] = known ? strides[dim] * sizes[dim] : ShapedType::kDynamic;
  }
  return strides;
}

//===----------------------------------------------------------------------===//
// Sizes become numbers
//===----------------------------------------------------------------------===//

// The numbers of s0, s1, ...: every dimension of every array argument has one, in order.
static FailureOr<SmallVector<int64_t>> sizes_by_symbol(KernelOp kernel, ArrayRef<ArrayLayout> layouts) {
  SmallVector<int64_t> sizes;
  size_t next = 0;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto array = dyn_cast<ArrayType>(type);
    if (!array) continue;
    if (next == layouts.size()) return kernel.emitError() << "is pinned to too few arrays: " << layouts.size();
    const ArrayLayout& layout = layouts[next++];
    auto mismatch = [&]() -> InFlightDiagnostic {
      InFlightDiagnostic error = kernel.emitError() << "argument " << i;
      if (StringRef name = kernel.argument_name(i); !name.empty()) error << " (" << name << ")";
      return std::move(error << " ");
    };
    if (static_cast<int64_t>(layout.sizes.size()) != array.rank() || layout.strides.size() != layout.sizes.size())
      return mismatch() << "has rank " << array.rank() << ", its layout has " << layout.sizes.size() << " sizes and "
                        << layout.strides.size() << " strides";
    for (auto [dim, size] : llvm::zip(array.getDims(), layout.sizes)) {
      std::optional<int64_t> traced = dim.dim().constant();
      if (traced && *traced != size && !ShapedType::isDynamic(size))
        return mismatch() << "was traced with a dimension of " << *traced << ", its layout has " << size;
      if (!traced && dim.dim() != Dim(Symbol::size(sizes.size())))
        return mismatch() << "has a dimension " << dim << " where s" << sizes.size() << " is expected";
      sizes.push_back(size);
    }
  }
  if (next != layouts.size()) return kernel.emitError() << "is pinned to too many arrays: " << layouts.size();
  return sizes;
}

static Type with_layout(ArrayType array, ArrayRef<int64_t> strides, int64_t alignment) {
  return ArrayType::get(array.getContext(), array.getElementType(), array.getDims(), strides, alignment);
}

static void pin_arguments(KernelOp kernel, ArrayRef<ArrayLayout> layouts) {
  size_t next = 0;
  for (Value argument : kernel.block().getArguments()) {
    auto array = dyn_cast<ArrayType>(argument.getType());
    if (!array) continue;
    const ArrayLayout& layout = layouts[next++];
    argument.setType(with_layout(array, layout.strides, layout.alignment));
  }
}

static LogicalResult pin_allocations(KernelOp kernel) {
  for (EmptyOp empty : kernel.block().getOps<EmptyOp>()) {
    auto array = cast<ArrayType>(empty.getType());
    for (DimAttr dim : array.getDims())
      if (!dim.dim().is_over_sizes())
        return empty.emitError() << "allocates a tensor whose size depends on the config (" << dim.dim().str()
                                 << "), which is not supported yet";
    empty.getResult().setType(with_layout(array, contiguous_strides(array.sizes()), kAllocationAlignment));
  }
  return success();
}

// The types of the kernel itself follow those of its body.
static void update_signature(KernelOp kernel) {
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), kernel.block().getArgumentTypes(),
                                           kernel.block().getTerminator()->getOperandTypes()));
}

//===----------------------------------------------------------------------===//
// The host part becomes constants
//===----------------------------------------------------------------------===//

static void fold_or_keep(Operation* op) {
  OpBuilder builder(op);
  SmallVector<Value> results;
  if (failed(builder.tryFold(op, results)) || results.empty()) return;
  op->replaceAllUsesWith(results);
  op->erase();
}

static void fold_sizes(KernelOp kernel) {
  for (Operation& op : llvm::make_early_inc_range(kernel.block()))
    if (!isa<arith::ConstantOp>(op) && op.getNumResults() == 1 && !isa<EmptyOp>(op)) fold_or_keep(&op);
  for (ForOp loop : parallel_loops(kernel)) loop.getBody().walk([&](ExtentOp extent) { fold_or_keep(extent); });
}

// A check's message with its numbers in place of each `{}`.
static FailureOr<std::string> message_of(CheckOp check) {
  std::string message;
  StringRef left = check.getMessage();
  for (Value value : check.getValues()) {
    std::optional<int64_t> number = getConstantIntValue(value);
    if (!number) return check.emitError("reports a run-time number, which is not supported yet");
    auto [before, after] = left.split("{}");
    message += before.str() + std::to_string(*number);
    left = after;
  }
  return message + left.str();
}

// Whether the host can do the check at each launch: it compares numbers over sizes.
static bool is_over_sizes(CheckOp check) {
  auto is_size = [](Value value) { return getConstantIntValue(value) || value.getDefiningOp<ExtentOp>(); };
  auto comparison = check.getCondition().getDefiningOp<arith::CmpIOp>();
  return comparison && is_size(comparison.getLhs()) && is_size(comparison.getRhs()) &&
         llvm::all_of(check.getValues(), is_size);
}

static LogicalResult settle_checks(KernelOp kernel) {
  for (CheckOp check : llvm::make_early_inc_range(kernel.block().getOps<CheckOp>())) {
    std::optional<int64_t> condition = getConstantIntValue(check.getCondition());
    if (!condition && is_over_sizes(check)) continue;
    if (!condition) return check.emitError("checks a run-time number, which is not supported yet");
    if (*condition == 0) {
      FailureOr<std::string> message = message_of(check);
      return failed(message) ? failure() : LogicalResult(emitError(check.getLoc()) << *message);
    }
    check.erase();
  }
  return success();
}

static LogicalResult require_host_bounds(ForOp loop) {
  for (unsigned dim = 0; dim < loop.rank(); ++dim) {
    if (LoopDim{loop, dim}.is_data()) continue;
    if (std::optional<Dim> length = LoopDim{loop, dim}.host_length(); !length || !length->is_over_sizes())
      return loop.emitError(
          "the bounds of an outermost loop depend on a run-time number or on the config, which is not "
          "supported yet");
  }
  if (has_data_bounds(loop) && parallel_loops(loop->getParentOfType<KernelOp>()).size() > 1)
    return loop.emitError("has bounds from data beside another outermost loop, which is not supported yet");
  return success();
}

// Sizes are those of arguments.
static LogicalResult require_known_sizes(KernelOp kernel, size_t count) {
  auto known = [&](const Dim& dim) {
    for (const Monomial& monomial : dim.monomials())
      for (Symbol symbol : monomial.symbols)
        if (symbol.kind == Symbol::Kind::Size && symbol.index >= count) return false;
    return true;
  };
  bool all = llvm::all_of(kernel.whole_dims(), known);
  // A value's dimension has a name of its own, r, also where it is as long as a run-time size.
  auto names_size = [](const Dim& dim) {
    return llvm::any_of(dim.monomials(), [](const Monomial& monomial) {
      return llvm::any_of(monomial.symbols, [](Symbol symbol) { return symbol.kind == Symbol::Kind::Size; });
    });
  };
  WalkResult named = kernel.walk([&](Operation* op) -> WalkResult {
    bool wrong = false;
    for (Value result : op->getResults()) wrong |= llvm::any_of(dims_of(result), names_size);
    if (auto slice = dyn_cast<SliceOp>(op))
      wrong |= names_size(cast<TileType>(slice.getResult().getType()).getExtent().dim());
    if (auto loop = dyn_cast<ForOp>(op))
      wrong |= llvm::any_of(loop.getBlocks().getDims(), [&](DimAttr block) { return names_size(block.dim()); });
    if (wrong) return op->emitError("has a dimension that is named by a size that is known at run time only");
    return WalkResult::advance();
  });
  if (named.wasInterrupted()) return failure();
  kernel.walk([&](Operation* op) {
    if (auto extent = dyn_cast<ExtentOp>(op)) all &= known(extent.getDim().dim());
    if (auto empty = dyn_cast<EmptyOp>(op))
      all &= llvm::all_of(cast<ArrayType>(empty.getType()).getDims(), [&](DimAttr dim) { return known(dim.dim()); });
  });
  return all ? success() : kernel.emitError("speaks of a size that no argument has");
}

//===----------------------------------------------------------------------===//

LogicalResult pin_sizes(KernelOp kernel, ArrayRef<ArrayLayout> layouts) {
  FailureOr<SmallVector<int64_t>> sizes = sizes_by_symbol(kernel, layouts);
  if (failed(sizes)) return failure();
  substitute_symbols(kernel, [&](Symbol symbol) -> std::optional<Dim> {
    if (symbol.kind != Symbol::Kind::Size || symbol.index >= sizes->size()) return std::nullopt;
    int64_t size = (*sizes)[symbol.index];
    return ShapedType::isDynamic(size) ? std::nullopt : std::optional(Dim(size));
  });
  pin_arguments(kernel, layouts);
  if (failed(pin_allocations(kernel))) return failure();
  update_signature(kernel);
  // A whole dimension's length is a number now, also where the kernel asks for it.
  SmallVector<Dim> wholes = kernel.whole_dims();
  kernel.walk([&](ExtentOp extent) {
    Dim dim = extent.getDim().dim().substitute([&](Symbol symbol) -> std::optional<Dim> {
      if (symbol.kind != Symbol::Kind::Whole || symbol.index >= wholes.size()) return std::nullopt;
      return wholes[symbol.index];
    });
    extent.setDimAttr(DimAttr::get(kernel.getContext(), dim));
  });
  fold_sizes(kernel);
  if (failed(settle_checks(kernel))) return failure();
  for (ForOp loop : parallel_loops(kernel))
    if (failed(require_host_bounds(loop))) return failure();
  return require_known_sizes(kernel, sizes->size());
}

} // namespace tilewright
