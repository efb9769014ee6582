// The functions of tilewright/ops.h, and the methods of tw::Value that are the same by another name.
#include "frontend/recording.h"

#include "support/error.h"

namespace tilewright {

using detail::Recording;

// Runs `build` on the builder at the user's line, with the operands as terms, and makes its result a value.
template <class Build, class... Operands>
static Value record(const SourceLocation& location, const char* what, Build&& build, const Operands&... operands) {
  Recording& recording = Recording::require(location, what);
  Builder& builder = recording.device(location, what);
  Term terms[] = {recording.term(operands)...}; // in order
  return Value(recording.new_variable(build(builder, terms)));
}

#define TILEWRIGHT_UNARY(name, ...)                                                                                    \
  Value name(const Operand& x, SourceLocation location) {                                                              \
    return record(location, spelling(Unary::name), [](Builder& b, Term* t) { return b.unary(Unary::name, t[0]); }, x); \
  }                                                                                                                    \
  Value Value::name(SourceLocation location) const { return tilewright::name(Operand(*this, location), location); }
#include "tilewright/pointwise_functions.inc"

Value gelu(const Operand& x, const char* approximate, SourceLocation location) {
  std::string_view how = approximate;
  if (how != "none" && how != "tanh")
    fail(location, "tw::gelu knows the approximations \"none\" and \"tanh\", found \"{}\"", how);
  return record(location, "tw::gelu", [&](Builder& b, Term* t) { return b.gelu(t[0], how == "tanh"); }, x);
}

#define TILEWRIGHT_BINARY(name)                                                                                        \
  Value name(const Operand& a, const Operand& b, SourceLocation location) {                                            \
    return record(                                                                                                     \
        location, spelling(Binary::name),                                                                              \
        [](Builder& builder, Term* t) { return builder.binary(Binary::name, t[0], t[1]); }, a, b);                     \
  }
TILEWRIGHT_BINARY(maximum)
TILEWRIGHT_BINARY(minimum)
TILEWRIGHT_BINARY(pow)
TILEWRIGHT_BINARY(remainder)
TILEWRIGHT_BINARY(fmod)
TILEWRIGHT_BINARY(floor_divide)
TILEWRIGHT_BINARY(atan2)
TILEWRIGHT_BINARY(logical_and)
TILEWRIGHT_BINARY(logical_or)
#undef TILEWRIGHT_BINARY

Value clamp(const Operand& x, const Operand& low, const Operand& high, SourceLocation location) {
  return record(location, "tw::clamp", [](Builder& b, Term* t) { return b.clamp(t[0], t[1], t[2]); }, x, low, high);
}

Value where(const Operand& condition, const Operand& a, const Operand& b, SourceLocation location) {
  return record(
      location, "tw::where", [](Builder& builder, Term* t) { return builder.where_op(t[0], t[1], t[2]); }, condition, a,
      b);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static llvm::ArrayRef<int> list_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

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
