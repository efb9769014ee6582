// The functions of tilewright/ops.h, and the methods of tw::Value that are the same by another name.
#include "frontend/dsl_record.h"

#include "support/error.h"

namespace tilewright {

using detail::list_of;
using detail::record;
using detail::Recording;

// The function of operations.inc by that name, of these operands and numbers.
template <class... Operands>
static Value pointwise(Pointwise function, const SourceLocation& location, const Operands&... operands) {
  return record(
      location, spelling(function),
      [&](Builder& builder, Term* terms) { return builder.pointwise(function, {terms, sizeof...(operands)}); },
      operands...);
}

// A function, and the method of its first operand.
#define TILEWRIGHT_UNARY(name, ...)                                                                                    \
  Value name(const Operand& x, SourceLocation location) { return pointwise(Pointwise::name, location, x); }            \
  Value Value::name(SourceLocation location) const { return tilewright::name(Operand(*this, location), location); }
#define TILEWRIGHT_UNARY_1(name, p, ...)                                                                               \
  Value name(const Operand& x, const Operand& p, SourceLocation location) {                                            \
    return pointwise(Pointwise::name, location, x, p);                                                                 \
  }                                                                                                                    \
  Value Value::name(const Operand& p, SourceLocation location) const {                                                 \
    return tilewright::name(Operand(*this, location), p, location);                                                    \
  }
#define TILEWRIGHT_UNARY_2(name, p, p_default, q, ...)                                                                 \
  Value name(const Operand& x, const Operand& p, const Operand& q, SourceLocation location) {                          \
    return pointwise(Pointwise::name, location, x, p, q);                                                              \
  }                                                                                                                    \
  Value Value::name(const Operand& p, const Operand& q, SourceLocation location) const {                               \
    return tilewright::name(Operand(*this, location), p, q, location);                                                 \
  }
#define TILEWRIGHT_BINARY(name, ...)                                                                                   \
  Value name(const Operand& a, const Operand& b, SourceLocation location) {                                            \
    return pointwise(Pointwise::name, location, a, b);                                                                 \
  }                                                                                                                    \
  Value Value::name(const Operand& b, SourceLocation location) const {                                                 \
    return tilewright::name(Operand(*this, location), b, location);                                                    \
  }
#define TILEWRIGHT_TERNARY(name, ...)                                                                                  \
  Value name(const Operand& a, const Operand& b, const Operand& c, SourceLocation location) {                          \
    return pointwise(Pointwise::name, location, a, b, c);                                                              \
  }                                                                                                                    \
  Value Value::name(const Operand& b, const Operand& c, SourceLocation location) const {                               \
    return tilewright::name(Operand(*this, location), b, c, location);                                                 \
  }
#define TILEWRIGHT_TERNARY_1(name, p, ...)                                                                             \
  Value name(const Operand& a, const Operand& b, const Operand& c, const Operand& p, SourceLocation location) {        \
    return pointwise(Pointwise::name, location, a, b, c, p);                                                           \
  }                                                                                                                    \
  Value Value::name(const Operand& b, const Operand& c, const Operand& p, SourceLocation location) const {             \
    return tilewright::name(Operand(*this, location), b, c, p, location);                                              \
  }
#include "tilewright/operations.inc"

Value gelu(const Operand& x, const char* approximate, SourceLocation location) {
  std::string_view how = approximate;
  if (how != "none" && how != "tanh")
    fail(location, "tw::gelu knows the approximations \"none\" and \"tanh\", found \"{}\"", how);
  return pointwise(how == "tanh" ? Pointwise::gelu_tanh : Pointwise::gelu, location, x);
}

Value div(const Operand& a, const Operand& b, const char* rounding_mode, SourceLocation location) {
  std::string_view how = rounding_mode;
  if (how != "floor" && how != "trunc")
    fail(location, "tw::div knows the rounding modes \"floor\" and \"trunc\", found \"{}\"", how);
  return pointwise(how == "floor" ? Pointwise::div_floor : Pointwise::div_trunc, location, a, b);
}

Value nan_to_num(const Operand& x, const Operand& nan, const Operand& posinf, const Operand& neginf,
                 SourceLocation location) {
  return pointwise(Pointwise::nan_to_num_as, location, x, nan, posinf, neginf);
}

Value max(const Value& a, const Value& b, SourceLocation location) {
  return maximum({a, location}, {b, location}, location);
}
Value min(const Value& a, const Value& b, SourceLocation location) {
  return minimum({a, location}, {b, location}, location);
}
Value max(const Value& a, const Size& b, SourceLocation location) {
  return maximum({a, location}, {b, location}, location);
}
Value min(const Value& a, const Size& b, SourceLocation location) {
  return minimum({a, location}, {b, location}, location);
}
Value max(const Size& a, const Value& b, SourceLocation location) { return max(b, a, location); }
Value min(const Size& a, const Value& b, SourceLocation location) { return min(b, a, location); }

Value where(const Operand& condition, const Operand& a, const Operand& b, SourceLocation location) {
  return record(
      location, "tw::where", [](Builder& builder, Term* t) { return builder.where_op(t[0], t[1], t[2]); }, condition, a,
      b);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value sum(const Operand& x, const Dims& dims, bool keepdim, SourceLocation location) {
  return record(location, "tw::sum", [&](Builder& b, Term* t) { return b.sum(t[0], list_of(dims), keepdim); }, x);
}
Value mean(const Operand& x, const Dims& dims, bool keepdim, SourceLocation location) {
  return record(location, "tw::mean", [&](Builder& b, Term* t) { return b.mean(t[0], list_of(dims), keepdim); }, x);
}
Value amax(const Operand& x, const Dims& dims, bool keepdim, SourceLocation location) {
  return record(
      location, "tw::amax",
      [&](Builder& b, Term* t) { return b.extremum(Reduction::Max, t[0], list_of(dims), keepdim); }, x);
}
Value amin(const Operand& x, const Dims& dims, bool keepdim, SourceLocation location) {
  return record(
      location, "tw::amin",
      [&](Builder& b, Term* t) { return b.extremum(Reduction::Min, t[0], list_of(dims), keepdim); }, x);
}
Value softmax(const Operand& x, int dim, SourceLocation location) {
  return record(location, "tw::softmax", [&](Builder& b, Term* t) { return b.softmax(t[0], dim); }, x);
}

Value Value::sum(const Dims& dims, bool keepdim, SourceLocation location) const {
  return tilewright::sum(Operand(*this, location), dims, keepdim, location);
}
Value Value::mean(const Dims& dims, bool keepdim, SourceLocation location) const {
  return tilewright::mean(Operand(*this, location), dims, keepdim, location);
}
Value Value::amax(const Dims& dims, bool keepdim, SourceLocation location) const {
  return tilewright::amax(Operand(*this, location), dims, keepdim, location);
}
Value Value::amin(const Dims& dims, bool keepdim, SourceLocation location) const {
  return tilewright::amin(Operand(*this, location), dims, keepdim, location);
}
Value Value::softmax(int dim, SourceLocation location) const {
  return tilewright::softmax(Operand(*this, location), dim, location);
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

static Value multiply(const char* what, std::optional<int64_t> rank, const Operand& a, const Operand& b,
                      const SourceLocation& location) {
  return record(
      location, what, [&](Builder& builder, Term* t) { return builder.matmul(what, t[0], t[1], rank); }, a, b);
}
static Value multiply_add(const char* what, std::optional<int64_t> rank, const Operand& acc, const Operand& a,
                          const Operand& b, const SourceLocation& location) {
  return record(
      location, what, [&](Builder& builder, Term* t) { return builder.add_matmul(what, t[0], t[1], t[2], rank); }, acc,
      a, b);
}

Value matmul(const Operand& a, const Operand& b, SourceLocation location) {
  return multiply("tw::matmul", std::nullopt, a, b, location);
}
Value mm(const Operand& a, const Operand& b, SourceLocation location) { return multiply("tw::mm", 2, a, b, location); }
Value bmm(const Operand& a, const Operand& b, SourceLocation location) {
  return multiply("tw::bmm", 3, a, b, location);
}
Value addmm(const Operand& acc, const Operand& a, const Operand& b, SourceLocation location) {
  return multiply_add("tw::addmm", 2, acc, a, b, location);
}
Value baddbmm(const Operand& acc, const Operand& a, const Operand& b, SourceLocation location) {
  return multiply_add("tw::baddbmm", 3, acc, a, b, location);
}
Value dot(const Operand& a, const Operand& b, SourceLocation location) {
  return record(location, "tw::dot", [](Builder& builder, Term* t) { return builder.dot(t[0], t[1]); }, a, b);
}
Value dot(const Operand& a, const Operand& b, const Operand& acc, SourceLocation location) {
  return multiply_add("tw::dot", std::nullopt, acc, a, b, location);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value transpose(const Operand& x, int dim0, int dim1, SourceLocation location) {
  return record(location, "tw::transpose", [&](Builder& b, Term* t) { return b.transpose(t[0], dim0, dim1); }, x);
}
Value permute(const Operand& x, const Dims& dims, SourceLocation location) {
  return record(location, "tw::permute", [&](Builder& b, Term* t) { return b.permute(t[0], list_of(dims)); }, x);
}
Value unsqueeze(const Operand& x, int dim, SourceLocation location) {
  return record(location, "tw::unsqueeze", [&](Builder& b, Term* t) { return b.unsqueeze(t[0], dim); }, x);
}

Value Value::transpose(int dim0, int dim1, SourceLocation location) const {
  return tilewright::transpose(Operand(*this, location), dim0, dim1, location);
}
Value Value::permute(const Dims& dims, SourceLocation location) const {
  return tilewright::permute(Operand(*this, location), dims, location);
}
Value Value::unsqueeze(int dim, SourceLocation location) const {
  return tilewright::unsqueeze(Operand(*this, location), dim, location);
}
Value Value::t(SourceLocation location) const {
  return record(location, ".t()", [](Builder& b, Term* t) { return b.t(t[0]); }, Operand(*this, location));
}
Value Value::to(DType dtype, SourceLocation location) const {
  return record(location, ".to()", [&](Builder& b, Term* t) { return b.cast(t[0], dtype); }, Operand(*this, location));
}

//===----------------------------------------------------------------------===//
// New values
//===----------------------------------------------------------------------===//

Shape::Shape(std::initializer_list<ShapeDim> dims) {
  if (dims.size() > kMost) fail("a value has at most {} dimensions, found {}", kMost, dims.size());
  for (const ShapeDim& dim : dims) dims_[count_++] = dim;
}

static Value filled(const char* what, const Shape& shape, const Operand& value, DType dtype,
                    const SourceLocation& location) {
  Recording& recording = Recording::require(location, what);
  if (recording.depth() == 0)
    recording.at(location).fail("{} makes a value on the device, so it belongs into a tile loop; before it, tw::empty "
                                "allocates a tensor, and the loop fills it",
                                what);
  return record(
      location, what,
      [&](Builder& b, Term* t) {
        Recording::ShapeParts parts = recording.shape(shape);
        return b.full(parts.dims, parts.tiles, t[0], dtype);
      },
      value);
}

Value zeros(const Shape& shape, DType dtype, SourceLocation location) {
  return filled("tw::zeros", shape, 0, dtype, location);
}
Value ones(const Shape& shape, DType dtype, SourceLocation location) {
  return filled("tw::ones", shape, 1, dtype, location);
}
Value full(const Shape& shape, const Operand& value, DType dtype, SourceLocation location) {
  return filled("tw::full", shape, value, dtype, location);
}

static Value filled_like(const char* what, const Operand& x, const Operand& value, std::optional<DType> dtype,
                         const SourceLocation& location) {
  Recording& recording = Recording::require(location, what);
  return record(
      location, what,
      [&](Builder& b, Term* t) {
        Recording::ShapeParts parts;
        if (!t[0].is_literal()) parts = recording.shape_like(t[0].value);
        return b.full(parts.dims, parts.tiles, t[1], dtype.value_or(b.dtype(t[0])));
      },
      x, value);
}

Value zeros_like(const Operand& x, SourceLocation location) {
  return filled_like("tw::zeros_like", x, 0, std::nullopt, location);
}
Value zeros_like(const Operand& x, DType dtype, SourceLocation location) {
  return filled_like("tw::zeros_like", x, 0, dtype, location);
}
Value full_like(const Operand& x, const Operand& value, SourceLocation location) {
  return filled_like("tw::full_like", x, value, std::nullopt, location);
}

} // namespace tilewright
