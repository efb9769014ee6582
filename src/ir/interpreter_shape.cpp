#include "ir/interpreter_shape.h"

#include "ir/context.h"
#include "ir/interpreter_pointwise.h"
#include "support/error.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using namespace mlir;

namespace tilewright {

static Lane lane_of(Attribute number, Type element) {
  if (auto real = dyn_cast<FloatAttr>(number)) return real_lane(real.getValueAsDouble(), element);
  return integer_lane(cast<IntegerAttr>(number).getValue().getSExtValue(), element);
}

static BlockValue constant(arith::ConstantOp op, ArrayRef<int64_t> shape) {
  Type element = element_type(op.getType());
  BlockValue result(element, shape);
  if (isa<FloatAttr, IntegerAttr>(op.getValue())) {
    result.lanes[0] = lane_of(op.getValue(), element);
    return result;
  }
  auto numbers = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!numbers) fail(source_location(op.getLoc()), "the interpreter does not know this kind of arith.constant");
  for (auto [lane, number] : llvm::zip_equal(result.lanes, numbers.getValues<Attribute>()))
    lane = lane_of(number, element);
  return result;
}

// Each lane of the result is the lane of the source whose index `source_index` gives.
static BlockValue
rearrange(const BlockValue& source, ArrayRef<int64_t> shape,
          llvm::function_ref<void(ArrayRef<int64_t> index, SmallVectorImpl<int64_t>& source_index)> from) {
  BlockValue result(source.element, shape);
  SmallVector<int64_t> source_index;
  for_each_index(shape, [&](ArrayRef<int64_t> index) {
    source_index.assign(index.begin(), index.end());
    from(index, source_index);
    result.at(index) = source.at(source_index);
  });
  return result;
}

static BlockValue broadcast(const BlockValue& source, ArrayRef<int64_t> shape) {
  return rearrange(source, shape, [&](ArrayRef<int64_t>, SmallVectorImpl<int64_t>& source_index) {
    for (auto [i, size] : llvm::zip_equal(source_index, source.shape))
      if (size == 1) i = 0;
  });
}

static BlockValue expand_dims(const BlockValue& source, int64_t dim, ArrayRef<int64_t> shape) {
  return rearrange(source, shape, [&](ArrayRef<int64_t>, SmallVectorImpl<int64_t>& source_index) {
    source_index.erase(source_index.begin() + dim);
  });
}

static BlockValue transpose(const BlockValue& source, ArrayRef<int64_t> permutation, ArrayRef<int64_t> shape) {
  return rearrange(source, shape, [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t>& source_index) {
    for (auto [i, dim] : llvm::zip_equal(index, permutation)) source_index[dim] = i;
  });
}

// The lanes in row-major order, whether they exist or not, are those of the result in row-major order.
static BlockValue reshape(const BlockValue& source, ArrayRef<int64_t> shape) {
  BlockValue result(source.element, shape);
  result.lanes = source.lanes;
  return result;
}

static BlockValue take(const BlockValue& source, const BlockValue& indices, int64_t dim, ArrayRef<int64_t> shape) {
  BlockValue result(source.element, shape);
  SmallVector<int64_t> source_index;
  for_each_index(shape, [&](ArrayRef<int64_t> index) {
    const Lane& element = indices.at(index);
    Lane& into = result.at(index);
    into = {.state = element.state};
    if (element.state != LaneState::Exists) return;
    into = Lane::undefined();
    if (element.integer < 0 || element.integer >= source.shape[dim]) return;
    source_index.assign(index.begin(), index.end());
    source_index[dim] = element.integer;
    into = source.at(source_index);
  });
  return result;
}

// NaN is larger than every number, and equal to itself.
static bool is_less(const Lane& a, const Lane& b, bool real) {
  if (!real) return a.integer < b.integer;
  return std::isnan(b.real) ? !std::isnan(a.real) : a.real < b.real;
}

// A row that is missing has no order, and neither has one of which some lanes are, as joining values with constants
// makes of rows past a tile's end; of the first row, which exists wherever any does, that is an error. Where lanes may
// be so far off that another implementation has another order, their places cannot be compared.
static BlockValue sort(SortOp op, const BlockValue& source) {
  const bool real = is_real(source.element);
  const int64_t dim = op.getDim(), count = source.shape[dim];
  BlockValue result(element_type(op.getType()), source.shape);
  SmallVector<int64_t> rows(source.shape);
  rows[dim] = std::min<int64_t>(count, 1);
  for_each_index(rows, [&](ArrayRef<int64_t> row) {
    SmallVector<int64_t> index(row);
    auto lane = [&](const BlockValue& of, int64_t i) -> const Lane& { return index[dim] = i, of.at(index); };
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), int64_t(0));
    auto missing = llvm::count_if(order, [&](int64_t i) { return lane(source, i).state == LaneState::Missing; });
    const bool is_first = llvm::all_of(row, [](int64_t i) { return i == 0; });
    if (missing != 0 && missing != count && is_first)
      fail(source_location(op->getLoc()), "{} reads lanes that do not exist: {} of {} along dimension {}", op_name(op),
           missing, count, dim);
    if (missing == 0)
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const Lane x = lane(source, a), y = lane(source, b);
        return op.getDescending() ? is_less(y, x, real) : is_less(x, y, real);
      });
    bool is_certain = true;
    for (int64_t i = 0; i + 1 < count && missing == 0; ++i) {
      const Lane a = lane(source, order[i]), b = lane(source, order[i + 1]);
      double reach = a.error + b.error;
      if (reach > 0 && !(std::fabs(a.real - b.real) > reach)) is_certain = false;
    }
    for (int64_t i = 0; i < count; ++i) {
      index[dim] = i;
      result.at(index) = missing ? Lane::missing() : integer_lane(order[i], result.element);
      if (!is_certain) result.at(index).error = std::numeric_limits<double>::infinity();
    }
  });
  return result;
}

static BlockValue splat(Lane lane, Type element, ArrayRef<int64_t> shape) {
  BlockValue result(element, shape);
  std::fill(result.lanes.begin(), result.lanes.end(), lane);
  return result;
}

BlockValue evaluate_lanewise(Operation* op, const Environment& environment, ArrayRef<int64_t> shape) {
  auto value_of = [&](Value value) -> const BlockValue& { return environment.block(value); };
  return llvm::TypeSwitch<Operation*, BlockValue>(op)
      .Case([&](arith::ConstantOp constant_op) { return constant(constant_op, shape); })
      .Case([&](SplatOp op) { return splat(value_of(op.getScalar()).lanes[0], element_type(op.getType()), shape); })
      .Case([&](BroadcastOp op) { return broadcast(value_of(op.getSource()), shape); })
      .Case([&](ExpandDimsOp op) { return expand_dims(value_of(op.getSource()), op.getDim(), shape); })
      .Case([&](TransposeOp op) { return transpose(value_of(op.getSource()), op.getPermutation(), shape); })
      .Case([&](ReshapeOp op) { return reshape(value_of(op.getSource()), shape); })
      .Case([&](SortOp op) { return sort(op, value_of(op.getSource())); })
      .Case([&](TakeOp op) { return take(value_of(op.getSource()), value_of(op.getIndices()), op.getDim(), shape); })
      .Default([&](Operation* op) {
        bool pointwise = isa<CompositeOp>(op) || isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
        if (!pointwise || op->getNumResults() != 1)
          fail(source_location(op->getLoc()), "the interpreter does not know {}", op_name(op));
        SmallVector<const BlockValue*> operands;
        for (Value operand : op->getOperands()) operands.push_back(&value_of(operand));
        return evaluate_pointwise(op, operands, shape, environment.with_bounds);
      });
}

BlockValue iota(Type element, int64_t first, int64_t count) {
  BlockValue result(element, {count});
  for (int64_t i = 0; i < count; ++i) result.lanes[i] = integer_lane(first + i, element);
  return result;
}

void clip(BlockValue& value, ArrayRef<int64_t> counts) {
  for_each_index(value.shape, [&](ArrayRef<int64_t> index) {
    bool beyond = llvm::any_of(llvm::zip_equal(index, counts), [](auto pair) {
      auto [i, count] = pair;
      return i >= count;
    });
    if (beyond) value.at(index) = Lane::missing();
  });
}

} // namespace tilewright
