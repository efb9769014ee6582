// The functions of tilewright/creation.h, and the methods of tw::Value by the same names.
#include "frontend/dsl_record.h"

#include "tilewright/creation.h"

namespace tilewright {

using detail::record;
using detail::Recording;

//===----------------------------------------------------------------------===//
// Ranges and filled values
//===----------------------------------------------------------------------===//

Value arange(const Operand& end, DType dtype, SourceLocation location) { return arange(0, end, dtype, location); }

Value arange(const Operand& begin, const Operand& end, DType dtype, SourceLocation location) {
  Recording& recording = Recording::require(location, "tw::arange");
  Builder& builder = recording.device(location, "tw::arange");
  std::optional<Dim> first = recording.length(begin), last = recording.length(end);
  if (!first || !last)
    builder.fail("tw::arange takes numbers, sizes and block sizes, found {}; a range that begins elsewhere is "
                 "tw::arange(n) + begin",
                 builder.describe(recording.term(first ? end : begin)));
  return Value(recording.new_variable(builder.arange(recording.term(begin), *last - *first, dtype)));
}

static Value new_filled(const char* what, const Operand& x, const Shape& shape, const Operand& value,
                        const SourceLocation& location) {
  Recording& recording = Recording::require(location, what);
  return record(
      location, what,
      [&](Builder& b, Term* t) {
        Recording::ShapeParts parts = recording.shape(shape);
        return b.full(parts.dims, parts.tiles, t[1], b.dtype(t[0]));
      },
      x, value);
}
Value new_zeros(const Operand& x, const Shape& shape, SourceLocation location) {
  return new_filled("tw::new_zeros", x, shape, 0, location);
}
Value new_ones(const Operand& x, const Shape& shape, SourceLocation location) {
  return new_filled("tw::new_ones", x, shape, 1, location);
}
Value new_empty(const Operand& x, const Shape& shape, SourceLocation location) {
  return new_filled("tw::new_empty", x, shape, 0, location);
}
Value new_full(const Operand& x, const Shape& shape, const Operand& value, SourceLocation location) {
  return new_filled("tw::new_full", x, shape, value, location);
}
Value Value::new_zeros(const Shape& shape, SourceLocation location) const {
  return tilewright::new_zeros(Operand(*this, location), shape, location);
}
Value Value::new_ones(const Shape& shape, SourceLocation location) const {
  return tilewright::new_ones(Operand(*this, location), shape, location);
}
Value Value::new_empty(const Shape& shape, SourceLocation location) const {
  return tilewright::new_empty(Operand(*this, location), shape, location);
}
Value Value::new_full(const Shape& shape, const Operand& value, SourceLocation location) const {
  return tilewright::new_full(Operand(*this, location), shape, value, location);
}

static Value ones_of(const Operand& x, std::optional<DType> dtype, const SourceLocation& location) {
  Recording& recording = Recording::require(location, "tw::ones_like");
  return record(
      location, "tw::ones_like",
      [&](Builder& b, Term* t) {
        Recording::ShapeParts parts;
        if (!t[0].is_literal()) parts = recording.shape_like(t[0].value);
        return b.full(parts.dims, parts.tiles, Term::integer_literal(1), dtype.value_or(b.dtype(t[0])));
      },
      x);
}
Value ones_like(const Operand& x, SourceLocation location) { return ones_of(x, std::nullopt, location); }
Value ones_like(const Operand& x, DType dtype, SourceLocation location) { return ones_of(x, dtype, location); }

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

// Calls `build` with what the generator needs: builder, index, its greatest value, seed, stream.
template <class Build>
static auto from_generator(const char* what, const Shape& shape, const Operand& seed, const SourceLocation& location,
                           Build&& build) {
  Recording& recording = Recording::require(location, what);
  Builder& builder = recording.device(location, what);
  Recording::ShapeParts parts = recording.shape(shape);
  Recording::LogicalIndex index = recording.logical_index(parts, what);
  return build(builder, index.index, index.most, recording.term(seed), recording.new_stream());
}

static Value random(const char* what, Builder::Distribution distribution, const Shape& shape, const Operand& seed,
                    DType dtype, const SourceLocation& location) {
  return from_generator(what, shape, seed, location,
                        [&](Builder& b, mlir::Value index, auto most, const Term& term, uint32_t stream) {
                          mlir::Value numbers = b.random(distribution, index, most, term, stream, dtype);
                          return Value(Recording::current()->new_variable(numbers));
                        });
}
Value rand(const Shape& shape, const Operand& seed, DType dtype, SourceLocation location) {
  return random("tw::rand", Builder::Distribution::uniform, shape, seed, dtype, location);
}
Value randn(const Shape& shape, const Operand& seed, DType dtype, SourceLocation location) {
  return random("tw::randn", Builder::Distribution::normal, shape, seed, dtype, location);
}

Value randint(const Size& low, const Size& high, const Shape& shape, const Operand& seed, DType dtype,
              SourceLocation location) {
  return from_generator("tw::randint", shape, seed, location,
                        [&](Builder& b, mlir::Value index, auto most, const Term& term, uint32_t stream) {
                          if (low.value() >= high.value())
                            b.fail("tw::randint({}, {}): the range is empty", low.value(), high.value());
                          uint64_t range = static_cast<uint64_t>(high.value()) - static_cast<uint64_t>(low.value());
                          mlir::Value numbers = b.random_integers(low.value(), range, index, most, term, stream, dtype);
                          return Value(Recording::current()->new_variable(numbers));
                        });
}

std::array<Value, 4> rand4x(const Shape& shape, const Operand& seed, SourceLocation location) {
  return from_generator("tw::rand4x", shape, seed, location,
                        [&](Builder& b, mlir::Value index, auto most, const Term& term, uint32_t stream) {
                          std::array<Value, 4> results;
                          for (auto [i, numbers] : llvm::enumerate(b.random_4x(index, most, term, stream)))
                            results[i] = Value(Recording::current()->new_variable(numbers));
                          return results;
                        });
}

} // namespace tilewright
