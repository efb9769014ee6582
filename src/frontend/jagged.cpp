// Jagged tiles: which elements their rows have, and what stands in for the others.
#include "frontend/builder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright {

// Null where the dimensions are not those of rows and tile.
Value Builder::mask_of(const JaggedTile& jagged, ArrayRef<Dim> dims) {
  const auto* along_tile = llvm::find(dims, jagged.extent);
  if (along_tile == dims.end()) return {};
  Value lengths = jagged.lengths();
  SmallVector<Dim> rows = dims_of(lengths);
  if (llvm::any_of(rows, [&](const Dim& row) { return !llvm::is_contained(dims, row); })) return {};

  // The lengths' dimensions in the order that they have here, with those of 1 between them that they lack.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rows.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return llvm::find(dims, rows[a]) < llvm::find(dims, rows[b]); });
  Value ends = transposed(lengths, order);
  SmallVector<Dim> shape = dims_of(ends);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (i < shape.size() && shape[i] == dim) continue;
    shape.insert(shape.begin() + i, Dim(1));
    ends = ir.create<ExpandDimsOp>(location_, value_type(element_type(lengths.getType()), shape), ends,
                                   static_cast<int64_t>(i));
  }
  Value index = along(tile_index(jagged.tile, jagged.wide), dims, along_tile - dims.begin());
  return pointwise(Pointwise::lt, {index, broadcast(ends, dims)});
}

Value Builder::jagged_mask(ArrayRef<Dim> dims) {
  Value all;
  for (const JaggedTile& jagged : jagged_) {
    Value mask = mask_of(jagged, dims);
    if (mask) all = all ? Value(ir.create<arith::AndIOp>(location_, all, mask)) : mask;
  }
  return all;
}

Value Builder::filled(Value value, Value filling) {
  Value mask = jagged_.empty() ? Value() : jagged_mask(dims_of(value));
  if (!mask) return value;
  return ir.create<arith::SelectOp>(location_, mask, value, splat_like(filling, value));
}

Value Builder::access_mask(const Place& place) {
  if (jagged_.empty()) return place.mask;
  Value mask = jagged_mask(place.dims);
  if (!mask || !place.mask) return mask ? mask : place.mask;
  return ir.create<arith::AndIOp>(location_, mask, place.mask);
}

} // namespace tilewright
