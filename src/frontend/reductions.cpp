// Reductions whose combiner is known.
#include "frontend/expression.h"
#include "frontend/extrema.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilewright {

int64_t Builder::normal_dim(int dim, int64_t rank) const {
  if (dim < -rank || dim >= rank) {
    if (rank == 0) fail("there is no dimension {} in a scalar", dim);
    fail("there is no dimension {} in a value of rank {}; they go from {} to {}", dim, rank, -rank, rank - 1);
  }
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
  if (!jagged_.empty()) value = filled(value, constant(neutral_element(kind, element)));
  Value result =
      ir.create<ReduceOp>(location_, value_type(element, left), kind, value, ValueRange(), dims, ArrayRef<int32_t>());
  return keepdim ? keep_dims(result, dims) : result;
}

Value Builder::floating(const char* name, const Term& x) {
  DType own = dtype(x);
  if (!is_floating_point(own))
    fail("{} takes floating point, found {}; convert it with .to(tw::float32)", name, describe(x));
  return cast(x, accumulation_dtype(own));
}

Value Builder::sum(const Term& given, ArrayRef<int> dims, bool keepdim) {
  const Term x = widened(given);
  SmallVector<int64_t> over = normal_dims(dims, rank(x), "tw::sum");
  DType own = dtype(x), wide = accumulation_dtype(own);
  Value result = reduce(Reduction::Add, cast(x, wide), over, keepdim);
  return cast(result, is_floating_point(own) ? own : wide);
}

Value Builder::prod(const Term& given, ArrayRef<int> dims, bool keepdim) {
  const Term x = widened(given);
  SmallVector<int64_t> over = normal_dims(dims, rank(x), "tw::prod");
  DType own = dtype(x), wide = accumulation_dtype(own);
  Value result = reduce(Reduction::Mul, cast(x, wide), over, keepdim);
  return cast(result, is_floating_point(own) ? own : wide);
}

Value Builder::any_or_all(Reduction kind, const Term& x, ArrayRef<int> dims, bool keepdim) {
  const char* name = kind == Reduction::Or ? "tw::any" : "tw::all";
  return reduce(kind, cast(x, DType::boolean), normal_dims(dims, rank(x), name), keepdim);
}

Value Builder::count_nonzero(const Term& x, ArrayRef<int> dims, bool keepdim) {
  SmallVector<int64_t> over = normal_dims(dims, rank(x), "tw::count_nonzero");
  return reduce(Reduction::Add, cast(cast(x, DType::boolean), DType::int64), over, keepdim);
}

void require_elements(Builder& builder, const char* name, const Term& x, ArrayRef<int64_t> dims) {
  for (int64_t dim : dims)
    if (builder.dimensions.value(dims_of(x.value)[dim]) == 0)
      builder.fail("{} along dimension {} of {}, which has no elements there; a plain if on the size leaves it out",
                   name, dim, builder.describe(x));
}

Value Builder::extremum(Reduction kind, const Term& x, ArrayRef<int> dims, bool keepdim) {
  if (is_storage_dtype(dtype(x))) return cast(extremum(kind, widened(x), dims, keepdim), dtype(x));
  const char* what = kind == Reduction::Max ? "tw::amax" : "tw::amin";
  SmallVector<int64_t> over = normal_dims(dims, rank(x), what);
  require_elements(*this, what, x, over);
  return reduce(kind, x.value, over, keepdim);
}

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

// The number of lanes that exist, in the shape and type of what was reduced over them.
static Value lane_count(Builder& builder, Value source, ArrayRef<int64_t> dims, Value reduced) {
  if (Value mask = builder.jagged_mask(dims_of(source))) {
    Value ones = builder.cast(mask, device_dtype(element_type(reduced.getType())));
    bool keepdim = dims_of(reduced).size() == dims_of(source).size();
    return builder.reduce(Reduction::Add, ones, dims, keepdim);
  }
  Value lanes = builder.ir.create<LaneCountOp>(builder.location(), builder.ir.getIndexType(), source, dims);
  Value count = builder.cast(lanes, device_dtype(element_type(reduced.getType())));
  return builder.broadcast(count, dims_of(reduced));
}

Value Builder::mean(const Term& given, ArrayRef<int> dims, bool keepdim) {
  const Term x = widened(given);
  SmallVector<int64_t> over = normal_dims(dims, rank(x), "tw::mean");
  Value total = reduce(Reduction::Add, floating("tw::mean", x), over, keepdim);
  Value count = lane_count(*this, x.value, over, total);
  return cast(Value(ir.create<arith::DivFOp>(location_, total, count)), dtype(x));
}

// What squares are added up in: with twice the digits and the range of float32, so that all that is rounded is the
// result, as PyTorch does it. Those of float16 have both in float32; for those of float64 there is nothing wider.
static DType dtype_of_squares(DType dtype) { return dtype == DType::float16 ? DType::float32 : DType::float64; }

std::pair<Value, Value> Builder::variance(const char* name, const Term& given, ArrayRef<int> dims, double correction,
                                          bool keepdim, bool root) {
  const Term x = widened(given);
  SmallVector<int64_t> over = normal_dims(dims, rank(x), name);
  DType own = dtype(x), wide = dtype_of_squares(own);
  if (!is_floating_point(own)) floating(name, x); // refuses it
  Value value = cast(x, wide);
  auto summed = [&](Expression e, bool keep) { return Expression{this, reduce(Reduction::Add, e.value, over, keep)}; };
  // Two passes: the mean first, so that nothing cancels.
  Expression total = summed({this, value}, false);
  Expression mean = total / Expression{this, lane_count(*this, value, over, total.value)};
  Value kept_mean = keep_dims(mean.value, over);
  Expression distance = Expression{this, value} - Expression{this, broadcast(kept_mean, dims_of(value))};
  Expression squares = summed(distance * distance, keepdim);
  Expression count{this, lane_count(*this, value, over, squares.value)};
  if (wide == accumulation_dtype(own)) {
    // The mean is rounded. What its error adds to the squares is known from the distances, whose sum would be 0 (Chan,
    // Golub and LeVeque, "Algorithms for computing the sample variance", 1983, equation 1.7).
    Expression rest = summed(distance, keepdim);
    Expression excess = rounded(rest * rest) / count;
    Expression corrected = maximum(squares - excess, 0.0);
    squares = select(excess == std::numeric_limits<double>::infinity(), squares, corrected);
  }
  Expression variance = squares / maximum(count - correction, 0.0);
  return {cast((root ? sqrt(variance) : variance).value, own), cast(keepdim ? kept_mean : mean.value, own)};
}

Value Builder::norm(const Term& given, double p, ArrayRef<int> dims, bool keepdim) {
  const Term x = widened(given);
  SmallVector<int64_t> over = normal_dims(dims, rank(x), "tw::norm");
  DType own = dtype(x);
  Expression value{this, floating("tw::norm", x)};
  auto reduced = [&](Reduction kind, Expression e) { return Expression{this, reduce(kind, e.value, over, keepdim)}; };
  auto power = [&](Expression e, double exponent) {
    return Expression{this, pointwise(Pointwise::pow, {e.value, Term::real_literal(exponent)})};
  };
  bool of_one = llvm::all_of(over, [&](int64_t dim) { return dims_of(value.value)[dim].is_one(); });
  if (std::isinf(p)) require_elements(*this, "tw::norm", x, over);
  Expression result = value;
  if (std::isinf(p))
    result = reduced(p > 0 ? Reduction::Max : Reduction::Min, abs(value));
  else if (p == 0)
    result = reduced(Reduction::Add, Expression{this, cast((value != 0.0).value, device_dtype(value.element()))});
  else if (p == 1 || of_one) // no power of one number is out of range
    result = reduced(Reduction::Add, abs(value));
  else if (p == 2)
    result = sqrt(reduced(Reduction::Add, value * value));
  else
    result = power(reduced(Reduction::Add, power(abs(value), p)), 1 / p);
  return cast(result.value, own);
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

Value Builder::softmax(const Term& given, int dim) {
  const Term x = widened(given);
  int64_t over = normal_dims({dim}, rank(x), "tw::softmax")[0];
  Expression value{this, floating("tw::softmax", x)};
  SmallVector<Dim> dims = dims_of(value.value);
  auto everywhere = [&](Reduction kind, Expression e) {
    return Expression{this, broadcast(reduce(kind, e.value, over, /*keepdim=*/true), dims)};
  };
  Expression powers = exp(value - everywhere(Reduction::Max, value));
  return cast((powers / everywhere(Reduction::Add, powers)).value, dtype(x));
}

Value Builder::log_softmax(const Term& given, int dim) {
  const Term x = widened(given);
  int64_t over = normal_dims({dim}, rank(x), "tw::log_softmax")[0];
  Expression value{this, floating("tw::log_softmax", x)};
  SmallVector<Dim> dims = dims_of(value.value);
  Expression largest{this, broadcast(reduce(Reduction::Max, value.value, over, /*keepdim=*/true), dims)};
  Expression shifted = value - largest;
  Expression total{this, reduce(Reduction::Add, exp(shifted).value, over, /*keepdim=*/true)};
  return cast((shifted - Expression{this, broadcast(log(total).value, dims)}).value, dtype(x));
}

Value Builder::logsumexp(const Term& given, ArrayRef<int> dims, bool keepdim) {
  const Term x = widened(given);
  SmallVector<int64_t> over = normal_dims(dims, rank(x), "tw::logsumexp");
  DType own = is_floating_point(dtype(x)) ? dtype(x) : DType::float32;
  Expression value{this, cast(x, accumulation_dtype(own))};
  Expression largest{this, reduce(Reduction::Max, value.value, over, /*keepdim=*/false)};
  // An infinite maximum is taken as 0: infinity less infinity is no number.
  Expression finite = select(abs(largest) == std::numeric_limits<double>::infinity(), 0.0, largest);
  Value kept = keep_dims(finite.value, over);
  Expression powers = exp(value - Expression{this, broadcast(kept, dims_of(value.value))});
  Expression total{this, reduce(Reduction::Add, powers.value, over, /*keepdim=*/false)};
  Value result = cast((log(total) + finite).value, own);
  return keepdim ? keep_dims(result, over) : result;
}

} // namespace tilewright
