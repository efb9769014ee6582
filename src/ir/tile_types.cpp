// Attributes and types of the tile dialect: their text, and what they check.
#include "ir/tile_dialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

#include "ir/tile_enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/tile_attrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/tile_types.cpp.inc"

namespace tilewright {

void TileDialect::register_attributes_and_types() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/tile_attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/tile_types.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Dimensions as text
//===----------------------------------------------------------------------===//

// factor: an integer, or a symbol such as b0, r1, s2.
static FailureOr<Dim> parse_factor(AsmParser& parser) {
  int64_t number = 0;
  OptionalParseResult integer = parser.parseOptionalInteger(number);
  if (integer.has_value()) {
    if (failed(*integer)) return failure();
    return Dim(number);
  }
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (failed(parser.parseKeyword(&name))) return failure();
  uint32_t index = 0;
  size_t kind = name.empty() ? StringRef::npos : StringRef("brs").find(name[0]);
  if (kind == StringRef::npos || name.drop_front().getAsInteger(10, index)) {
    parser.emitError(loc) << "'" << name << "' is no dimension symbol; expected b, r or s and a number, such as b0";
    return failure();
  }
  return Dim(Symbol{static_cast<Symbol::Kind>(kind), index});
}

// dimension: products of factors, added up.
static FailureOr<Dim> parse_dim(AsmParser& parser) {
  Dim sum;
  do {
    FailureOr<Dim> product = parse_factor(parser);
    while (succeeded(product) && succeeded(parser.parseOptionalStar())) {
      FailureOr<Dim> factor = parse_factor(parser);
      if (failed(factor)) return failure();
      *product = *product * *factor;
    }
    if (failed(product)) return failure();
    sum = sum + *product;
  } while (succeeded(parser.parseOptionalPlus()));
  return sum;
}

static ParseResult parse_dims(AsmParser& parser, SmallVectorImpl<DimAttr>& dims) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    FailureOr<Dim> dim = parse_dim(parser);
    if (failed(dim)) return failure();
    dims.push_back(DimAttr::get(parser.getContext(), *dim));
    return success();
  });
}

static void print_dims(AsmPrinter& printer, ArrayRef<DimAttr> dims) {
  printer << "[";
  llvm::interleaveComma(dims, printer, [&](DimAttr dim) { dim.dim().print(printer.getStream()); });
  printer << "]";
}

Attribute DimAttr::parse(AsmParser& parser, Type) {
  if (parser.parseLess()) return {};
  FailureOr<Dim> dim = parse_dim(parser);
  if (failed(dim) || parser.parseGreater()) return {};
  return get(parser.getContext(), *dim);
}

void DimAttr::print(AsmPrinter& printer) const { printer << "<" << dim().str() << ">"; }

Attribute DimsAttr::parse(AsmParser& parser, Type) {
  SmallVector<DimAttr> dims;
  if (parser.parseLess() || parse_dims(parser, dims) || parser.parseGreater()) return {};
  return get(parser.getContext(), dims);
}

void DimsAttr::print(AsmPrinter& printer) const {
  printer << "<";
  print_dims(printer, getDims());
  printer << ">";
}

Attribute TilesAttr::parse(AsmParser& parser, Type) {
  SmallVector<DimAttr> lengths;
  SmallVector<int64_t> blocks;
  auto block = [&] { return parser.parseInteger(blocks.emplace_back()); };
  if (parser.parseLess() || parse_dims(parser, lengths) || parser.parseKeyword("by")) return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, block) || parser.parseGreater()) return {};
  bool positive = llvm::all_of(blocks, [](int64_t size) { return size > 0; });
  bool over_sizes = llvm::all_of(lengths, [](DimAttr dim) { return dim.dim().is_over_sizes(); });
  if (lengths.size() != blocks.size() || !positive || !over_sizes)
    return parser.emitError(loc, "expected lengths over sizes, and one positive block for each"), Attribute();
  return get(parser.getContext(), lengths, blocks);
}

void TilesAttr::print(AsmPrinter& printer) const {
  printer << "<";
  print_dims(printer, getLengths());
  printer << " by [";
  llvm::interleaveComma(getBlocks(), printer);
  printer << "]>";
}

int64_t TilesAttr::count(ArrayRef<int64_t> sizes) const {
  int64_t count = 1;
  for (auto [length, block] : llvm::zip(getLengths(), getBlocks()))
    count *= llvm::divideCeil(std::max<int64_t>(length.dim().evaluate(sizes), 0), block);
  return count;
}

LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type, function_ref<InFlightDiagnostic()> error) const {
  if (shape.size() != getDims().size())
    return error() << "#tile.dims names " << getDims().size() << " dimensions of a tensor of rank " << shape.size();
  for (auto [size, name] : llvm::zip(shape, getDims())) {
    std::optional<int64_t> constant = name.dim().constant();
    if (constant ? size != *constant : !ShapedType::isDynamic(size))
      return error() << "dimension named " << name.dim().str() << " must be "
                     << (constant ? "static with that size" : "dynamic");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type TileType::parse(AsmParser& parser) {
  if (parser.parseLess()) return {};
  FailureOr<Dim> dim = parse_dim(parser);
  if (failed(dim) || parser.parseGreater()) return {};
  return get(parser.getContext(), DimAttr::get(parser.getContext(), *dim));
}

void TileType::print(AsmPrinter& printer) const { printer << "<" << getExtent().dim().str() << ">"; }

Type ArrayType::parse(AsmParser& parser) {
  Type element;
  SmallVector<DimAttr> dims;
  SmallVector<int64_t> strides;
  int64_t alignment = 0;
  if (parser.parseLess() || parser.parseType(element) || parser.parseComma() || parse_dims(parser, dims)) return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("strides"))) {
      SMLoc loc = parser.getCurrentLocation();
      auto stride = [&]() -> ParseResult {
        if (succeeded(parser.parseOptionalQuestion())) return strides.push_back(ShapedType::kDynamic), success();
        return parser.parseInteger(strides.emplace_back());
      };
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, stride)) return {};
      if (strides.size() != dims.size()) return parser.emitError(loc, "expected one stride per dimension"), Type();
    } else if (parser.parseKeyword("align") || parser.parseInteger(alignment)) {
      return {};
    }
  }
  if (parser.parseGreater()) return {};
  return get(parser.getContext(), element, dims, strides, alignment);
}

void ArrayType::print(AsmPrinter& printer) const {
  printer << "<" << getElementType() << ", ";
  print_dims(printer, getDims());
  if (!getStrides().empty()) {
    printer << ", strides [";
    llvm::interleaveComma(getStrides(), printer, [&](int64_t stride) {
      if (ShapedType::isDynamic(stride))
        printer << "?";
      else
        printer << stride;
    });
    printer << "]";
  }
  if (getAlignment() != 0) printer << ", align " << getAlignment();
  printer << ">";
}

bool ArrayType::is_pinned() const {
  // Sizes of arguments are all that may be left.
  bool sizes_known = llvm::all_of(getDims(), [](DimAttr dim) { return dim.dim().is_over_sizes(); });
  return sizes_known && getStrides().size() == getDims().size();
}

bool ArrayType::is_static() const {
  return llvm::all_of(getDims(), [](DimAttr dim) { return dim.dim().constant().has_value(); }) &&
         llvm::none_of(getStrides(), ShapedType::isDynamic);
}

SmallVector<int64_t> ArrayType::sizes() const {
  return llvm::map_to_vector(getDims(),
                             [](DimAttr dim) { return dim.dim().constant().value_or(ShapedType::kDynamic); });
}

Type ArrayType::value_element() const {
  return getElementType().isUnsignedInteger() ? IntegerType::get(getContext(), 8) : getElementType();
}

int64_t ArrayType::element_bytes() const { return (getElementType().getIntOrFloatBitWidth() + 7) / 8; }

std::optional<int64_t> ArrayType::bytes() const {
  if (!is_static()) return std::nullopt;
  int64_t bytes = element_bytes();
  for (int64_t size : sizes()) bytes *= size;
  return bytes;
}

int64_t ArrayType::known_alignment() const { return getAlignment() != 0 ? getAlignment() : element_bytes(); }

//===----------------------------------------------------------------------===//
// Dimensions of values
//===----------------------------------------------------------------------===//

SmallVector<Dim> dims_of(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) return {};
  if (auto dims = dyn_cast_or_null<DimsAttr>(tensor.getEncoding()))
    return llvm::map_to_vector(dims.getDims(), [](DimAttr dim) { return dim.dim(); });
  return llvm::map_to_vector(tensor.getShape(), [](int64_t size) { return Dim(size); });
}

Type value_type(Type element, ArrayRef<Dim> dims) {
  if (dims.empty()) return element;
  MLIRContext* context = element.getContext();
  SmallVector<int64_t> shape =
      llvm::map_to_vector(dims, [](const Dim& dim) { return dim.constant().value_or(ShapedType::kDynamic); });
  SmallVector<DimAttr> names = llvm::map_to_vector(dims, [&](const Dim& dim) { return DimAttr::get(context, dim); });
  return RankedTensorType::get(shape, element, DimsAttr::get(context, names));
}

Type block_type(Type element, ArrayRef<int64_t> shape) {
  return shape.empty() ? element : Type(RankedTensorType::get(shape, element));
}

} // namespace tilewright
