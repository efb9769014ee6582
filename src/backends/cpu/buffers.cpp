// Scratch buffers and arrays as memrefs of the loops stage.
#include "backends/cpu/loop_lowering.h"

#include "support/planted_bug.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::cpu {

// Buffers of dots are read and written in whole register tiles, so they have this much room beyond their last row.
static constexpr int64_t kMostTileRows = 32;
// Rows a multiple of this many bytes apart fall into few sets of the first-level cache; such rows get a line more.
static constexpr int64_t kAliasingBytes = 1024;
static constexpr int64_t kLineBytes = 64;

Type compute_type(Type element) {
  const bool narrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return narrow ? Type(Float32Type::get(element.getContext())) : element;
}

Type LoopLowering::storage_type(Value value) {
  Type element = element_type(value.getType());
  if (element.isInteger(1)) return b_.getI8Type();
  return plan_.is_dot_operand(value) ? compute_type(element) : element;
}

Buffer LoopLowering::make_scratch(ArrayRef<int64_t> shape, Type element) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&function_.getBody().front());
  auto type = MemRefType::get(shape, element);
  auto alloca = b_.create<memref::AllocaOp>(current_->getLoc(), type, b_.getI64IntegerAttr(kLineBytes));
  Buffer buffer{alloca, {}, element};
  for (unsigned dim = 0; dim < shape.size(); ++dim) buffer.order.push_back(dim);
  return buffer;
}

Buffer LoopLowering::make_scratch(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = storage_type(value);
  SmallVector<int64_t> shape(type.getShape());
  int64_t line = kLineBytes * 8 / element.getIntOrFloatBitWidth();
  bool is_dot_operand = plan_.is_dot_operand(value);
  if (is_dot_operand) shape[shape.size() - 2] += kMostTileRows;
  // A row holds whole vectors, so that its tail is read and written without a mask.
  int64_t width = llvm::alignTo(shape.back(), std::max<int64_t>(line, target_.lanes(32)));
  if (is_dot_operand)
    width = llvm::alignTo(width, target_.dot_tile().vectors * target_.lanes(element.getIntOrFloatBitWidth()));
  if (shape.size() > 1 && width * element.getIntOrFloatBitWidth() / 8 % kAliasingBytes == 0) width += line;
  shape.back() = width;
  Buffer buffer = make_scratch(shape, element);
  buffer.element = element_type(value.getType());
  return buffer;
}

// The array's dimensions by stride, the largest first, so that a dimension of stride 1 comes last. Strides that are
// known at run time only count as large.
static SmallVector<unsigned> order_of(ArrayType type) {
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < type.rank(); ++dim) order.push_back(dim);
  SmallVector<int64_t> sizes = type.sizes();
  auto stride = [&](unsigned dim) { return ShapedType::isDynamic(type.stride(dim)) ? INT64_MAX : type.stride(dim); };
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    // A dimension of size 1 is never stepped along: its stride says nothing.
    if ((sizes[a] == 1) != (sizes[b] == 1)) return sizes[a] == 1;
    return sizes[a] != 1 && stride(a) > stride(b);
  });
  return order;
}

MemRefType LoopLowering::array_memref(ArrayType type) {
  Type element = type.value_element();
  if (element.isInteger(1)) element = IntegerType::get(type.getContext(), 8);
  SmallVector<int64_t> shape, strides, sizes = type.sizes();
  for (unsigned dim : order_of(type)) {
    shape.push_back(sizes[dim]);
    strides.push_back(type.stride(dim));
  }
  return MemRefType::get(shape, element, StridedLayoutAttr::get(type.getContext(), 0, strides));
}

// An array whose sizes are known at run time only comes as memory alone.
Type LoopLowering::argument_type(Type type) {
  auto array = dyn_cast<ArrayType>(type);
  if (!array) return type;
  MemRefType memref = array_memref(array);
  return array.is_static() ? memref : MemRefType::get({ShapedType::kDynamic}, memref.getElementType());
}

Buffer LoopLowering::array_buffer(Value argument, ArrayType type, ArrayRef<Value> strides) {
  SmallVector<unsigned> order = order_of(type);
  if (type.is_static()) return {argument, order, type.value_element()};
  SmallVector<OpFoldResult> sizes, steps;
  for (unsigned dim : order) {
    sizes.push_back(extent(type.getDims()[dim].dim()));
    steps.push_back(strides[dim] ? OpFoldResult(strides[dim]) : b_.getIndexAttr(type.stride(dim)));
  }
  for (OpFoldResult& size : sizes)
    if (std::optional<int64_t> number = getConstantIntValue(size)) size = b_.getIndexAttr(*number);
  Value view = b_.create<memref::ReinterpretCastOp>(current_->getLoc(), array_memref(type), argument,
                                                    b_.getIndexAttr(0), sizes, steps);
  return {view, order, type.value_element()};
}

Value LoopLowering::extent(const Dim& dim) {
  Location loc = current_->getLoc();
  Value sum;
  for (const Monomial& monomial : dim.monomials()) {
    Value product = index(monomial.coefficient);
    for (Symbol symbol : monomial.symbols) {
      Value size = sizes_.lookup(symbol.index);
      product = getConstantIntValue(product) == 1 ? size : make<arith::MulIOp>(loc, {product, size}, product, size);
    }
    sum = sum ? make<arith::AddIOp>(loc, {sum, product}, sum, product) : product;
  }
  return sum ? sum : index(0);
}

SmallVector<Value> LoopLowering::memref_indices(const Buffer& buffer, ArrayRef<Lanes> at) {
  return llvm::map_to_vector(buffer.order, [&](unsigned dim) { return at[dim].begin; });
}

static int vector_dim_of(ArrayRef<Lanes> at) {
  for (auto [dim, lanes] : llvm::enumerate(at))
    if (lanes.count > 1) return dim;
  return -1;
}

int64_t stride_along(const Buffer& buffer, unsigned dim) {
  auto type = cast<MemRefType>(buffer.memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(getStridesAndOffset(type, strides, offset))) llvm_unreachable("memrefs of the loops stage are strided");
  return strides[llvm::find(buffer.order, dim) - buffer.order.begin()];
}

Value LoopLowering::stride_of(const Buffer& buffer, unsigned dim) {
  Location loc = current_->getLoc();
  int64_t stride = stride_along(buffer, dim);
  if (!ShapedType::isDynamic(stride)) return constant(b_.getI64IntegerAttr(stride), loc);
  auto view = buffer.memref.getDefiningOp<memref::ReinterpretCastOp>();
  auto position = llvm::find(buffer.order, dim) - buffer.order.begin();
  Value value = cast<Value>(view.getMixedStrides()[position]);
  return make<arith::IndexCastOp>(loc, {value}, b_.getI64Type(), value);
}

static bool is_contiguous_along(const Buffer& buffer, unsigned dim) {
  return buffer.order.back() == dim && stride_along(buffer, dim) == 1;
}

static SmallVector<int64_t> multiples(int64_t stride, int64_t count) {
  SmallVector<int64_t> offsets;
  for (int64_t lane = 0; lane < count; ++lane) offsets.push_back(lane * stride);
  return offsets;
}

// A vector of `count` conditions; null where all lanes are accessed.
Value LoopLowering::mask_of(const LaneChoice& choice, int64_t count) {
  Location loc = current_->getLoc();
  auto type = VectorType::get(count, b_.getI1Type());
  Value mask = choice.mask;
  if (mask && !isa<VectorType>(mask.getType())) mask = make<vector::BroadcastOp>(loc, {mask}, type, mask);
  if (!choice.existing) return mask;
  Value existing = make<vector::CreateMaskOp>(loc, {choice.existing}, type, ValueRange{choice.existing});
  return mask ? make<arith::AndIOp>(loc, {existing, mask}, existing, mask) : existing;
}

// Where lanes lie that are no neighbours; null where they are.
Value LoopLowering::offsets_of(const Buffer& buffer, int vector_dim, int64_t count, const LaneChoice& choice) {
  if (choice.offsets) return choice.offsets;
  if (vector_dim < 0 || is_contiguous_along(buffer, vector_dim)) return {};
  int64_t stride = stride_along(buffer, vector_dim);
  const bool known = !ShapedType::isDynamic(stride);
  if (known) stride += planted(PlantedBug::swapped_stride);
  SmallVector<int64_t> offsets = multiples(known ? stride : 1, count);
  Value lanes =
      constant(DenseIntElementsAttr::get(VectorType::get(count, b_.getI64Type()), offsets), current_->getLoc());
  return known ? lanes : offsets_along(lanes, stride_of(buffer, vector_dim));
}

static int64_t count_of(ArrayRef<Lanes> at, const LaneChoice& choice) {
  if (choice.offsets) return cast<VectorType>(choice.offsets.getType()).getNumElements();
  int vector_dim = vector_dim_of(at);
  return vector_dim >= 0 ? at[vector_dim].count : 1;
}

Value LoopLowering::read(const Buffer& buffer, ArrayRef<Lanes> at, const LaneChoice& choice) {
  Location loc = current_->getLoc();
  Type stored = cast<MemRefType>(buffer.memref.getType()).getElementType();
  SmallVector<Value> indices = memref_indices(buffer, at), operands = indices;
  operands.push_back(buffer.memref);
  int64_t count = count_of(at, choice);
  bool one_lane = count == 1 && !choice.offsets;
  if (one_lane && !choice.existing && !choice.mask)
    return convert(make<memref::LoadOp>(loc, operands, buffer.memref, indices), buffer.element);
  // A lane read under a condition is a vector of one, so that no branch is needed.
  auto type = VectorType::get(count, stored);
  int vector_dim = vector_dim_of(at);
  Value offsets = offsets_of(buffer, vector_dim, count, choice);
  // Scratch has room for a whole vector of neighbours at its end, and none for lanes that lie further apart.
  LaneChoice chosen = choice;
  if (offsets && vector_dim >= 0 && !chosen.existing) chosen.existing = at[vector_dim].existing;
  Value mask = mask_of(chosen, count);
  Value zero = constant(b_.getZeroAttr(type), loc), loaded;
  if (mask) operands.push_back(mask);
  if (offsets) {
    operands.push_back(offsets);
    if (!mask) mask = constant(DenseElementsAttr::get(VectorType::get(count, b_.getI1Type()), true), loc);
    loaded = make<vector::GatherOp>(loc, operands, type, buffer.memref, indices, offsets, mask, zero);
  } else {
    loaded = mask ? make<vector::MaskedLoadOp>(loc, operands, type, buffer.memref, indices, mask, zero)
                  : make<vector::LoadOp>(loc, operands, type, buffer.memref, indices);
  }
  if (one_lane) loaded = make<vector::ExtractOp>(loc, {loaded}, loaded, int64_t(0));
  return convert(loaded, buffer.element);
}

void LoopLowering::write(const Buffer& buffer, ArrayRef<Lanes> at, Value value, bool streaming,
                         const LaneChoice& choice) {
  Location loc = current_->getLoc();
  Type stored = cast<MemRefType>(buffer.memref.getType()).getElementType();
  SmallVector<Value> indices = memref_indices(buffer, at);
  int vector_dim = vector_dim_of(at);
  int64_t count = count_of(at, choice);
  value = convert(value, stored);
  LaneChoice chosen = choice;
  if (vector_dim >= 0 && !chosen.existing) chosen.existing = at[vector_dim].existing;
  if (planted(PlantedBug::missing_store_mask)) chosen.existing = {};
  Value mask = mask_of(chosen, count), offsets = offsets_of(buffer, vector_dim, count, chosen);
  restore_innermost();
  if (count == 1 && !offsets && !mask) {
    b_.create<memref::StoreOp>(loc, value, buffer.memref, indices);
    return;
  }
  auto type = VectorType::get(count, stored);
  if (!isa<VectorType>(value.getType())) value = make<vector::BroadcastOp>(loc, {value}, type, value);
  if (offsets && !mask) mask = constant(DenseElementsAttr::get(VectorType::get(count, b_.getI1Type()), true), loc);
  restore_innermost();
  if (offsets) {
    b_.create<vector::ScatterOp>(loc, buffer.memref, indices, offsets, mask, value);
  } else if (mask) {
    b_.create<vector::MaskedStoreOp>(loc, buffer.memref, indices, mask, value);
  } else {
    auto store = b_.create<vector::StoreOp>(loc, value, buffer.memref, indices);
    if (streaming) store.setNontemporal(true);
  }
}

} // namespace tilewright::cpu
