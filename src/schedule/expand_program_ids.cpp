#include "schedule/expand_program_ids.h"

#include "support/planted_bug.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

using namespace mlir;

namespace tilewright {
namespace {

/// Unsigned arithmetic on numbers and values that folds as it goes, also what arith's own folds leave.
struct Arithmetic {
  OpBuilder& builder;
  Location loc;

  static std::optional<int64_t> known(OpFoldResult a) { return getConstantIntValue(a); }
  OpFoldResult number(int64_t value) { return builder.getIndexAttr(value); }
  Value value(OpFoldResult a) {
    if (auto value = dyn_cast<Value>(a)) return value;
    return builder.create<arith::ConstantIndexOp>(loc, *known(a));
  }
  OpFoldResult divide(OpFoldResult a, OpFoldResult b) {
    return builder.createOrFold<arith::DivUIOp>(loc, value(a), value(b));
  }
  OpFoldResult remainder(OpFoldResult a, OpFoldResult b) {
    return known(b) == 1 ? number(0) : builder.createOrFold<arith::RemUIOp>(loc, value(a), value(b));
  }
  OpFoldResult add(OpFoldResult a, OpFoldResult b) {
    return builder.createOrFold<arith::AddIOp>(loc, value(a), value(b));
  }
  OpFoldResult multiply(OpFoldResult a, OpFoldResult b) {
    if (known(a) && known(b)) return number(*known(a) * *known(b));
    return builder.createOrFold<arith::MulIOp>(loc, value(a), value(b));
  }
};

} // namespace

// The coordinates over the last two dimensions, in groups of rows.
static std::pair<OpFoldResult, OpFoldResult> grouped(Arithmetic& math, OpFoldResult id, OpFoldResult rows,
                                                     OpFoldResult columns, int64_t group) {
  std::optional<int64_t> known_rows = math.known(rows);
  if (known_rows && group >= *known_rows) return {math.remainder(id, rows), math.divide(id, rows)};
  OpFoldResult in_all = math.multiply(math.number(group), columns);
  OpFoldResult first_row = math.multiply(math.divide(id, in_all), math.number(group));
  OpFoldResult in_group = math.remainder(id, in_all);
  if ((known_rows && *known_rows % group == 0) || planted(PlantedBug::wrong_group_of_rows))
    return {math.add(first_row, math.remainder(in_group, math.number(group))),
            math.divide(in_group, math.number(group))};
  OpFoldResult rows_left = math.builder.createOrFold<arith::SubIOp>(math.loc, math.value(rows), math.value(first_row));
  OpFoldResult size =
      math.builder.createOrFold<arith::MinUIOp>(math.loc, math.value(rows_left), math.value(math.number(group)));
  return {math.add(first_row, math.remainder(in_group, size)), math.divide(in_group, size)};
}

SmallVector<Value> expand_program_id(OpBuilder& builder, MapProgramOp map) {
  Arithmetic math{builder, map.getLoc()};
  SmallVector<OpFoldResult> counts = map.mixed_counts(), coordinates(counts.size());
  // A launch of no programs asks for nothing, and has no number to divide by.
  if (llvm::is_contained(map.getCounts(), 0)) return SmallVector<Value>(counts.size(), math.value(math.number(0)));
  OpFoldResult left = map.getId();
  size_t dim = counts.size();
  if (map.getGroup() > 1 && dim > 1) {
    dim -= 2;
    OpFoldResult tiles = math.multiply(counts[dim], counts[dim + 1]);
    OpFoldResult inner = dim == 0 ? left : math.remainder(left, tiles);
    std::tie(coordinates[dim], coordinates[dim + 1]) =
        grouped(math, inner, counts[dim], counts[dim + 1], static_cast<int64_t>(map.getGroup()));
    if (dim > 0) left = math.divide(left, tiles);
  }
  while (dim-- > 0) { // the id is below the product of the counts, so the outermost one needs no remainder
    coordinates[dim] = dim == 0 ? left : math.remainder(left, counts[dim]);
    if (dim > 0) left = math.divide(left, counts[dim]);
  }
  return llvm::map_to_vector(coordinates, [&](OpFoldResult coordinate) { return math.value(coordinate); });
}

// Axes of a grid as digits of one number.
static void flatten_axes(ProgramOp program) {
  if (!program.getGrid()) return;
  SmallVector<int64_t> grid(*program.getGrid());
  SmallVector<ProgramIdOp> ids;
  program.walk([&](ProgramIdOp id) { ids.push_back(id); });
  for (ProgramIdOp id : ids) {
    OpBuilder builder(id);
    Arithmetic math{builder, id.getLoc()};
    Value flat = builder.create<ProgramIdOp>(id.getLoc(), builder.getIndexType());
    const size_t axis = id.getAxis();
    const int64_t faster = std::accumulate(grid.begin(), grid.begin() + axis, int64_t(1), std::multiplies<>());
    // None at all: nobody asks.
    OpFoldResult along = faster == 0 ? math.number(0) : math.divide(flat, math.number(faster));
    if (axis + 1 < grid.size() && grid[axis] > 0) along = math.remainder(along, math.number(grid[axis]));
    id.replaceAllUsesWith(math.value(along));
    id.erase();
  }
  program.removeGridAttr();
}

void expand_program_ids(ProgramOp program) {
  flatten_axes(program);
  program.walk([](MapProgramOp map) {
    OpBuilder builder(map);
    map.replaceAllUsesWith(ValueRange(expand_program_id(builder, map)));
    map.erase();
  });
}

} // namespace tilewright
