// New values, and what reads and writes memory: loads, stores, atomics.
#include "frontend/builder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright {

//===----------------------------------------------------------------------===//
// New values
//===----------------------------------------------------------------------===//

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

Value Builder::tile_index(Value tile, bool wide) {
  Dim extent = mlir::cast<TileType>(tile.getType()).getExtent().dim();
  return ir.create<IndexOp>(location_, value_type(wide ? ir.getI64Type() : ir.getI32Type(), extent), tile);
}

Value Builder::lane_numbers(const Dim& extent) {
  auto type = TileType::get(context(), DimAttr::get(context(), extent));
  return tile_index(ir.create<SliceOp>(location_, type, index_constant(0), Value()));
}

Value Builder::along(Value vector, ArrayRef<Dim> dims, int64_t dim) {
  SmallVector<Dim> own{dims[dim]};
  for (int64_t trailing = dim + 1; trailing < static_cast<int64_t>(dims.size()); ++trailing) {
    own.push_back(Dim(1));
    vector = ir.create<ExpandDimsOp>(location_, value_type(element_type(vector.getType()), own), vector,
                                     static_cast<int64_t>(own.size()) - 1);
  }
  return broadcast(vector, dims);
}

Value Builder::arange(const Term& begin, const Dim& length, DType dtype) {
  std::optional<int64_t> number = dimensions.value(length);
  if (number && dimensions.holds(Guard::Kind::Less, length, Dim(0)))
    fail("tw::arange from {} has no elements: its end is before it", describe(begin));
  Value numbers = cast(lane_numbers(number ? dimensions.whole(length) : length), dtype);
  if (begin.kind == Term::Kind::integer && begin.integer == 0) return numbers;
  return pointwise(Pointwise::add, {numbers, cast(begin, dtype)});
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

void Builder::set_options(Place& place, const Term* mask, llvm::StringRef eviction_policy) {
  if (!eviction_policy.empty()) {
    place.eviction = symbolizeEviction(eviction_policy);
    if (!place.eviction) fail("an eviction policy is \"\", \"first\" or \"last\", found \"{}\"", eviction_policy.str());
  }
  if (!mask || (mask->is_literal() && mask->kind == Term::Kind::boolean && mask->integer)) return;
  if (!place.new_axes.empty())
    fail("tw::none does not go with an extra_mask: insert the dimension into the value, as in v[tw::none]");
  if (dtype(*mask) != DType::boolean)
    fail("an extra_mask must be bool, found {}; write a comparison, as in x != 0", describe(*mask));
  auto refuse = [&] {
    fail("an extra_mask of {} does not fit a block of shape {}", describe(*mask), dimensions.describe(place.dims));
  };
  SmallVector<Dim> dims = mask->is_literal() ? SmallVector<Dim>() : dims_of(mask->value);
  if (dims.size() > place.dims.size()) refuse();
  for (auto [own, dim] : llvm::zip(dims, ArrayRef<Dim>(place.dims).take_back(dims.size())))
    if (own != dim && !own.is_one()) refuse();
  place.mask = broadcast(scalar(*mask, ir.getI1Type()), place.dims);
}

static EvictionAttr eviction_attribute(MLIRContext* context, const Place& place) {
  return place.eviction ? EvictionAttr::get(context, *place.eviction) : EvictionAttr();
}

Value Builder::load(const Place& place) {
  Type element = mlir::cast<ArrayType>(place.array.getType()).value_element();
  SmallVector<Dim> dims = place.dims;
  for (unsigned dim : place.repeated) dims[dim] = Dim(1);
  // The one element of a dimension of size 1 is read where some index asks for it, and then repeated under the mask.
  const Value whole_mask = access_mask(place);
  Value mask = whole_mask;
  const bool repeats = mask && dims != place.dims;
  if (repeats) {
    SmallVector<int64_t> over(place.repeated.begin(), place.repeated.end());
    mask = reduce(Reduction::Or, mask, over, /*keepdim=*/true);
  }
  Value value = ir.create<LoadOp>(location_, value_type(element, dims), place.array, place.indices, ValueRange(), mask,
                                  place.kinds, ArrayRef<int32_t>(), AccessAttr(), eviction_attribute(context(), place));
  value = broadcast(value, place.dims);
  if (repeats) value = ir.create<arith::SelectOp>(location_, whole_mask, value, number_like(0, value));
  for (int64_t axis : place.new_axes) value = unsqueeze(value, static_cast<int>(axis));
  return value;
}

Value Builder::block_value(const Place& place, const Term& value) {
  if (!place.new_axes.empty()) fail("tw::none has no meaning in the subscripts of a store");
  if (place.passes_end) fail("a tile of several elements would be stored into a dimension of size 1; index it with 0");
  DType dtype = device_dtype(mlir::cast<ArrayType>(place.array.getType()).getElementType());
  auto block = dimensions.describe(place.dims);
  if (rank(value) > static_cast<int64_t>(place.dims.size())) {
    if (place.dims.empty())
      fail("{} does not fit into one element of a tensor; reduce it, or store to a tile", describe(value));
    fail("{} does not fit into a block of shape {}; reduce it, or give the store a subscript more", describe(value),
         block);
  }
  SmallVector<Dim> dims = value.is_literal() ? SmallVector<Dim>() : dims_of(value.value);
  for (auto [own, dim] : llvm::zip(dims, ArrayRef<Dim>(place.dims).take_back(dims.size())))
    if (own != dim && !own.is_one())
      fail("{} does not fit into a block of shape {}; index both with the same tiles", describe(value), block);
  return broadcast(cast(value, dtype), place.dims);
}

void Builder::store(const Place& place, const Term& value) {
  Value stored = block_value(place, value);
  ir.create<StoreOp>(location_, stored, place.array, place.indices, ValueRange(), access_mask(place), place.kinds,
                     ArrayRef<int32_t>(), AccessAttr(), eviction_attribute(context(), place));
}

//===----------------------------------------------------------------------===//
// Atomics and printing
//===----------------------------------------------------------------------===//

Value Builder::atomic(const char* name, AtomicKind kind, const Place& place, const Term& value, MemoryOrder order) {
  DType dtype = device_dtype(mlir::cast<ArrayType>(place.array.getType()).getElementType());
  bool bitwise = kind == AtomicKind::And || kind == AtomicKind::Or || kind == AtomicKind::Xor;
  if (bitwise && is_floating_point(dtype))
    fail("{} works on integers and bools, found a tensor of {}; there are tw::atomic_add, tw::atomic_max, "
         "tw::atomic_min and tw::atomic_xchg",
         name, tilewright::name(dtype));
  if (!bitwise && kind != AtomicKind::Exchange && dtype == DType::boolean)
    fail("{} works on numbers, found a tensor of bool; there are tw::atomic_and, tw::atomic_or and tw::atomic_xor",
         name);
  if (is_float8(dtype) && kind != AtomicKind::Exchange)
    fail("{} computes with numbers, found a tensor of {}, which only stores them; make it one of float32", name,
         tilewright::name(dtype));
  if (dtype == DType::uint8 && (kind == AtomicKind::Max || kind == AtomicKind::Min))
    fail("{} of a tensor of uint8, which there is not; make it one of int32", name);
  Value operand = block_value(place, value);
  return ir.create<AtomicOp>(location_, operand.getType(), kind, operand, place.array, place.indices, ValueRange(),
                             access_mask(place), place.kinds, ArrayRef<int32_t>(), order, AccessAttr());
}

Value Builder::atomic_cas(const Place& place, const Term& expected, const Term& value, MemoryOrder order) {
  Value old = block_value(place, expected), next = block_value(place, value);
  return ir.create<AtomicCasOp>(location_, next.getType(), old, next, place.array, place.indices, ValueRange(),
                                access_mask(place), place.kinds, ArrayRef<int32_t>(), order);
}

void Builder::print(llvm::StringRef text, const Term* value) {
  Value printed;
  if (value) {
    Term number = widened(*value);
    printed = number.is_literal() ? cast(number, dtype(number)) : number.value;
  }
  if (printed && jagged_mask(dims_of(printed)))
    fail("tw::print of a value of a jagged tile, some of whose elements do not exist; print what is reduced from it");
  ir.create<PrintOp>(location_, text, printed, ValueRange(), ArrayRef<int32_t>());
}

} // namespace tilewright
