// Sums, means, extrema and softmax.
#include "frontend/builder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright {

int64_t Builder::normal_dim(int dim, int64_t rank) const {
  if (dim < -rank || dim >= rank) fail("there is no dimension {} in a value of rank {}", dim, rank);
  return dim < 0 ? dim + rank : dim;
}

SmallVector<int64_t> Builder::normal_dims(ArrayRef<int> dims, int64_t rank, const char* what) const {
  if (rank == 0) fail("{} takes a value of rank 1 or more, found a scalar", what);
  SmallVector<int64_t> normal;
  for (int dim : dims) {
    normal.push_back(normal_dim(dim, rank));
    if (llvm::is_contained(ArrayRef(normal).drop_back(), normal.back()))
      fail("{} is given dimension {} twice", what, normal.back());
  }
  if (dims.empty()) normal = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  llvm::sort(normal);
  return normal;
}

Value Builder::reduce(Reduction kind, Value value, ArrayRef<int64_t> dims, bool keepdim) {
  SmallVector<Dim> left;
  for (auto [i, dim] : llvm::enumerate(dims_of(value)))
    if (!llvm::is_contained(dims, static_cast<int64_t>(i))) left.push_back(dim);
  Type element = element_type(value.getType());
  Value result =
      ir.create<ReduceOp>(location_, value_type(element, left), kind, value, ValueRange(), dims, ArrayRef<int32_t>());
  if (!keepdim) return result;
  for (int64_t dim : dims) {
    left.insert(left.begin() + dim, Dim(1));
    result = ir.create<ExpandDimsOp>(location_, value_type(element, left), result, dim);
  }
  return result;
}

Value Builder::sum(const Term& x, ArrayRef<int> dims, bool keepdim) {
  SmallVector<int64_t> over = normal_dims(dims, rank(x), "tw::sum");
  DType own = dtype(x), wide = accumulation_dtype(own);
  Value result = reduce(Reduction::Add, cast(x, wide), over, keepdim);
  return cast(result, is_floating_point(own) ? own : wide);
}

Value Builder::mean(const Term& x, ArrayRef<int> dims, bool keepdim) {
  SmallVector<int64_t> over = normal_dims(dims, rank(x), "tw::mean");
  DType own = dtype(x);
  if (!is_floating_point(own))
    fail("tw::mean takes floating point, found {}; convert it with .to(tw::float32)", describe(x));
  DType wide = accumulation_dtype(own);
  Value total = reduce(Reduction::Add, cast(x, wide), over, keepdim);
  Value lanes = ir.create<LaneCountOp>(location_, ir.getIndexType(), x.value, over);
  Value count = splat_like(cast(lanes, wide), total);
  return cast(Value(ir.create<arith::DivFOp>(location_, total, count)), own);
}

Value Builder::extremum(Reduction kind, const Term& x, ArrayRef<int> dims, bool keepdim) {
  const char* what = kind == Reduction::Max ? "tw::amax" : "tw::amin";
  return reduce(kind, x.value, normal_dims(dims, rank(x), what), keepdim);
}

Value Builder::softmax(const Term& x, int dim) {
  int64_t over = normal_dims({dim}, rank(x), "tw::softmax")[0];
  DType own = dtype(x);
  if (!is_floating_point(own))
    fail("tw::softmax takes floating point, found {}; convert it with .to(tw::float32)", describe(x));
  Value value = cast(x, accumulation_dtype(own));
  SmallVector<Dim> dims = dims_of(value);
  Value largest = broadcast(reduce(Reduction::Max, value, over, /*keepdim=*/true), dims);
  Value shifted = ir.create<arith::SubFOp>(location_, value, largest);
  Value powers = ir.create<math::ExpOp>(location_, shifted);
  Value total = broadcast(reduce(Reduction::Add, powers, over, /*keepdim=*/true), dims);
  return cast(Value(ir.create<arith::DivFOp>(location_, powers, total)), own);
}

} // namespace tilewright
