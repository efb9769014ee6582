#include "ir/interpreter_combine.h"

#include "ir/context.h"
#include "ir/interpreter_bounds.h"
#include "support/error.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright {

namespace {

/// The states of the lanes that one lane of a result is made of.
class JointState {
public:
  void add(const Lane& lane) {
    ++count_;
    missing_ += lane.state == LaneState::Missing;
    undefined_ |= lane.state == LaneState::Undefined;
  }
  /// The state of the result lane. Of existing and missing lanes a lane is made that is missing itself, as past a
  /// tile's end where a select chose something for some; but not the first one, which exists wherever any does.
  LaneState settle(Operation* op, StringRef what, ArrayRef<int64_t> index) const {
    bool is_first = llvm::all_of(index, [](int64_t i) { return i == 0; });
    if (missing_ != 0 && missing_ != count_ && is_first)
      fail(source_location(op->getLoc()), "{} reads lanes that do not exist: {} of the {} lanes of {} {} are missing",
           op_name(op), missing_, count_, what.str(), index_text(index));
    if (missing_ != 0) return LaneState::Missing;
    return undefined_ ? LaneState::Undefined : LaneState::Exists;
  }

private:
  int64_t count_ = 0, missing_ = 0;
  bool undefined_ = false;
};

/// One lane of a reduction on its way, unrounded.
struct Total {
  long double real;
  uint64_t integer; // two's complement

  void combine(Reduction kind, const Lane& lane, Type element) {
    int64_t number = as_signed(lane, element), so_far = static_cast<int64_t>(integer);
    if (element.isInteger(1)) number = lane.integer; // false < true
    switch (kind) {
    case Reduction::Add: real += lane.real, integer += number; break;
    case Reduction::Mul: real *= lane.real, integer *= number; break;
    case Reduction::Max: real = larger(real, lane.real), integer = std::max(so_far, number); break;
    case Reduction::Min: real = -larger(-real, -lane.real), integer = std::min(so_far, number); break;
    case Reduction::And: integer &= number; break;
    case Reduction::Or: integer |= number; break;
    }
  }
  static long double larger(long double a, long double b) { return std::isnan(a) || a >= b ? a : b; } // or NaN
};

} // namespace

static Total neutral(Reduction kind, Type element) {
  TypedAttr attr = neutral_element(kind, element);
  if (auto real = dyn_cast<FloatAttr>(attr)) return {real.getValueAsDouble(), 0};
  const APInt& value = cast<IntegerAttr>(attr).getValue();
  return {0, element.isInteger(1) ? value.getZExtValue() : static_cast<uint64_t>(value.getSExtValue())};
}

BlockValue reduce(ReduceOp op, const BlockValue& source, ArrayRef<int64_t> bounds, bool with_bounds) {
  SmallVector<int64_t> kept_dims, kept_shape, reduced_shape;
  for (auto [dim, size] : llvm::enumerate(source.shape))
    if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim))) {
      kept_dims.push_back(dim);
      kept_shape.push_back(size);
    }
  for (int64_t dim : op.getDims()) reduced_shape.push_back(bounds[dim]);

  BlockValue result(source.element, kept_shape);
  SmallVector<int64_t> index(source.shape.size());
  for_each_index(kept_shape, [&](ArrayRef<int64_t> kept) {
    Lane& into = result.at(kept);
    bool exists = true;
    for (auto [dim, i] : llvm::zip_equal(kept_dims, kept)) {
      index[dim] = i;
      exists &= i < bounds[dim];
    }
    if (!exists) {
      into = Lane::missing();
      return;
    }
    JointState state;
    Total total = neutral(op.getKind(), source.element);
    CombinedError error(op.getKind(), source.element);
    for_each_index(reduced_shape, [&](ArrayRef<int64_t> reduced) {
      for (auto [dim, i] : llvm::zip_equal(op.getDims(), reduced)) index[dim] = i;
      state.add(source.at(index));
      total.combine(op.getKind(), source.at(index), source.element);
      if (with_bounds) error.add(source.at(index));
    });
    into = is_real(source.element) ? real_lane(total.real, source.element)
                                   : integer_lane(static_cast<int64_t>(total.integer), source.element);
    into.state = state.settle(op, "result lane", kept);
    if (with_bounds) into.error = error.of(into);
  });
  return result;
}

BlockValue dot(DotOp op, const BlockValue& a, const BlockValue& b, const BlockValue& acc, int64_t bound,
               bool with_bounds) {
  if (is_real(a.element) != is_real(acc.element) || is_real(b.element) != is_real(acc.element))
    fail(source_location(op.getLoc()),
         "the interpreter does not know tile.dot of integers with floating-point numbers");
  size_t rank = acc.shape.size();
  int64_t m = acc.shape[rank - 2], n = acc.shape[rank - 1], k = a.shape[rank - 1];
  int64_t batches = 1;
  for (size_t dim = 0; dim + 2 < rank; ++dim) batches *= acc.shape[dim];

  BlockValue result(acc.element, acc.shape);
  for (int64_t batch = 0; batch < batches; ++batch) {
    const Lane* a_lanes = a.lanes.data() + batch * m * k;
    const Lane* b_lanes = b.lanes.data() + batch * k * n;
    SmallVector<LaneState> row_states, column_states;
    for (int64_t i = 0; i < m; ++i) {
      JointState state;
      for (int64_t l = 0; l < bound; ++l) state.add(a_lanes[i * k + l]);
      row_states.push_back(state.settle(op, "row", {batch, i}));
    }
    for (int64_t j = 0; j < n; ++j) {
      JointState state;
      for (int64_t l = 0; l < bound; ++l) state.add(b_lanes[l * n + j]);
      column_states.push_back(state.settle(op, "column", {batch, j}));
    }
    for_each_index({m, n}, [&](ArrayRef<int64_t> index) {
      int64_t i = index[0], j = index[1], at = (batch * m + i) * n + j;
      long double real = acc.lanes[at].real;
      uint64_t integer = as_signed(acc.lanes[at], acc.element);
      CombinedError error(Reduction::Add, acc.element);
      if (with_bounds) error.add(acc.lanes[at]);
      for (int64_t l = 0; l < bound; ++l) {
        const Lane &x = a_lanes[i * k + l], &y = b_lanes[l * n + j];
        real += static_cast<long double>(x.real) * y.real;
        integer += static_cast<uint64_t>(as_signed(x, a.element)) * as_signed(y, b.element);
        if (with_bounds) error.add_product(x, y);
      }
      Lane& into = result.lanes[at];
      into = is_real(acc.element) ? real_lane(real, acc.element)
                                  : integer_lane(static_cast<int64_t>(integer), acc.element);
      into.state = std::max({acc.lanes[at].state, row_states[i], column_states[j]});
      if (with_bounds) into.error = error.of(into);
    });
  }
  return result;
}

} // namespace tilewright
