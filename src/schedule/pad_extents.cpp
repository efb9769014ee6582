#include "schedule/pad_extents.h"

#include "schedule/substitute_symbols.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright {
namespace {

int64_t padded(int64_t size) { return static_cast<int64_t>(llvm::PowerOf2Ceil(size)); }

bool is_padded(int64_t size) { return padded(size) != size; }

Type padded_type(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || llvm::none_of(tensor.getShape(), is_padded)) return type;
  return block_type(tensor.getElementType(), llvm::map_to_vector(tensor.getShape(), padded));
}

ArrayRef<int64_t> shape_of(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

class Padder {
public:
  explicit Padder(ProgramOp program) : builder_(program.getContext()), program_(program) {}

  LogicalResult run() {
    // While values still have their old sizes.
    WalkResult walked = program_.walk([&](Operation* op) { return WalkResult(bound(op)); });
    if (walked.wasInterrupted()) return failure();
    program_.walk([&](Operation* op) {
      for (Value result : op->getResults()) result.setType(padded_type(result.getType()));
      if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isa<RankedTensorType>(constant.getType()))
        constant.setValueAttr(retype_constant(constant.getValue(), constant.getType()));
      for (Region& region : op->getRegions())
        for (Block& block : region)
          for (BlockArgument argument : block.getArguments()) argument.setType(padded_type(argument.getType()));
    });
    return success();
  }

private:
  Value number(Operation* op, int64_t value) {
    builder_.setInsertionPoint(op);
    return builder_.create<arith::ConstantIndexOp>(op->getLoc(), value);
  }

  LogicalResult bound(Operation* op) {
    return llvm::TypeSwitch<Operation*, LogicalResult>(op)
        .Case<LoadOp, AtomicOp, AtomicCasOp>([&](auto access) {
          return bound_dims(access, shape_of(access.getResult().getType())), bound_subscripts(access), success();
        })
        .Case([&](StoreOp store) {
          return bound_dims(store, shape_of(store.getValue().getType())), bound_subscripts(store), success();
        })
        .Case([&](PrintOp print) {
          if (print.getValue()) bound_dims(print, shape_of(print.getValue().getType()));
          return success();
        })
        .Case([&](ReduceOp reduce) {
          SmallVector<int64_t> shape(shape_of(reduce.getSource().getType()));
          for (auto [dim, size] : llvm::enumerate(shape))
            if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim))) size = 1; // needs no bound
          return bound_dims(reduce, shape), success();
        })
        .Case<CombineOp, ScanOp>([&](auto op) {
          int64_t size = shape_of(op.getSources()[0].getType())[op.getDim()];
          if (is_padded(size) && !op.getValid()) op.getValidMutable().assign(number(op, size));
          return success();
        })
        .Case([&](DotOp dot) {
          int64_t size = shape_of(dot.getA().getType()).back();
          if (is_padded(size) && !dot.getValid()) dot.getValidMutable().assign(number(dot, size));
          return success();
        })
        .Case([&](ReshapeOp reshape) { return check_reshape(reshape); })
        .Default([](Operation*) { return success(); });
  }

  template <typename Op> void bound_dims(Op op, ArrayRef<int64_t> shape) {
    SmallVector<Value> valid(op.getValid());
    SmallVector<int32_t> dims(op.getValidDims());
    for (auto [dim, size] : llvm::enumerate(shape)) {
      if (!is_padded(size) || llvm::is_contained(dims, static_cast<int32_t>(dim))) continue;
      auto at = llvm::lower_bound(dims, static_cast<int32_t>(dim)) - dims.begin();
      valid.insert(valid.begin() + at, number(op, size));
      dims.insert(dims.begin() + at, static_cast<int32_t>(dim));
    }
    if (dims.size() == op.getValidDims().size()) return;
    op.getValidMutable().assign(valid);
    op.setValidDims(dims);
  }

  // A whole dimension of an array becomes a block from 0 on, which is longer than it.
  template <typename Op> void bound_subscripts(Op op) {
    AccessOp access(op);
    ArrayRef<int64_t> shape = shape_of(access.block());
    SmallVector<Value> operands;
    SmallVector<int32_t> kinds;
    for (const SubscriptUse& use : access.subscripts()) {
      const bool grows = use.kind == Subscript::Whole && is_padded(shape[use.block_dim]);
      kinds.push_back(static_cast<int32_t>(grows ? Subscript::Block : use.kind));
      if (grows)
        operands.push_back(number(op, 0));
      else if (use.operand)
        operands.push_back(use.operand);
    }
    op.getIndicesMutable().assign(operands);
    op.setSubscripts(kinds);
  }

  // Runs of dimensions with as many elements on both sides; a padded one must stand alone on both.
  LogicalResult check_reshape(ReshapeOp reshape) {
    ArrayRef<int64_t> from = shape_of(reshape.getSource().getType()), to = shape_of(reshape.getType());
    size_t i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
      SmallVector<int64_t> left, right;
      int64_t left_count = 1, right_count = 1;
      auto take = [](ArrayRef<int64_t> shape, size_t& at, SmallVector<int64_t>& run, int64_t& count) {
        if (shape[at] != 1) run.push_back(shape[at]);
        count *= shape[at++];
      };
      do {
        if (i < from.size() && (left_count <= right_count || j == to.size()))
          take(from, i, left, left_count);
        else
          take(to, j, right, right_count);
      } while (left_count != right_count);
      if (left == right) continue;
      for (int64_t size : llvm::concat<int64_t>(left, right))
        if (is_padded(size))
          return reshape.emitError()
                 << "merges or splits a dimension of " << size
                 << ", which is no power of two: tiles of this backend are, and the dimension would "
                    "be padded in between";
    }
    return success();
  }

  OpBuilder builder_;
  ProgramOp program_;
};

} // namespace

LogicalResult pad_extents(ProgramOp program) { return Padder(program).run(); }

} // namespace tilewright
