// Operations that move dimensions about.
#include "frontend/builder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright {

Value Builder::permute(const Term& x, ArrayRef<int> dims) {
  int64_t rank = this->rank(x);
  if (static_cast<int64_t>(dims.size()) != rank)
    fail("tw::permute takes each of the {} dimensions of {} once, found {}", rank, describe(x), dims.size());
  SmallVector<int64_t> permutation;
  for (int dim : dims) {
    permutation.push_back(normal_dim(dim, rank));
    if (llvm::is_contained(ArrayRef(permutation).drop_back(), permutation.back()))
      fail("tw::permute is given dimension {} twice", permutation.back());
  }
  return transposed(unify({x}, dtype(x), "tw::permute")[0], permutation);
}

Value Builder::transpose(const Term& x, int dim0, int dim1) {
  int64_t rank = this->rank(x);
  if (rank == 0) fail("tw::transpose takes a value of rank 1 or more, found {}", describe(x));
  auto dims = llvm::to_vector(llvm::seq<int>(0, static_cast<int>(rank)));
  std::swap(dims[normal_dim(dim0, rank)], dims[normal_dim(dim1, rank)]);
  return permute(x, dims);
}

Value Builder::t(const Term& x) {
  int64_t rank = this->rank(x);
  if (rank > 2) fail(".t() takes a value of rank 2 at most, found {}; use .transpose(dim0, dim1)", describe(x));
  return rank < 2 ? unify({x}, dtype(x), ".t()")[0] : transpose(x, 0, 1);
}

Value Builder::unsqueeze(const Term& x, int dim) {
  Value value = unify({x}, dtype(x), "tw::unsqueeze")[0];
  if (value.getType().isIndex()) value = cast(value, DType::int64); // tensors have no elements of type index
  SmallVector<Dim> dims = dims_of(value);
  int64_t at = normal_dim(dim, dims.size() + 1);
  dims.insert(dims.begin() + at, Dim(1));
  return ir.create<ExpandDimsOp>(location_, value_type(element_type(value.getType()), dims), value, at);
}

Value Builder::subscript(const Term& x, ArrayRef<SubscriptTerm> subscripts) {
  using Kind = SubscriptTerm::Kind;
  int64_t kept = llvm::count_if(subscripts, [](const SubscriptTerm& s) { return s.kind == Kind::whole; });
  if (kept > rank(x)) fail("{} subscripts tw::_ for {}", kept, describe(x));
  Value result = unify({x}, dtype(x), "[]")[0];
  int64_t position = 0;
  bool had_ellipsis = false;
  for (const SubscriptTerm& subscript : subscripts) {
    switch (subscript.kind) {
    case Kind::whole: ++position; break;
    case Kind::new_axis: result = unsqueeze(result, static_cast<int>(position++)); break;
    case Kind::ellipsis:
      if (had_ellipsis) fail("tw::ellipsis may stand once among the subscripts");
      had_ellipsis = true;
      position += rank(x) - kept;
      break;
    default:
      fail("a value on the device takes only tw::_, tw::none and tw::ellipsis as subscripts; index the tensor it was "
           "read from");
    }
  }
  return result;
}

} // namespace tilewright
