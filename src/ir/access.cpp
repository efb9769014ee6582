// tile.load and tile.store: their subscripts as text, and what they check.
#include "ir/tile_dialect.h"

using namespace mlir;

namespace tilewright {

//===----------------------------------------------------------------------===//
// Text: %x[%t, :, at %i, %i : 64] valid [%n, _]
//===----------------------------------------------------------------------===//

namespace {

/// The subscripts of an access while it is parsed.
struct ParsedSubscripts {
  SmallVector<OpAsmParser::UnresolvedOperand> indices, valid;
  SmallVector<int32_t> kinds, valid_dims;
};

} // namespace

static ParseResult parse_subscripts(OpAsmParser& parser, ParsedSubscripts& parsed) {
  auto parse_one = [&]() -> ParseResult {
    Subscript kind = Subscript::Tile;
    if (succeeded(parser.parseOptionalColon())) {
      kind = Subscript::Whole;
    } else {
      if (succeeded(parser.parseOptionalKeyword("at"))) kind = Subscript::Scalar;
      if (parser.parseOperand(parsed.indices.emplace_back())) return failure();
      if (kind == Subscript::Tile && succeeded(parser.parseOptionalColon())) {
        int64_t size = 0; // the size is the result's; it is written for the reader
        if (parser.parseInteger(size)) return failure();
        kind = Subscript::Block;
      }
    }
    parsed.kinds.push_back(static_cast<int32_t>(kind));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parse_one)) return failure();
  if (failed(parser.parseOptionalKeyword("valid"))) return success();
  int32_t dim = 0;
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    int32_t current = dim++;
    if (succeeded(parser.parseOptionalKeyword("_"))) return success();
    parsed.valid_dims.push_back(current);
    return parser.parseOperand(parsed.valid.emplace_back());
  });
}

template <typename Op> static void print_subscripts(Op op, OpAsmPrinter& printer, Type block) {
  auto shape = dyn_cast<RankedTensorType>(block);
  printer << op.getArray() << "[";
  SmallVector<SubscriptUse> uses = subscripts_of(op);
  llvm::interleaveComma(uses, printer, [&](const SubscriptUse& use) {
    switch (use.kind) {
    case Subscript::Whole: printer << ":"; break;
    case Subscript::Tile: printer << use.operand; break;
    case Subscript::Scalar: printer << "at " << use.operand; break;
    case Subscript::Block: printer << use.operand << " : " << (shape ? shape.getDimSize(use.block_dim) : 1); break;
    }
  });
  printer << "]";
  if (op.getValid().empty()) return;
  printer << " valid [";
  bool first = true;
  for (const SubscriptUse& use : uses) {
    if (use.block_dim < 0) continue;
    if (!first) printer << ", ";
    first = false;
    if (use.valid)
      printer << use.valid;
    else
      printer << "_";
  }
  printer << "]";
}

template <typename Op>
static ParseResult resolve_access(OpAsmParser& parser, OperationState& result, ParsedSubscripts& parsed,
                                  SmallVector<int32_t> segments, SMLoc loc) {
  Builder& builder = parser.getBuilder();
  segments.push_back(parsed.indices.size());
  segments.push_back(parsed.valid.size());
  result.addAttribute(Op::getSubscriptsAttrName(result.name), builder.getDenseI32ArrayAttr(parsed.kinds));
  result.addAttribute(Op::getValidDimsAttrName(result.name), builder.getDenseI32ArrayAttr(parsed.valid_dims));
  result.addAttribute(Op::getOperandSegmentSizesAttrName(result.name), builder.getDenseI32ArrayAttr(segments));
  // Tiles are the one kind of operand whose type is not index; the text gives their types in order after the value's.
  SmallVector<Type> tile_types;
  if (succeeded(parser.parseOptionalKeyword("tiles")))
    if (parser.parseLParen() || parser.parseTypeList(tile_types) || parser.parseRParen()) return failure();
  auto next_tile = tile_types.begin();
  size_t operand = 0;
  for (int32_t kind : parsed.kinds) {
    if (kind == static_cast<int32_t>(Subscript::Whole)) continue;
    Type type = builder.getIndexType();
    if (kind == static_cast<int32_t>(Subscript::Tile)) {
      if (next_tile == tile_types.end()) return parser.emitError(loc, "expected one type per tile subscript");
      type = *next_tile++;
    }
    if (parser.resolveOperand(parsed.indices[operand++], type, result.operands)) return failure();
  }
  return parser.resolveOperands(parsed.valid, builder.getIndexType(), result.operands);
}

template <typename Op> static void print_tile_types(Op op, OpAsmPrinter& printer) {
  SmallVector<Type> types;
  for (const SubscriptUse& use : subscripts_of(op))
    if (use.kind == Subscript::Tile) types.push_back(use.operand.getType());
  if (!types.empty()) printer << " tiles(" << types << ")";
}

ParseResult LoadOp::parse(OpAsmParser& parser, OperationState& result) {
  OpAsmParser::UnresolvedOperand array;
  ParsedSubscripts parsed;
  Type array_type, type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperand(array) || parse_subscripts(parser, parsed) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(array_type) || parser.parseArrow() ||
      parser.parseType(type) || parser.resolveOperand(array, array_type, result.operands))
    return failure();
  result.addTypes(type);
  return resolve_access<LoadOp>(parser, result, parsed, {1}, loc);
}

void LoadOp::print(OpAsmPrinter& printer) {
  printer << " ";
  print_subscripts(*this, printer, getType());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getSubscriptsAttrName(), getValidDimsAttrName(), getOperandSegmentSizesAttrName()});
  printer << " : " << getArray().getType() << " -> " << getType();
  print_tile_types(*this, printer);
}

ParseResult StoreOp::parse(OpAsmParser& parser, OperationState& result) {
  OpAsmParser::UnresolvedOperand value, array;
  ParsedSubscripts parsed;
  Type value_type, array_type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperand(value) || parser.parseComma() || parser.parseOperand(array) ||
      parse_subscripts(parser, parsed) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(value_type) || parser.parseComma() || parser.parseType(array_type) ||
      parser.resolveOperand(value, value_type, result.operands) ||
      parser.resolveOperand(array, array_type, result.operands))
    return failure();
  return resolve_access<StoreOp>(parser, result, parsed, {1, 1}, loc);
}

void StoreOp::print(OpAsmPrinter& printer) {
  printer << " " << getValue() << ", ";
  print_subscripts(*this, printer, getValue().getType());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getSubscriptsAttrName(), getValidDimsAttrName(), getOperandSegmentSizesAttrName()});
  printer << " : " << getValue().getType() << ", " << getArray().getType();
  print_tile_types(*this, printer);
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

template <typename Op> static SmallVector<SubscriptUse> collect_subscripts(Op op) {
  SmallVector<SubscriptUse> uses;
  unsigned operand = 0;
  int block_dim = 0;
  for (int32_t code : op.getSubscripts()) {
    SubscriptUse use{static_cast<Subscript>(code), {}};
    if (use.kind != Subscript::Whole) use.operand = op.getIndices()[operand++];
    if (use.kind != Subscript::Scalar) use.block_dim = block_dim++;
    for (auto [dim, valid] : llvm::zip(op.getValidDims(), op.getValid()))
      if (dim == use.block_dim) use.valid = valid;
    uses.push_back(use);
  }
  return uses;
}

SmallVector<SubscriptUse> subscripts_of(LoadOp load) { return collect_subscripts(load); }
SmallVector<SubscriptUse> subscripts_of(StoreOp store) { return collect_subscripts(store); }

template <typename Op> static LogicalResult verify_access(Op op, Type block) {
  auto array = cast<ArrayType>(op.getArray().getType());
  if (static_cast<int64_t>(op.getSubscripts().size()) != array.rank())
    return op.emitOpError("has ") << op.getSubscripts().size() << " subscripts for an array of rank " << array.rank();
  if (element_type(block) != array.getElementType())
    return op.emitOpError("moves ") << element_type(block) << " between the array's " << array.getElementType();
  size_t operands = 0, block_rank = 0;
  for (int32_t code : op.getSubscripts()) {
    if (code < 0 || code > static_cast<int32_t>(Subscript::Block)) return op.emitOpError("has an unknown subscript");
    operands += code != static_cast<int32_t>(Subscript::Whole);
    block_rank += code != static_cast<int32_t>(Subscript::Scalar);
  }
  if (operands != op.getIndices().size()) return op.emitOpError("has a wrong number of subscript operands");
  SmallVector<Dim> dims = dims_of(block);
  if (block_rank != dims.size())
    return op.emitOpError("subscripts give ") << block_rank << " dimensions, its value has " << dims.size();
  if (op.getValid().size() != op.getValidDims().size()) return op.emitOpError("needs one number per valid dimension");
  for (int32_t dim : op.getValidDims())
    if (dim < 0 || dim >= static_cast<int64_t>(block_rank)) return op.emitOpError("has no dimension ") << dim;
  for (auto [use, size] : llvm::zip(subscripts_of(op), array.getDims())) {
    auto tile = use.operand ? dyn_cast<TileType>(use.operand.getType()) : TileType();
    if ((use.kind == Subscript::Tile) != static_cast<bool>(tile))
      return op.emitOpError("has a subscript of the wrong type");
    if (tile && dims[use.block_dim] != tile.getExtent().dim() && !(size.dim().is_one() && dims[use.block_dim].is_one()))
      return op.emitOpError("dimension ") << use.block_dim << " of its value is not the tile's " << tile.getExtent();
  }
  return success();
}

LogicalResult LoadOp::verify() { return verify_access(*this, getType()); }
LogicalResult StoreOp::verify() { return verify_access(*this, getValue().getType()); }

} // namespace tilewright
