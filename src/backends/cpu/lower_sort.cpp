// tile.sort: rows of keys are laid out in scratch, and the runtime sorts each of them.
#include "backends/cpu/loop_lowering.h"

using namespace mlir;

namespace tilewright::cpu {

void LoopLowering::lower_sort(SortOp sort) {
  auto type = cast<RankedTensorType>(sort.getSource().getType());
  const unsigned along = sort.getDim(), rank = type.getRank();
  const int64_t count = type.getDimSize(along);
  // The dimension that is sorted comes last, so that a row lies side by side. Rows hold whole vectors.
  SmallVector<unsigned> order;
  SmallVector<int64_t> shape;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != along) order.push_back(dim), shape.push_back(type.getDimSize(dim));
  order.push_back(along);
  shape.push_back(llvm::alignTo(std::max<int64_t>(count, 1), target_.lanes(32)));
  auto make_rows = [&](Type element) {
    Buffer buffer = make_scratch(shape, element);
    buffer.order = order;
    return buffer;
  };
  Buffer keys = make_rows(type.getElementType()), places = make_rows(b_.getI64Type());

  SmallVector<NestDim> dims = dims_to_walk(sort.getSource());
  int vector_dim = choose_vector_dim(sort.getSource(), SmallVector<bool>(rank, true), along);
  int64_t lanes = vector_dim >= 0 ? native_lanes(type.getElementType(), dims[vector_dim].extent) : 1;
  nest(dims, vector_dim, lanes, [&](ArrayRef<Lanes> at) { write(keys, at, evaluate(sort.getSource(), at)); });

  dims[along] = {1, {1, {}}};
  nest(dims, -1, 1, [&](ArrayRef<Lanes> at) {
    restore_innermost();
    b_.create<SortLanesOp>(sort.getLoc(), keys.memref, places.memref, memref_indices(keys, at),
                           memref_indices(places, at), count, sort.getDescending());
  });
  buffers_[sort.getResult()] = places;
}

} // namespace tilewright::cpu
