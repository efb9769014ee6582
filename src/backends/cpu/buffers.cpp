// Scratch buffers and arrays as memrefs of the loops stage.
#include "backends/cpu/loop_lowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright::cpu {

// Buffers of dots are read and written in whole register tiles, so they have this much room beyond their last row.
static constexpr int64_t kMostTileRows = 32;
// Rows a multiple of this many bytes apart fall into few sets of the first-level cache; such rows get a line more.
static constexpr int64_t kAliasingBytes = 1024;
static constexpr int64_t kLineBytes = 64;

Type compute_type(Type element) {
  return element.isBF16() || element.isF16() ? Float32Type::get(element.getContext()) : element;
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

// The array's dimensions by stride, the largest first, so that a dimension of stride 1 comes last.
static SmallVector<unsigned> order_of(ArrayType type) {
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < type.rank(); ++dim) order.push_back(dim);
  SmallVector<int64_t> sizes = type.sizes();
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    // A dimension of size 1 is never stepped along: its stride says nothing.
    if ((sizes[a] == 1) != (sizes[b] == 1)) return sizes[a] == 1;
    return sizes[a] != 1 && type.stride(a) > type.stride(b);
  });
  return order;
}

MemRefType LoopLowering::array_memref(ArrayType type) {
  Type element = type.getElementType().isInteger(1) ? IntegerType::get(type.getContext(), 8) : type.getElementType();
  SmallVector<int64_t> shape, strides, sizes = type.sizes();
  for (unsigned dim : order_of(type)) {
    shape.push_back(sizes[dim]);
    strides.push_back(type.stride(dim));
  }
  return MemRefType::get(shape, element, StridedLayoutAttr::get(type.getContext(), 0, strides));
}

Buffer LoopLowering::array_buffer(Value memref, ArrayType type) {
  return {memref, order_of(type), type.getElementType()};
}

SmallVector<Value> LoopLowering::memref_indices(const Buffer& buffer, ArrayRef<Lanes> at) {
  return llvm::map_to_vector(buffer.order, [&](unsigned dim) { return at[dim].begin; });
}

static int vector_dim_of(ArrayRef<Lanes> at) {
  for (auto [dim, lanes] : llvm::enumerate(at))
    if (lanes.count > 1) return dim;
  return -1;
}

// Elements between neighbours along `dim` of what the buffer holds.
static int64_t stride_along(const Buffer& buffer, unsigned dim) {
  auto type = cast<MemRefType>(buffer.memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(getStridesAndOffset(type, strides, offset))) llvm_unreachable("memrefs of the loops stage are strided");
  return strides[llvm::find(buffer.order, dim) - buffer.order.begin()];
}

static bool is_contiguous_along(const Buffer& buffer, unsigned dim) {
  return buffer.order.back() == dim && stride_along(buffer, dim) == 1;
}

static SmallVector<int64_t> multiples(int64_t stride, int64_t count) {
  SmallVector<int64_t> offsets;
  for (int64_t lane = 0; lane < count; ++lane) offsets.push_back(lane * stride);
  return offsets;
}

Value LoopLowering::read(const Buffer& buffer, ArrayRef<Lanes> at, Value existing) {
  Location loc = current_->getLoc();
  Type stored = cast<MemRefType>(buffer.memref.getType()).getElementType();
  SmallVector<Value> indices = memref_indices(buffer, at), operands = indices;
  operands.push_back(buffer.memref);
  int vector_dim = vector_dim_of(at);
  // A lane read under a condition is a vector of one, so that no branch is needed.
  int64_t count = vector_dim >= 0 ? at[vector_dim].count : 1;
  Value loaded;
  if (vector_dim < 0 && !existing) {
    loaded = make<memref::LoadOp>(loc, operands, buffer.memref, indices);
    return convert(loaded, buffer.element);
  }
  auto type = VectorType::get(count, stored);
  auto mask_type = VectorType::get(count, b_.getI1Type());
  Value mask;
  if (existing) {
    mask = make<vector::CreateMaskOp>(loc, {existing}, mask_type, ValueRange{existing});
    operands.push_back(mask);
  }
  Value zero = constant(b_.getZeroAttr(type), loc);
  if (vector_dim < 0 || is_contiguous_along(buffer, vector_dim)) {
    loaded = mask ? make<vector::MaskedLoadOp>(loc, operands, type, buffer.memref, indices, mask, zero)
                  : make<vector::LoadOp>(loc, operands, type, buffer.memref, indices);
  } else {
    if (!mask) mask = constant(DenseElementsAttr::get(mask_type, true), loc);
    SmallVector<int64_t> offsets = multiples(stride_along(buffer, vector_dim), count);
    Value offset = constant(DenseIntElementsAttr::get(VectorType::get(count, b_.getI64Type()), offsets), loc);
    loaded = make<vector::GatherOp>(loc, operands, type, buffer.memref, indices, offset, mask, zero);
  }
  if (vector_dim < 0) loaded = make<vector::ExtractOp>(loc, {loaded}, loaded, int64_t(0));
  return convert(loaded, buffer.element);
}

void LoopLowering::write(const Buffer& buffer, ArrayRef<Lanes> at, Value value, bool streaming) {
  Location loc = current_->getLoc();
  Type stored = cast<MemRefType>(buffer.memref.getType()).getElementType();
  SmallVector<Value> indices = memref_indices(buffer, at);
  int vector_dim = vector_dim_of(at);
  value = convert(value, stored);
  restore_innermost();
  if (vector_dim < 0) {
    b_.create<memref::StoreOp>(loc, value, buffer.memref, indices);
    return;
  }
  const Lanes& lanes = at[vector_dim];
  value = broadcast_to(value, lanes.count);
  auto mask_type = VectorType::get(lanes.count, b_.getI1Type());
  Value mask = lanes.existing ? make<vector::CreateMaskOp>(loc, {lanes.existing}, mask_type, ValueRange{lanes.existing})
                              : Value();
  restore_innermost();
  if (is_contiguous_along(buffer, vector_dim)) {
    if (mask) {
      b_.create<vector::MaskedStoreOp>(loc, buffer.memref, indices, mask, value);
      return;
    }
    auto store = b_.create<vector::StoreOp>(loc, value, buffer.memref, indices);
    if (streaming) store.setNontemporal(true);
    return;
  }
  if (!mask) mask = constant(DenseElementsAttr::get(mask_type, true), loc);
  SmallVector<int64_t> offsets = multiples(stride_along(buffer, vector_dim), lanes.count);
  Value offset = constant(DenseIntElementsAttr::get(VectorType::get(lanes.count, b_.getI64Type()), offsets), loc);
  b_.create<vector::ScatterOp>(loc, buffer.memref, indices, offset, mask, value);
}

} // namespace tilewright::cpu
