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
  SmallVector<OpAsmParser::UnresolvedOperand> indices, valid, mask;
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
      if (succeeded(parser.parseOptionalKeyword("gather"))) kind = Subscript::Gather;
      if (succeeded(parser.parseOptionalKeyword("with"))) kind = Subscript::GatherWith;
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
  if (succeeded(parser.parseOptionalKeyword("valid"))) {
    int32_t dim = 0;
    auto parse_valid = [&]() -> ParseResult {
      int32_t current = dim++;
      if (succeeded(parser.parseOptionalKeyword("_"))) return success();
      parsed.valid_dims.push_back(current);
      return parser.parseOperand(parsed.valid.emplace_back());
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parse_valid)) return failure();
  }
  if (failed(parser.parseOptionalKeyword("mask"))) return success();
  return parser.parseOperand(parsed.mask.emplace_back());
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
    case Subscript::Gather: printer << "gather " << use.operand; break;
    case Subscript::GatherWith: printer << "with " << use.operand; break;
    }
  });
  printer << "]";
  if (!op.getValid().empty()) {
    printer << " valid [";
    auto dims = llvm::seq<int32_t>(0, shape.getRank());
    llvm::interleaveComma(dims, printer, [&](int32_t dim) {
      const int32_t* found = llvm::find(op.getValidDims(), dim);
      if (found == op.getValidDims().end())
        printer << "_";
      else
        printer << op.getValid()[found - op.getValidDims().begin()];
    });
    printer << "]";
  }
  if (op.getMask()) printer << " mask " << op.getMask();
}

static constexpr bool has_typed_operand(Subscript kind) {
  return kind == Subscript::Tile || kind == Subscript::Gather || kind == Subscript::GatherWith;
}

// Sets operands and attributes of an access whose array and values are resolved already; `block` is the type of what it
// moves.
template <typename Op>
static ParseResult resolve_access(OpAsmParser& parser, OperationState& result, ParsedSubscripts& parsed,
                                  SmallVector<int32_t> segments, Type block, SMLoc loc) {
  Builder& builder = parser.getBuilder();
  segments.push_back(parsed.indices.size());
  segments.push_back(parsed.valid.size());
  segments.push_back(parsed.mask.size());
  result.addAttribute(Op::getSubscriptsAttrName(result.name), builder.getDenseI32ArrayAttr(parsed.kinds));
  result.addAttribute(Op::getValidDimsAttrName(result.name), builder.getDenseI32ArrayAttr(parsed.valid_dims));
  result.addAttribute(Op::getOperandSegmentSizesAttrName(result.name), builder.getDenseI32ArrayAttr(segments));
  // Tiles and the tensors of gathers are the operands whose type is not index; the text gives their types in order.
  SmallVector<Type> types;
  if (succeeded(parser.parseOptionalKeyword("tiles")))
    if (parser.parseLParen() || parser.parseTypeList(types) || parser.parseRParen()) return failure();
  auto next_type = types.begin();
  size_t operand = 0;
  for (int32_t code : parsed.kinds) {
    auto kind = static_cast<Subscript>(code);
    if (kind == Subscript::Whole) continue;
    Type type = builder.getIndexType();
    if (has_typed_operand(kind)) {
      if (next_type == types.end()) return parser.emitError(loc, "expected one type per tile or gather subscript");
      type = *next_type++;
    }
    if (parser.resolveOperand(parsed.indices[operand++], type, result.operands)) return failure();
  }
  if (parser.resolveOperands(parsed.valid, builder.getIndexType(), result.operands)) return failure();
  Type mask = builder.getI1Type();
  if (auto tensor = dyn_cast<RankedTensorType>(block)) mask = tensor.clone(mask);
  return parser.resolveOperands(parsed.mask, mask, result.operands);
}

template <typename Op> static void print_subscript_types(Op op, OpAsmPrinter& printer) {
  SmallVector<Type> types;
  for (const SubscriptUse& use : subscripts_of(op))
    if (has_typed_operand(use.kind)) types.push_back(use.operand.getType());
  if (!types.empty()) printer << " tiles(" << types << ")";
}

template <typename Op> static void print_attributes(Op op, OpAsmPrinter& printer, ArrayRef<StringRef> shown = {}) {
  SmallVector<StringRef> elided(shown);
  elided.append({op.getSubscriptsAttrName(), op.getValidDimsAttrName(), op.getOperandSegmentSizesAttrName()});
  printer.printOptionalAttrDict(op->getAttrs(), elided);
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
  return resolve_access<LoadOp>(parser, result, parsed, {1}, type, loc);
}

void LoadOp::print(OpAsmPrinter& printer) {
  printer << " ";
  print_subscripts(*this, printer, getType());
  print_attributes(*this, printer);
  printer << " : " << getArray().getType() << " -> " << getType();
  print_subscript_types(*this, printer);
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
  return resolve_access<StoreOp>(parser, result, parsed, {1, 1}, value_type, loc);
}

void StoreOp::print(OpAsmPrinter& printer) {
  printer << " " << getValue() << ", ";
  print_subscripts(*this, printer, getValue().getType());
  print_attributes(*this, printer);
  printer << " : " << getValue().getType() << ", " << getArray().getType();
  print_subscript_types(*this, printer);
}

// tile.atomic add %v, %x[...] acq_rel : value type, array type; tile.atomic_cas %expected, %v, %x[...] ...
template <typename Op>
static ParseResult parse_atomic(OpAsmParser& parser, OperationState& result, unsigned values, StringAttr order_name) {
  SmallVector<OpAsmParser::UnresolvedOperand, 2> operands(values);
  OpAsmParser::UnresolvedOperand array;
  ParsedSubscripts parsed;
  Type value_type, array_type;
  StringRef order;
  SMLoc loc = parser.getCurrentLocation();
  for (OpAsmParser::UnresolvedOperand& operand : operands)
    if (parser.parseOperand(operand) || parser.parseComma()) return failure();
  if (parser.parseOperand(array) || parse_subscripts(parser, parsed)) return failure();
  SMLoc order_loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&order)) return failure();
  std::optional<MemoryOrder> known = symbolizeMemoryOrder(order);
  if (!known) return parser.emitError(order_loc, "expected relaxed, acquire, release or acq_rel");
  result.addAttribute(order_name, MemoryOrderAttr::get(parser.getContext(), *known));
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(value_type) || parser.parseComma() ||
      parser.parseType(array_type))
    return failure();
  for (OpAsmParser::UnresolvedOperand& operand : operands)
    if (parser.resolveOperand(operand, value_type, result.operands)) return failure();
  if (parser.resolveOperand(array, array_type, result.operands)) return failure();
  result.addTypes(value_type);
  return resolve_access<Op>(parser, result, parsed, SmallVector<int32_t>(values + 1, 1), value_type, loc);
}

ParseResult AtomicOp::parse(OpAsmParser& parser, OperationState& result) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name)) return failure();
  std::optional<AtomicKind> kind = symbolizeAtomicKind(name);
  if (!kind) return parser.emitError(loc, "there is no atomic '") << name << "'";
  result.addAttribute(getKindAttrName(result.name), AtomicKindAttr::get(parser.getContext(), *kind));
  return parse_atomic<AtomicOp>(parser, result, 1, getOrderAttrName(result.name));
}

void AtomicOp::print(OpAsmPrinter& printer) {
  printer << " " << stringifyAtomicKind(getKind()) << " " << getValue() << ", ";
  print_subscripts(*this, printer, getValue().getType());
  printer << " " << stringifyMemoryOrder(getOrder());
  print_attributes(*this, printer, {getKindAttrName(), getOrderAttrName()});
  printer << " : " << getValue().getType() << ", " << getArray().getType();
  print_subscript_types(*this, printer);
}

ParseResult AtomicCasOp::parse(OpAsmParser& parser, OperationState& result) {
  return parse_atomic<AtomicCasOp>(parser, result, 2, getOrderAttrName(result.name));
}

void AtomicCasOp::print(OpAsmPrinter& printer) {
  printer << " " << getExpected() << ", " << getValue() << ", ";
  print_subscripts(*this, printer, getValue().getType());
  printer << " " << stringifyMemoryOrder(getOrder());
  print_attributes(*this, printer, {getOrderAttrName()});
  printer << " : " << getValue().getType() << ", " << getArray().getType();
  print_subscript_types(*this, printer);
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

static int rank_of(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getRank() : 0;
}

template <typename Op> static SmallVector<SubscriptUse> collect_subscripts(Op op) {
  SmallVector<SubscriptUse> uses;
  unsigned operand = 0;
  int next_dim = 0;
  const SubscriptUse* gather = nullptr;
  uses.reserve(op.getSubscripts().size());
  for (int32_t code : op.getSubscripts()) {
    SubscriptUse use{static_cast<Subscript>(code), {}};
    if (use.kind != Subscript::Whole) use.operand = op.getIndices()[operand++];
    if (use.is_gather()) use.block_rank = rank_of(use.operand.getType());
    if (use.kind == Subscript::GatherWith) {
      use.block_dim = gather ? gather->block_dim : 0;
    } else if (use.kind != Subscript::Scalar) {
      use.block_dim = next_dim;
      next_dim += use.block_rank;
    }
    if (!use.is_gather())
      for (auto [dim, valid] : llvm::zip(op.getValidDims(), op.getValid()))
        if (dim == use.block_dim) use.valid = valid;
    uses.push_back(use);
    if (use.kind == Subscript::Gather) gather = &uses.back();
  }
  return uses;
}

SmallVector<SubscriptUse> subscripts_of(LoadOp load) { return collect_subscripts(load); }
SmallVector<SubscriptUse> subscripts_of(StoreOp store) { return collect_subscripts(store); }
SmallVector<SubscriptUse> subscripts_of(AtomicOp atomic) { return collect_subscripts(atomic); }
SmallVector<SubscriptUse> subscripts_of(AtomicCasOp atomic) { return collect_subscripts(atomic); }

AccessOp::AccessOp(Operation* op) : op_(op && isa<LoadOp, StoreOp, AtomicOp, AtomicCasOp>(op) ? op : nullptr) {}

// Calls `f` with the access as the op that it is.
template <typename Function> static auto visit(Operation* op, Function f) {
  if (auto load = dyn_cast<LoadOp>(op)) return f(load);
  if (auto store = dyn_cast<StoreOp>(op)) return f(store);
  if (auto atomic = dyn_cast<AtomicOp>(op)) return f(atomic);
  return f(cast<AtomicCasOp>(op));
}

Value AccessOp::array() const {
  return visit(op_, [](auto op) -> Value { return op.getArray(); });
}
SmallVector<SubscriptUse> AccessOp::subscripts() const {
  return visit(op_, [](auto op) { return subscripts_of(op); });
}
Value AccessOp::mask() const {
  return visit(op_, [](auto op) -> Value { return op.getMask(); });
}
SmallVector<std::pair<int32_t, Value>> AccessOp::bounds() const {
  return visit(op_, [](auto op) {
    SmallVector<std::pair<int32_t, Value>> bounds;
    for (auto [dim, valid] : llvm::zip(op.getValidDims(), op.getValid())) bounds.emplace_back(dim, valid);
    return bounds;
  });
}
OperandRange AccessOp::indices() const {
  return visit(op_, [](auto op) -> OperandRange { return op.getIndices(); });
}
Type AccessOp::block() const {
  if (auto store = dyn_cast<StoreOp>(op_)) return store.getValue().getType();
  return op_->getResult(0).getType();
}

template <typename Op> static LogicalResult verify_access(Op op, Type block) {
  auto array = cast<ArrayType>(op.getArray().getType());
  if (static_cast<int64_t>(op.getSubscripts().size()) != array.rank())
    return op.emitOpError("has ") << op.getSubscripts().size() << " subscripts for an array of rank " << array.rank();
  if (element_type(block) != array.value_element())
    return op.emitOpError("moves ") << element_type(block) << " between the array's " << array.getElementType();
  size_t operands = 0;
  bool gathers = false;
  for (int32_t code : op.getSubscripts()) {
    if (code < 0 || code > static_cast<int32_t>(Subscript::GatherWith))
      return op.emitOpError("has an unknown subscript");
    auto kind = static_cast<Subscript>(code);
    operands += kind != Subscript::Whole;
    gathers |= kind == Subscript::Gather;
    if (kind == Subscript::GatherWith && !gathers) return op.emitOpError("goes with a gather that is not there");
  }
  if (operands != op.getIndices().size()) return op.emitOpError("has a wrong number of subscript operands");
  // What the operands are decides how many dimensions the block has.
  SmallVector<SubscriptUse> uses = subscripts_of(op);
  size_t block_rank = 0;
  for (const SubscriptUse& use : uses) {
    if (use.kind == Subscript::Whole) {
      ++block_rank;
      continue;
    }
    Type type = use.operand.getType();
    bool fits = isa<IndexType>(type);
    if (use.kind == Subscript::Tile) fits = isa<TileType>(type);
    if (use.is_gather()) fits = isa<RankedTensorType>(type) && element_type(type).isIntOrIndex();
    if (!fits) return op.emitOpError("has a subscript of the wrong type");
    if (use.kind == Subscript::Gather) block_rank += use.block_rank;
    if (use.kind == Subscript::Tile || use.kind == Subscript::Block) ++block_rank;
  }
  SmallVector<Dim> dims = dims_of(block);
  if (block_rank != dims.size())
    return op.emitOpError("subscripts give ") << block_rank << " dimensions, its value has " << dims.size();
  if (op.getValid().size() != op.getValidDims().size()) return op.emitOpError("needs one number per valid dimension");
  for (int32_t dim : op.getValidDims())
    if (dim < 0 || dim >= static_cast<int64_t>(block_rank)) return op.emitOpError("has no dimension ") << dim;
  if (op.getMask() && (dims_of(op.getMask()) != dims || !element_type(op.getMask().getType()).isInteger(1)))
    return op.emitOpError("has a mask that is not of its value's shape");
  for (auto [use, size] : llvm::zip(uses, array.getDims())) {
    if (use.is_gather() && ArrayRef(dims).slice(use.block_dim, use.block_rank) != ArrayRef(dims_of(use.operand)))
      return op.emitOpError("has a gather whose dimensions are not those of its value");
    if (use.kind != Subscript::Tile) continue;
    auto tile = cast<TileType>(use.operand.getType());
    if (dims[use.block_dim] != tile.getExtent().dim() && !(size.dim().is_one() && dims[use.block_dim].is_one()))
      return op.emitOpError("dimension ") << use.block_dim << " of its value is not the tile's " << tile.getExtent();
  }
  return success();
}

LogicalResult LoadOp::verify() { return verify_access(*this, getType()); }
LogicalResult StoreOp::verify() { return verify_access(*this, getValue().getType()); }

LogicalResult AtomicOp::verify() {
  if (getValue().getType() != getType()) return emitOpError("gives another type than its value's");
  bool bitwise = getKind() == AtomicKind::And || getKind() == AtomicKind::Or || getKind() == AtomicKind::Xor;
  if (bitwise && isa<FloatType>(element_type(getType())))
    return emitOpError("combines floating-point values bit by bit");
  return verify_access(*this, getType());
}

LogicalResult AtomicCasOp::verify() {
  if (getValue().getType() != getType() || getExpected().getType() != getType())
    return emitOpError("has values of different types");
  return verify_access(*this, getType());
}

} // namespace tilewright
