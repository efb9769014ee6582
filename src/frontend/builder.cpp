// The builder's ground: what terms are, scalars, conversions and broadcasting.
#include "frontend/builder.h"

#include "ir/tile_dialect.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright {

Builder& Builder::at(const SourceLocation& where) {
  where_ = where;
  location_ = where.known() ? Location(FileLineColLoc::get(context(), where.file, where.line, where.column))
                            : Location(UnknownLoc::get(context()));
  return *this;
}

void Builder::open_scope(Block* block) {
  scopes_.emplace_back().block = block;
  ir.setInsertionPointToEnd(block);
}

void Builder::close_scope() {
  scopes_.pop_back();
  if (!scopes_.empty()) ir.setInsertionPointToEnd(scopes_.back().block);
}

Value Builder::once(Attribute key, llvm::function_ref<Value()> make) {
  for (Scope& scope : scopes_)
    if (Value known = scope.constants.lookup(key)) return known;
  return scopes_.back().constants[key] = make();
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

DType Builder::dtype(const Term& term) const {
  switch (term.kind) {
  case Term::Kind::value:
    if (is_unsigned(term.value)) return DType::uint8;
    return device_dtype(element_type(term.value.getType()));
  case Term::Kind::integer: return DType::int64;
  case Term::Kind::real: return DType::float32;
  case Term::Kind::boolean: return DType::boolean;
  }
  llvm_unreachable("unknown term");
}

// Ops that move lanes give what they are given; all others give what their results are marked as.
bool Builder::is_unsigned(Value value) const {
  if (!element_type(value.getType()).isInteger(8)) return false;
  for (;;) {
    if (unsigned_.contains(value)) return true;
    Operation* op = value.getDefiningOp();
    if (!op) return false;
    if (AccessOp access(op); access) return access.array_type().getElementType().isUnsignedInteger();
    if (auto select = dyn_cast<arith::SelectOp>(op))
      value = select.getTrueValue();
    else if (isa<SplatOp, FullOp, BroadcastOp, ExpandDimsOp, TransposeOp, ReshapeOp, TakeOp>(op))
      value = op->getOperand(0);
    else
      return false;
  }
}

bool Builder::is_number(const Term& term) const {
  return term.is_literal() || term.value.getType().isIndex() || numbers_.contains(term.value);
}

Value Builder::note_number(Value result, ArrayRef<Term> terms) {
  if (llvm::all_of(terms, [&](const Term& term) { return is_number(term); })) mark_number(result);
  return result;
}

std::string Builder::describe(const Term& term) const {
  if (term.kind == Term::Kind::boolean) return term.integer ? "the bool true" : "the bool false";
  if (term.kind == Term::Kind::integer) return fmt::format("the number {}", term.integer);
  if (term.kind == Term::Kind::real) return fmt::format("the number {}", term.real);
  SmallVector<Dim> dims = dims_of(term.value);
  if (dims.empty()) return fmt::format("{} scalar", name(dtype(term)));
  return fmt::format("{}{}", name(dtype(term)), dimensions.describe(dims));
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Builder::constant(TypedAttr value) {
  return once(value, [&] { return Value(ir.create<arith::ConstantOp>(location_, value)); });
}

Value Builder::extent(const Dim& any) {
  Dim dim = dimensions.in_sizes(any);
  if (std::optional<int64_t> number = dim.constant()) return index_constant(*number);
  auto key = DimAttr::get(context(), dim);
  return once(key, [&] { return Value(ir.create<ExtentOp>(location_, ir.getIndexType(), key)); });
}

Value Builder::index(const Term& term, const char* what) {
  if (rank(term) != 0)
    fail("{} must be one integer, found {}; a scalar comes of scalar subscripts: tile.begin(), or a variable of "
         "tw::grid",
         what, describe(term));
  if (!is_integral(dtype(term))) fail("{} must be an integer, found {}", what, describe(term));
  return scalar(term, ir.getIndexType());
}

// A number as a scalar of an element type, as PyTorch stores a Python number into a tensor.
static TypedAttr literal_attribute(const Builder& builder, const Term& term, Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    APFloat value(term.as_double());
    bool loses = false;
    bool was_number = !value.isNaN(), negative = value.isNegative();
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    if (value.isNaN() && was_number) value = APFloat::getLargest(type.getFloatSemantics(), negative); // no infinity
    return FloatAttr::get(type, value);
  }
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  if (width == 1) return IntegerAttr::get(element, term.as_double() != 0);
  double real = term.kind == Term::Kind::real ? std::trunc(term.real) : 0;
  if (real >= 0x1p63 || real < -0x1p63 || real != real) // NaN too
    builder.fail("{} does not fit {}", builder.describe(term), name(device_dtype(element)));
  int64_t integer = term.kind == Term::Kind::real ? static_cast<int64_t>(real) : term.integer;
  if (!llvm::isIntN(width, integer))
    builder.fail("{} does not fit {}", builder.describe(term), name(device_dtype(element)));
  return IntegerAttr::get(element, APInt(width, static_cast<uint64_t>(integer)));
}

Value Builder::scalar(const Term& term, Type element) {
  if (term.is_literal()) return constant(literal_attribute(*this, term, element));
  return cast_value(term.value, element);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value Builder::cast_value(Value value, Type element) {
  Type from = element_type(value.getType());
  if (from == element) return value;
  auto make = [&]<class Op>(Value operand, Type to) -> Value {
    return ir.create<Op>(location_, value_type(to, dims_of(operand)), operand);
  };
  auto number_attribute = [&](Type type) -> TypedAttr {
    if (isa<FloatType>(type)) return ir.getFloatAttr(type, 0);
    return ir.getIntegerAttr(type, 0);
  };
  if (element.isInteger(1)) {
    Value zero = splat_like(constant(number_attribute(from)), value);
    if (isa<FloatType>(from)) return ir.create<arith::CmpFOp>(location_, arith::CmpFPredicate::UNE, value, zero);
    return ir.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ne, value, zero);
  }
  if (from.isIndex() && isa<FloatType>(element))
    return cast_value(make.operator()<arith::IndexCastOp>(value, ir.getI64Type()), element);
  if (element.isIndex() && !from.isInteger(1) && !is_unsigned(value))
    return make.operator()<arith::IndexCastOp>(value, element);
  if (element.isIndex()) return make.operator()<arith::IndexCastUIOp>(value, element);
  if (from.isIndex()) return make.operator()<arith::IndexCastOp>(value, element);

  bool to_float = isa<FloatType>(element), from_float = isa<FloatType>(from);
  bool is_natural = from.isInteger(1) || is_unsigned(value);
  unsigned to_width = element.getIntOrFloatBitWidth(), from_width = from.getIntOrFloatBitWidth();
  if (from_float && to_float) {
    if (to_width < 32 && from_width < 32) { // none of these holds another
      value = make.operator()<arith::ExtFOp>(value, ir.getF32Type());
      from_width = 32;
    }
    if (to_width > from_width) return make.operator()<arith::ExtFOp>(value, element);
    return make.operator()<arith::TruncFOp>(value, element);
  }
  if (from_float) return make.operator()<arith::FPToSIOp>(value, element);
  if (to_float && is_natural) return make.operator()<arith::UIToFPOp>(value, element);
  if (to_float) return make.operator()<arith::SIToFPOp>(value, element);
  if (to_width < from_width) return make.operator()<arith::TruncIOp>(value, element);
  if (is_natural) return make.operator()<arith::ExtUIOp>(value, element);
  return make.operator()<arith::ExtSIOp>(value, element);
}

Value Builder::as_uint8(Value value) {
  mark_unsigned(value);
  return value;
}

// Modulo 256, as PyTorch's conversions to uint8 are; from floating point by way of an int32.
Value Builder::cast(const Term& term, DType to) {
  Type element = element_type_of(to, context());
  DType own = dtype(term);
  auto same_bits = [&] { return ir.create<arith::BitcastOp>(location_, term.value.getType(), term.value); };
  if (to == DType::int8 && own == DType::uint8) return same_bits();
  if (to != DType::uint8) return scalar(term, element);
  if (own == DType::uint8) return term.value;
  if (own == DType::int8 && !term.is_literal()) return as_uint8(same_bits());
  if (!term.is_literal()) {
    Value value = term.value;
    if (is_floating_point(own)) value = cast_value(value, ir.getI32Type());
    return as_uint8(cast_value(value, element));
  }
  // Constants are shared by their numbers, but not between dtypes.
  auto whole = mlir::cast<IntegerAttr>(literal_attribute(*this, term, ir.getI64Type()));
  int64_t number = whole.getInt();
  if (number < -255 || number > 255) fail("{} does not fit uint8", describe(term));
  auto attribute = ir.getIntegerAttr(element, static_cast<int8_t>(number & 0xff));
  return once(ir.getArrayAttr({attribute, ir.getStringAttr("uint8")}),
              [&] { return as_uint8(ir.create<arith::ConstantOp>(location_, attribute)); });
}

Term Builder::widened(const Term& term) {
  DType own = dtype(term);
  if (!is_storage_dtype(own)) return term;
  return cast(term, own == DType::uint8 ? DType::int32 : DType::float32);
}

// Of one size: the same bits.
Value Builder::bit_view(const Term& x, DType to) {
  DType from = dtype(x);
  if (x.is_literal()) fail("view(tw::{}) takes a value on the device, found {}", name(to), describe(x));
  if (size_in_bytes(from) != size_in_bytes(to) || from == DType::boolean || to == DType::boolean)
    fail(
        "view(tw::{}) of {}: the bits of a value can be seen as another dtype of the same size; .to() converts numbers",
        name(to), describe(x));
  if (from == to) return x.value;
  Value value = x.value.getType().isIndex() ? cast_value(x.value, ir.getI64Type()) : x.value;
  Value bits =
      ir.create<arith::BitcastOp>(location_, value_type(element_type_of(to, context()), dims_of(value)), value);
  return to == DType::uint8 ? as_uint8(bits) : bits;
}

Value Builder::condition(const Term& term, const char* what) {
  if (rank(term) != 0)
    fail("the condition of {} must be a scalar, found {}; tw::where chooses by element", what, describe(term));
  return cast(term, DType::boolean);
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

Value Builder::splat_like(Value scalar, Value shape) {
  SmallVector<Dim> dims = dims_of(shape);
  if (dims.empty()) return scalar;
  return ir.create<SplatOp>(location_, value_type(scalar.getType(), dims), scalar);
}

Value Builder::number_like(double number, Value shape) {
  return splat_like(scalar(Term::real_literal(number), element_type(shape.getType())), shape);
}

Value Builder::broadcast(Value value, ArrayRef<Dim> dims) {
  SmallVector<Dim> have = dims_of(value);
  if (ArrayRef<Dim>(have) == dims) return value;
  Type element = element_type(value.getType());
  if (have.empty()) return ir.create<SplatOp>(location_, value_type(element, dims), value);
  while (have.size() < dims.size()) {
    have.insert(have.begin(), Dim(1));
    value = ir.create<ExpandDimsOp>(location_, value_type(element, have), value, 0);
  }
  if (ArrayRef<Dim>(have) == dims) return value;
  return ir.create<BroadcastOp>(location_, value_type(element, dims), value);
}

SmallVector<Dim> Builder::common_dims(ArrayRef<Term> terms, const char* what) const {
  SmallVector<Dim> common;
  SmallVector<const Term*> origin; // the operand that each common dimension is taken from
  for (const Term& term : terms) {
    SmallVector<Dim> dims = term.is_literal() ? SmallVector<Dim>() : dims_of(term.value);
    while (common.size() < dims.size()) {
      common.insert(common.begin(), Dim(1));
      origin.insert(origin.begin(), &term);
    }
    size_t offset = common.size() - dims.size();
    for (auto [i, dim] : llvm::enumerate(dims)) {
      Dim& joint = common[offset + i];
      if (dim == joint || dim.is_one()) continue;
      if (!joint.is_one()) {
        bool tiles = !dimensions.value(dim) || !dimensions.value(joint);
        fail("the shapes of {} do not agree: {} and {}{}", what, describe(*origin[offset + i]), describe(term),
             tiles ? ". Only what is indexed by the same tile fits together; tw::none inserts a dimension that repeats"
                   : "");
      }
      joint = dim;
      origin[offset + i] = &term;
    }
  }
  return common;
}

Type Builder::compute_type(ArrayRef<Term> terms, DType dtype) const {
  bool has_index = false, only_numbers = dtype == DType::int64;
  for (const Term& term : terms) {
    if (!term.is_literal() && term.value.getType().isIndex())
      has_index = true;
    else if (!term.is_literal())
      only_numbers = false;
  }
  if (has_index && only_numbers) return IndexType::get(context());
  return element_type_of(dtype, context());
}

SmallVector<Value> Builder::unify(ArrayRef<Term> terms, DType dtype, const char* what) {
  SmallVector<Dim> dims = common_dims(terms, what);
  Type element = compute_type(terms, dtype);
  return llvm::map_to_vector(terms, [&](const Term& term) { return broadcast(scalar(term, element), dims); });
}

DType Builder::promoted(ArrayRef<Term> terms) const {
  bool only_numbers = llvm::all_of(terms, [&](const Term& term) { return is_number(term); });
  auto operands = llvm::map_to_vector(terms, [&](const Term& term) -> PromotionOperand {
    using Rank = PromotionOperand::Rank;
    DType own = dtype(term);
    if (is_float8(own)) own = DType::float32;
    if (only_numbers) return {own, term.is_literal() ? Rank::number : Rank::scalar};
    if (!is_number(term)) return {own, rank(term) == 0 ? Rank::scalar : Rank::tensor};
    // PyTorch's default dtypes stand for a number's kind.
    return {is_floating_point(own) ? DType::float32 : is_integral(own) ? DType::int64 : own, Rank::number};
  });
  return result_dtype(operands);
}

} // namespace tilewright
