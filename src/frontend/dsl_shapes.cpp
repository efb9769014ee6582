// The functions of tilewright/shapes.h, and the methods of tw::Value by the same names.
#include "frontend/dsl_record.h"

#include "tilewright/shapes.h"

#include "llvm/ADT/STLExtras.h"

namespace tilewright {

using detail::list_of;
using detail::record;
using detail::Recording;

//===----------------------------------------------------------------------===//
// Reshaping and repeating
//===----------------------------------------------------------------------===//

static Value reshaped(const char* what, const Operand& x, const Shape& shape, const SourceLocation& location) {
  Recording& recording = Recording::require(location, what);
  return record(
      location, what,
      [&](Builder& b, Term* t) { return b.reshape(what, t[0], recording.shape(shape, /*may_be_open=*/true).dims); }, x);
}
Value reshape(const Operand& x, const Shape& shape, SourceLocation location) {
  return reshaped("tw::reshape", x, shape, location);
}
Value view(const Operand& x, const Shape& shape, SourceLocation location) {
  return reshaped("tw::view", x, shape, location);
}
Value flatten(const Operand& x, int first_dim, int last_dim, SourceLocation location) {
  return record(location, "tw::flatten", [&](Builder& b, Term* t) { return b.flatten(t[0], first_dim, last_dim); }, x);
}
Value squeeze(const Operand& x, const Dims& dims, SourceLocation location) {
  return record(location, "tw::squeeze", [&](Builder& b, Term* t) { return b.squeeze(t[0], list_of(dims)); }, x);
}

static Value expanded(const char* what, const Operand& x, const Shape& shape, const SourceLocation& location) {
  Recording& recording = Recording::require(location, what);
  return record(
      location, what,
      [&](Builder& b, Term* t) {
        Recording::ShapeParts parts = recording.shape(shape, /*may_be_open=*/true);
        return b.expand(what, t[0], parts.dims, parts.tiles);
      },
      x);
}
Value expand(const Operand& x, const Shape& shape, SourceLocation location) {
  return expanded("tw::expand", x, shape, location);
}
Value broadcast_to(const Operand& x, const Shape& shape, SourceLocation location) {
  return expanded("tw::broadcast_to", x, shape, location);
}
Value expand_as(const Operand& x, const Operand& other, SourceLocation location) {
  Recording& recording = Recording::require(location, "tw::expand_as");
  return record(
      location, "tw::expand_as",
      [&](Builder& b, Term* t) {
        Recording::ShapeParts parts;
        if (!t[1].is_literal()) parts = recording.shape_like(t[1].value);
        return b.expand("tw::expand_as", t[0], parts.dims, parts.tiles);
      },
      x, other);
}

Value Value::reshape(const Shape& shape, SourceLocation location) const {
  return tilewright::reshape(Operand(*this, location), shape, location);
}
Value Value::view(const Shape& shape, SourceLocation location) const {
  return tilewright::view(Operand(*this, location), shape, location);
}
Value Value::flatten(int first_dim, int last_dim, SourceLocation location) const {
  return tilewright::flatten(Operand(*this, location), first_dim, last_dim, location);
}
Value Value::squeeze(const Dims& dims, SourceLocation location) const {
  return tilewright::squeeze(Operand(*this, location), dims, location);
}
Value Value::expand(const Shape& shape, SourceLocation location) const {
  return tilewright::expand(Operand(*this, location), shape, location);
}
Value Value::broadcast_to(const Shape& shape, SourceLocation location) const {
  return tilewright::broadcast_to(Operand(*this, location), shape, location);
}
Value Value::expand_as(const Operand& other, SourceLocation location) const {
  return tilewright::expand_as(Operand(*this, location), other, location);
}
Value Value::T(SourceLocation location) const { return t(location); }

//===----------------------------------------------------------------------===//
// Joining and taking apart
//===----------------------------------------------------------------------===//

template <class Build>
static Value joined(const char* what, const ValueList& list, const SourceLocation& location, Build&& build) {
  Recording& recording = Recording::require(location, what);
  Builder& builder = recording.device(location, what);
  llvm::SmallVector<Term> terms;
  for (const Value& value : list.values()) terms.push_back(recording.read(value.variable()));
  return Value(recording.new_variable(build(builder, terms)));
}
Value stack(const ValueList& values, int dim, SourceLocation location) {
  return joined("tw::stack", values, location,
                [&](Builder& b, llvm::ArrayRef<Term> terms) { return b.stack("tw::stack", terms, dim); });
}
Value cat(const ValueList& values, int dim, SourceLocation location) {
  return joined("tw::cat", values, location, [&](Builder& b, llvm::ArrayRef<Term> terms) { return b.cat(terms, dim); });
}
Value join(const Operand& a, const Operand& b, SourceLocation location) {
  return record(
      location, "tw::join", [](Builder& builder, Term* t) { return builder.stack("tw::join", {t[0], t[1]}, -1); }, a,
      b);
}

// Pieces of `size` along a dimension.
static std::vector<Value> pieces(const char* what, const Operand& x, int dim, const SourceLocation& location,
                                 llvm::function_ref<int64_t(Builder&, int64_t length)> size_of) {
  Recording& recording = Recording::require(location, what);
  Builder& builder = recording.device(location, what);
  Term term = recording.term(x);
  if (builder.rank(term) == 0)
    builder.fail("{} takes a value of rank 1 or more, found {}", what, builder.describe(term));
  int64_t along = builder.dim_of(term, dim), length = builder.whole_length(what, term, along);
  int64_t size = size_of(builder, length);
  std::vector<Value> results;
  for (int64_t begin = 0; begin == 0 || begin < length; begin += size) {
    mlir::Value piece = builder.piece(what, term, along, begin, std::min(size, length - begin));
    results.push_back(Value(recording.new_variable(piece)));
  }
  return results;
}

std::vector<Value> split(const Operand& x, const Size& size, int dim, SourceLocation location) {
  return pieces("tw::split", x, dim, location, [&](Builder& builder, int64_t) {
    if (size.value() < 1) builder.fail("tw::split in pieces of {}", size.value());
    return size.value();
  });
}
std::vector<Value> chunk(const Operand& x, const Size& count, int dim, SourceLocation location) {
  return pieces("tw::chunk", x, dim, location, [&](Builder& builder, int64_t length) {
    if (count.value() < 1) builder.fail("tw::chunk in {} pieces", count.value());
    return std::max<int64_t>((length + count.value() - 1) / count.value(), 1);
  });
}

std::pair<Value, Value> split(const Operand& x, SourceLocation location) {
  return detail::record_pair(
      location, "tw::split",
      [](Builder& b, const Term& t) {
        int64_t last = b.rank(t) - 1;
        if (last < 0 || b.whole_length("tw::split", t, last) != 2)
          b.fail("tw::split(x) takes a value whose last dimension is 2, found {}; tw::split(x, size, dim) cuts any",
                 b.describe(t));
        auto half = [&](int64_t begin) {
          mlir::Value piece = b.piece("tw::split", t, last, begin, 1);
          return b.squeeze(piece, {static_cast<int>(last)});
        };
        return std::pair(half(0), half(1));
      },
      x);
}

Value view(const Operand& x, DType dtype, SourceLocation location) {
  return record(location, "tw::view", [&](Builder& b, Term* t) { return b.bit_view(t[0], dtype); }, x);
}
std::pair<Value, Value> sort(const Operand& x, int dim, bool descending, SourceLocation location) {
  return detail::record_pair(
      location, "tw::sort", [&](Builder& b, const Term& t) { return b.sort("tw::sort", t, dim, descending); }, x);
}
Value argsort(const Operand& x, int dim, bool descending, SourceLocation location) {
  return record(
      location, "tw::argsort", [&](Builder& b, Term* t) { return b.sort("tw::argsort", t[0], dim, descending).second; },
      x);
}
std::pair<Value, Value> topk(const Operand& x, const Size& k, int dim, bool largest, SourceLocation location) {
  return detail::record_pair(
      location, "tw::topk", [&](Builder& b, const Term& t) { return b.topk(t, k.value(), dim, largest); }, x);
}
Value Value::view(DType dtype, SourceLocation location) const {
  return tilewright::view(Operand(*this, location), dtype, location);
}
std::pair<Value, Value> Value::sort(int dim, bool descending, SourceLocation location) const {
  return tilewright::sort(Operand(*this, location), dim, descending, location);
}
Value Value::argsort(int dim, bool descending, SourceLocation location) const {
  return tilewright::argsort(Operand(*this, location), dim, descending, location);
}
std::pair<Value, Value> Value::topk(const Size& k, int dim, bool largest, SourceLocation location) const {
  return tilewright::topk(Operand(*this, location), k, dim, largest, location);
}

Value flip(const Operand& x, const Dims& dims, SourceLocation location) {
  return record(location, "tw::flip", [&](Builder& b, Term* t) { return b.flip(t[0], list_of(dims)); }, x);
}
Value gather(const Operand& x, int dim, const Operand& index, SourceLocation location) {
  return record(location, "tw::gather", [&](Builder& b, Term* t) { return b.gather(t[0], dim, t[1]); }, x, index);
}
Value Value::flip(const Dims& dims, SourceLocation location) const {
  return tilewright::flip(Operand(*this, location), dims, location);
}
Value Value::gather(int dim, const Operand& index, SourceLocation location) const {
  return tilewright::gather(Operand(*this, location), dim, index, location);
}

} // namespace tilewright
