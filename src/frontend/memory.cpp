// New values, loads and stores.
#include "frontend/builder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright {

Value Builder::full(ArrayRef<Dim> dims, ArrayRef<Value> tiles, const Term& value, DType dtype) {
  if (rank(value) != 0) fail("tw::full fills with a number or a scalar, found {}", describe(value));
  Value filling = cast(value, dtype);
  if (dims.empty()) return filling;
  SmallVector<Value> limits;
  SmallVector<int32_t> limited;
  for (auto [dim, tile] : llvm::enumerate(tiles)) {
    if (!tile) continue;
    limits.push_back(tile);
    limited.push_back(static_cast<int32_t>(dim));
  }
  return ir.create<FullOp>(location_, value_type(filling.getType(), dims), filling, limits, limited);
}

Value Builder::tile_index(Value tile) {
  Dim extent = mlir::cast<TileType>(tile.getType()).getExtent().dim();
  return ir.create<IndexOp>(location_, value_type(ir.getI32Type(), extent), tile);
}

Place Builder::place(Value array, ArrayRef<SubscriptTerm> subscripts, llvm::function_ref<bool(Value)> at_most_one) {
  auto type = mlir::cast<ArrayType>(array.getType());
  Place place;
  place.array = array;
  int64_t next = 0; // dimension of the array
  auto add = [&](Subscript kind, Value index = {}) {
    place.kinds.push_back(static_cast<int32_t>(kind));
    if (index) place.indices.push_back(index);
    ++next;
  };
  int64_t given =
      llvm::count_if(subscripts, [](const SubscriptTerm& s) { return s.kind != SubscriptTerm::Kind::new_axis; });
  if (given > type.rank()) fail("{} subscripts for a tensor of rank {}", given, type.rank());
  auto whole = [&] {
    place.dims.push_back(dimensions.whole(type.getDims()[next].dim()));
    add(Subscript::Whole);
  };
  for (const SubscriptTerm& subscript : subscripts) {
    if (subscript.kind == SubscriptTerm::Kind::new_axis) {
      place.new_axes.push_back(place.dims.size() + place.new_axes.size());
      continue;
    }
    Dim size = type.getDims()[next].dim();
    const Term& term = subscript.term;
    switch (subscript.kind) {
    case SubscriptTerm::Kind::new_axis: break;
    case SubscriptTerm::Kind::whole: whole(); break;
    case SubscriptTerm::Kind::tile: {
      bool broadcasts = size.is_one() && !at_most_one(term.value);
      place.broadcasts |= broadcasts;
      place.dims.push_back(broadcasts ? Dim(1) : mlir::cast<TileType>(term.value.getType()).getExtent().dim());
      add(Subscript::Tile, term.value);
      break;
    }
    case SubscriptTerm::Kind::scalar: {
      if (rank(term) != 0)
        fail("index tensors are not supported yet: a subscript is a tile, tw::_, or an integer, found {}",
             describe(term));
      if (term.kind != Term::Kind::integer) {
        add(Subscript::Scalar, index(term, "a subscript"));
        break;
      }
      int64_t length = *dimensions.value(size);
      if (term.integer < -length || term.integer >= length)
        fail("index {} is out of range for dimension {} of size {}", term.integer, next, length);
      add(Subscript::Scalar, extent(term.integer < 0 ? size + Dim(term.integer) : Dim(term.integer)));
      break;
    }
    }
  }
  while (next < type.rank()) whole();
  return place;
}

Value Builder::load(const Place& place) {
  Type element = mlir::cast<ArrayType>(place.array.getType()).getElementType();
  Value value = ir.create<LoadOp>(location_, value_type(element, place.dims), place.array, place.indices, ValueRange(),
                                  place.kinds, ArrayRef<int32_t>());
  for (int64_t axis : place.new_axes) value = unsqueeze(value, static_cast<int>(axis));
  return value;
}

void Builder::store(const Place& place, const Term& value) {
  if (!place.new_axes.empty()) fail("tw::none has no meaning in the subscripts of a store");
  if (place.broadcasts) fail("a tile of several elements would be stored into a dimension of size 1; index it with 0");
  Type element = mlir::cast<ArrayType>(place.array.getType()).getElementType();
  auto block = dimensions.describe(place.dims);
  if (rank(value) > static_cast<int64_t>(place.dims.size())) {
    if (place.dims.empty()) fail("{} does not fit into one element of a tensor", describe(value));
    fail("{} does not fit into a block of shape {}", describe(value), block);
  }
  SmallVector<Dim> dims = value.is_literal() ? SmallVector<Dim>() : dims_of(value.value);
  for (auto [own, dim] : llvm::zip(dims, ArrayRef<Dim>(place.dims).take_back(dims.size())))
    if (own != dim && !own.is_one()) fail("{} does not fit into a block of shape {}", describe(value), block);
  Value stored = broadcast(scalar(value, element), place.dims);
  ir.create<StoreOp>(location_, stored, place.array, place.indices, ValueRange(), place.kinds, ArrayRef<int32_t>());
}

} // namespace tilewright
