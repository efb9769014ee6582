// Matrix products. All are one tile.dot into an accumulator of the wider type.
#include "frontend/builder.h"

#include "llvm/ADT/STLExtras.h"

#include <string_view>

using namespace mlir;

namespace tilewright {

void Builder::check_matmul_operands(const char* name, const Term& a, const Term& b, std::optional<int64_t> rank) const {
  for (const Term* term : {&a, &b}) {
    int64_t found = this->rank(*term);
    if (rank && found != *rank) fail("{} takes values of rank {}, found {}", name, *rank, describe(*term));
    if (found < 2) fail("{} takes values of rank 2 or more, found {}", name, describe(*term));
  }
  DType left = dtype(a), right = dtype(b);
  bool is_dot = std::string_view(name) == "tw::dot"; // which alone gives another dtype than its operands'
  bool are_int8 = left == DType::int8 && right == DType::int8;
  if ((!is_floating_point(left) || !is_floating_point(right)) && !(is_dot && are_int8))
    fail("{} takes floating point{}, found {} and {}; convert integers with .to(tw::float32)", name,
         is_dot ? " or int8" : "", describe(a), describe(b));
  if (left != right)
    fail("{} takes operands of one dtype, found {} and {}; convert one with .to(tw::{})", name, describe(a),
         describe(b), tilewright::name(promote_types(left, right)));
  SmallVector<Dim> rows = dims_of(a.value), columns = dims_of(b.value);
  Dim inner = rows.back(), other = columns[columns.size() - 2];
  if (inner == other) return;
  bool tiles = !dimensions.value(inner) || !dimensions.value(other);
  fail("the inner dimensions of {} do not agree: {} times {}{}", name, describe(a), describe(b),
       tiles ? ". Index both with the same tile along the dimension that is summed over" : "");
}

// acc + a @ b with batches broadcast; without acc, from 0. The result has acc_dtype.
Value Builder::product(const char* name, const Term& a, const Term& b, const Term* acc, DType acc_dtype) {
  SmallVector<Dim> a_dims = dims_of(a.value), b_dims = dims_of(b.value);
  // The batch dimensions broadcast as those of two values without the matrix dimensions do.
  SmallVector<Dim> batch;
  for (ArrayRef<Dim> dims : {ArrayRef<Dim>(a_dims).drop_back(2), ArrayRef<Dim>(b_dims).drop_back(2)}) {
    while (batch.size() < dims.size()) batch.insert(batch.begin(), Dim(1));
    for (auto [joint, dim] : llvm::zip(MutableArrayRef(batch).take_back(dims.size()), dims)) {
      if (joint != dim && !joint.is_one() && !dim.is_one())
        fail("the batch dimensions of {} do not agree: {} and {}", name, describe(a), describe(b));
      if (joint.is_one()) joint = dim;
    }
  }
  auto with_batch = [&](Dim rows, Dim columns) {
    SmallVector<Dim> dims = batch;
    dims.append({rows, columns});
    return dims;
  };
  Dim inner = a_dims.back();
  SmallVector<Dim> dims = with_batch(a_dims[a_dims.size() - 2], b_dims.back());
  auto without_missing = [&](Value value) {
    return filled(value, scalar(Term::integer_literal(0), element_type(value.getType())));
  };
  Value left = broadcast(without_missing(a.value), with_batch(dims[dims.size() - 2], inner));
  Value right = broadcast(without_missing(b.value), with_batch(inner, dims.back()));

  DType wide = is_floating_point(acc_dtype) ? accumulation_dtype(acc_dtype) : acc_dtype;
  Type wide_element = element_type_of(wide, context());
  Value start;
  if (acc) {
    Value shape =
        ir.create<SplatOp>(location_, value_type(wide_element, dims), scalar(Term::integer_literal(0), wide_element));
    if (common_dims({*acc, shape}, name) != dims)
      fail("{} adds {} to a product of shape {}: it does not broadcast to it", name, describe(*acc),
           dimensions.describe(dims));
    start = broadcast(scalar(*acc, wide_element), dims);
  } else {
    start =
        ir.create<SplatOp>(location_, value_type(wide_element, dims), scalar(Term::integer_literal(0), wide_element));
  }
  return cast(Value(ir.create<DotOp>(location_, start.getType(), left, right, start, Value())), acc_dtype);
}

Value Builder::matmul(const char* name, const Term& a, const Term& b, std::optional<int64_t> rank) {
  check_matmul_operands(name, a, b, rank);
  return product(name, a, b, nullptr, is_float8(dtype(a)) ? DType::float32 : dtype(a));
}

Value Builder::add_matmul(const char* name, const Term& acc, const Term& a, const Term& b,
                          std::optional<int64_t> rank) {
  check_matmul_operands(name, a, b, rank);
  DType own = dtype(a), to = is_number(acc) ? own : dtype(acc);
  if (is_float8(own)) {
    if (is_number(acc)) to = DType::float32;
    if (to != DType::float32)
      fail("{} adds {} to a product of {}; it takes float32", name, describe(acc), tilewright::name(own));
    return product(name, a, b, &acc, to);
  }
  if (own == DType::int8) {
    if (is_number(acc)) to = DType::int32;
    if (to != DType::int32) fail("{} adds {} to a product of int8; it takes int32", name, describe(acc));
  } else if (to != own && !(to == DType::float32 && is_16_bit_float(own))) {
    fail("{} adds {} to a product of {}; it takes that dtype{}", name, describe(acc), tilewright::name(own),
         is_16_bit_float(own) ? " or float32" : "");
  }
  return product(name, a, b, &acc, to);
}

Value Builder::dot(const Term& a, const Term& b) {
  check_matmul_operands("tw::dot", a, b, std::nullopt);
  return product("tw::dot", a, b, nullptr, dtype(a) == DType::int8 ? DType::int32 : accumulation_dtype(dtype(a)));
}

} // namespace tilewright
