#include "schedule/expand_program_ids.h"

#include "support/planted_bug.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

using namespace mlir;

namespace tilewright {
namespace {

/// Unsigned arithmetic that folds as it goes, also what arith's own folds leave.
struct Arithmetic {
  OpBuilder& builder;
  Location loc;

  Value number(int64_t value) { return builder.create<arith::ConstantIndexOp>(loc, value); }
  Value divide(Value a, int64_t b) { return builder.createOrFold<arith::DivUIOp>(loc, a, number(b)); }
  Value divide(Value a, Value b) { return builder.createOrFold<arith::DivUIOp>(loc, a, b); }
  Value remainder(Value a, int64_t b) {
    return b == 1 ? number(0) : builder.createOrFold<arith::RemUIOp>(loc, a, number(b));
  }
  Value remainder(Value a, Value b) { return builder.createOrFold<arith::RemUIOp>(loc, a, b); }
  Value add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
  Value multiply(Value a, int64_t b) { return builder.createOrFold<arith::MulIOp>(loc, a, number(b)); }
};

} // namespace

// The coordinates over the last two dimensions, in groups of rows.
static std::pair<Value, Value> grouped(Arithmetic& math, Value id, int64_t rows, int64_t columns, int64_t group) {
  if (group >= rows) return {math.remainder(id, rows), math.divide(id, rows)};
  Value first_row = math.multiply(math.divide(id, group * columns), group);
  Value in_group = math.remainder(id, group * columns);
  if (rows % group == 0 || planted(PlantedBug::wrong_group_of_rows))
    return {math.add(first_row, math.remainder(in_group, group)), math.divide(in_group, group)};
  Value rows_left = math.builder.createOrFold<arith::SubIOp>(math.loc, math.number(rows), first_row);
  Value size = math.builder.createOrFold<arith::MinUIOp>(math.loc, rows_left, math.number(group));
  return {math.add(first_row, math.remainder(in_group, size)), math.divide(in_group, size)};
}

SmallVector<Value> expand_program_id(OpBuilder& builder, MapProgramOp map) {
  Arithmetic math{builder, map.getLoc()};
  ArrayRef<int64_t> counts = map.getCounts();
  SmallVector<Value> coordinates(counts.size());
  // A launch of no programs asks for nothing, and has no number to divide by.
  if (llvm::is_contained(counts, 0)) return SmallVector<Value>(counts.size(), math.number(0));
  Value left = map.getId();
  size_t dim = counts.size();
  if (map.getGroup() > 1 && dim > 1) {
    dim -= 2;
    int64_t tiles = counts[dim] * counts[dim + 1];
    Value inner = dim == 0 ? left : math.remainder(left, tiles);
    std::tie(coordinates[dim], coordinates[dim + 1]) =
        grouped(math, inner, counts[dim], counts[dim + 1], static_cast<int64_t>(map.getGroup()));
    if (dim > 0) left = math.divide(left, tiles);
  }
  while (dim-- > 0) { // the id is below the product of the counts, so the outermost one needs no remainder
    coordinates[dim] = dim == 0 ? left : math.remainder(left, counts[dim]);
    if (dim > 0) left = math.divide(left, counts[dim]);
  }
  return coordinates;
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
    Value along = faster == 0 ? math.number(0) : math.divide(flat, faster); // none at all: nobody asks
    if (axis + 1 < grid.size() && grid[axis] > 0) along = math.remainder(along, grid[axis]);
    id.replaceAllUsesWith(along);
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
