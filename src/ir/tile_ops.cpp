// Operations of the tile dialect other than accesses (access.cpp) and the kernel's rules (verify_kernel.cpp).
#include "ir/tile_dialect.h"

#include "ir/permutation.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// custom<Valid>: ` valid [%n, _]`, one entry per dimension, nothing where all lanes exist
//===----------------------------------------------------------------------===//

using UnresolvedOperands = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;

static ParseResult parse_valid_list(OpAsmParser& parser, UnresolvedOperands& valid, SmallVectorImpl<int32_t>& dims) {
  if (failed(parser.parseOptionalKeyword("valid"))) return success();
  int32_t dim = 0;
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    int32_t current = dim++;
    if (succeeded(parser.parseOptionalKeyword("_"))) return success();
    dims.push_back(current);
    return parser.parseOperand(valid.emplace_back());
  });
}

static ParseResult parseValid(OpAsmParser& parser, UnresolvedOperands& valid, DenseI32ArrayAttr& dims, Type = {}) {
  SmallVector<int32_t> list;
  if (parse_valid_list(parser, valid, list)) return failure();
  dims = DenseI32ArrayAttr::get(parser.getContext(), list);
  return success();
}

static void printValid(OpAsmPrinter& printer, Operation*, OperandRange valid, DenseI32ArrayAttr dims, Type type) {
  if (valid.empty()) return;
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t rank = tensor ? tensor.getRank() : valid.size(); // of a scalar: all there are
  printer << "valid [";
  for (int32_t dim = 0, next = 0; dim < rank; ++dim) {
    if (dim > 0) printer << ", ";
    if (next < static_cast<int32_t>(dims.size()) && dims[next] == dim)
      printer << valid[next++];
    else
      printer << "_";
  }
  printer << "]";
}

#define GET_OP_CLASSES
#include "ir/tile_ops.cpp.inc"

namespace tilewright {

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

template <typename Unit> static ParseResult parse_unit(OpAsmParser& parser, OperationState& result) {
  auto build_type = [](Builder& builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                       function_interface_impl::VariadicFlag,
                       std::string&) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, Unit::getFunctionTypeAttrName(result.name), build_type,
      Unit::getArgAttrsAttrName(result.name), Unit::getResAttrsAttrName(result.name));
}

template <typename Unit> static void print_unit(Unit unit, OpAsmPrinter& printer) {
  function_interface_impl::printFunctionOp(printer, unit, /*isVariadic=*/false, unit.getFunctionTypeAttrName(),
                                           unit.getArgAttrsAttrName(), unit.getResAttrsAttrName());
}

ParseResult KernelOp::parse(OpAsmParser& parser, OperationState& result) {
  return parse_unit<KernelOp>(parser, result);
}
void KernelOp::print(OpAsmPrinter& printer) { print_unit(*this, printer); }
ParseResult ProgramOp::parse(OpAsmParser& parser, OperationState& result) {
  return parse_unit<ProgramOp>(parser, result);
}
void ProgramOp::print(OpAsmPrinter& printer) { print_unit(*this, printer); }

template <typename Unit> static StringRef argument_name_of(Unit unit, unsigned index) {
  auto name = unit.template getArgAttrOfType<StringAttr>(index, "tile.name");
  return name ? name.getValue() : StringRef();
}
StringRef KernelOp::argument_name(unsigned index) { return argument_name_of(*this, index); }
StringRef ProgramOp::argument_name(unsigned index) { return argument_name_of(*this, index); }

SmallVector<int64_t> ProgramOp::programs_of_phases(ArrayRef<int64_t> sizes) {
  if (getPhases()) return SmallVector<int64_t>(*getPhases());
  if (getPrograms()) return {static_cast<int64_t>(*getPrograms())};
  SmallVector<int64_t> programs;
  for (Attribute phase : getTiles() ? getTiles()->getValue() : ArrayRef<Attribute>()) {
    programs.push_back(0);
    for (Attribute loop : cast<ArrayAttr>(phase)) programs.back() += cast<TilesAttr>(loop).count(sizes);
  }
  return programs;
}

SmallVector<Dim> KernelOp::whole_dims() {
  auto dims = (*this)->getAttrOfType<DimsAttr>("whole");
  if (!dims) return {};
  return llvm::map_to_vector(dims.getDims(), [](DimAttr dim) { return dim.dim(); });
}

void KernelOp::set_whole_dims(ArrayRef<Dim> dims) {
  auto attrs = llvm::map_to_vector(dims, [&](const Dim& dim) { return DimAttr::get(getContext(), dim); });
  (*this)->setAttr("whole", DimsAttr::get(getContext(), attrs));
}

//===----------------------------------------------------------------------===//
// tile.for
//===----------------------------------------------------------------------===//

ParseResult ForOp::parse(OpAsmParser& parser, OperationState& result) {
  MLIRContext* context = parser.getContext();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<DimAttr> blocks;
  auto parse_variable = [&]() -> ParseResult {
    OpAsmParser::Argument& argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseColon()) return failure();
    if (succeeded(parser.parseOptionalKeyword("grid"))) {
      blocks.push_back(DimAttr::get(context, Dim(1)));
      argument.type = IndexType::get(context);
      return success();
    }
    // A dimension is read by wrapping it as the tile type reads it: `b0`.
    StringRef symbol;
    int64_t constant = 0;
    OptionalParseResult number = parser.parseOptionalInteger(constant);
    Dim dim(constant);
    if (!number.has_value()) {
      SMLoc loc = parser.getCurrentLocation();
      uint32_t index = 0;
      if (parser.parseKeyword(&symbol)) return failure();
      if (symbol[0] != 'b' || symbol.drop_front().getAsInteger(10, index))
        return parser.emitError(loc, "expected a block such as b0, a number, or grid");
      dim = Dim(Symbol::block(index));
    } else if (failed(*number)) {
      return failure();
    }
    blocks.push_back(DimAttr::get(context, dim));
    argument.type = TileType::get(context, blocks.back());
    return success();
  };
  SmallVector<OpAsmParser::UnresolvedOperand> lower, upper, inits;
  Type index = IndexType::get(context);
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parse_variable) || parser.parseEqual() ||
      parser.parseOperandList(lower, AsmParser::Delimiter::Paren) || parser.parseKeyword("to") ||
      parser.parseOperandList(upper, AsmParser::Delimiter::Paren))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (lower.size() != blocks.size() || upper.size() != blocks.size())
    return parser.emitError(loc, "expected one lower and one upper bound per variable");
  if (succeeded(parser.parseOptionalKeyword("carry"))) {
    SmallVector<OpAsmParser::Argument> carried;
    if (parser.parseAssignmentList(carried, inits) || parser.parseColonTypeList(result.types)) return failure();
    if (carried.size() != result.types.size()) return parser.emitError(loc, "expected one type per carried value");
    for (auto [argument, type] : llvm::zip(carried, result.types)) argument.type = type;
    llvm::append_range(arguments, carried);
  }
  if (succeeded(parser.parseOptionalKeyword("parallel")))
    result.addAttribute(getParallelAttrName(result.name), UnitAttr::get(context));
  Region* body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty()) return parser.emitError(loc, "expected a loop body");
  if (body->front().empty() || !body->front().back().hasTrait<OpTrait::IsTerminator>()) {
    OpBuilder builder(context); // the region has no parent yet to take a context from
    builder.setInsertionPointToEnd(&body->front());
    builder.create<YieldOp>(result.location, ValueRange());
  }
  result.addAttribute(getBlocksAttrName(result.name), DimsAttr::get(context, blocks));
  result.addAttribute(
      getOperandSegmentSizesAttrName(result.name),
      parser.getBuilder().getDenseI32ArrayAttr({static_cast<int32_t>(lower.size()), static_cast<int32_t>(upper.size()),
                                                static_cast<int32_t>(inits.size())}));
  return failure(parser.resolveOperands(lower, index, result.operands) ||
                 parser.resolveOperands(upper, index, result.operands) ||
                 parser.resolveOperands(inits, result.types, loc, result.operands));
}

void ForOp::print(OpAsmPrinter& printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(variables(), getBlocks().getDims()), printer, [&](auto pair) {
    auto [variable, block] = pair;
    printer.printRegionArgument(variable, {}, /*omitType=*/true);
    printer << ": " << (variable.getType().isIndex() ? "grid" : block.dim().str());
  });
  printer << ") = (" << getLower() << ") to (" << getUpper() << ")";
  if (!getInits().empty()) {
    printer << " carry(";
    llvm::interleaveComma(llvm::zip(carried(), getInits()), printer, [&](auto pair) {
      printer.printRegionArgument(std::get<0>(pair), {}, /*omitType=*/true);
      printer << " = " << std::get<1>(pair);
    });
    printer << ") : " << getResultTypes();
  }
  if (getParallel()) printer << " parallel";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getBlocksAttrName(), getParallelAttrName(), getOperandSegmentSizesAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/!getResults().empty());
}

LogicalResult ForOp::verify() {
  size_t dims = getBlocks().getDims().size();
  if (dims == 0) return emitOpError("needs at least one dimension");
  if (getLower().size() != dims || getUpper().size() != dims) return emitOpError("needs two bounds per dimension");
  if (getParallel() && !getInits().empty()) return emitOpError("is parallel, so it carries no values");
  if (block().getNumArguments() != dims + getInits().size()) return emitOpError("has a wrong number of body arguments");
  for (auto [variable, extent] : llvm::zip(variables(), getBlocks().getDims())) {
    auto tile = dyn_cast<TileType>(variable.getType());
    bool grid = variable.getType().isIndex() && extent.dim().is_one();
    if (!grid && (!tile || tile.getExtent() != extent))
      return emitOpError("has a variable that is no tile of its block");
  }
  auto yield = dyn_cast<YieldOp>(block().getTerminator());
  if (!yield) return emitOpError("has a body that does not end with tile.yield");
  if (getNumResults() != getInits().size()) return emitOpError("needs a result for each value that it carries");
  ValueRange yielded = yield.getValues();
  if (yielded.size() != getInits().size())
    return emitOpError("carries ") << getInits().size() << " values, but its body yields " << yielded.size();
  for (auto [init, argument, next, result] : llvm::zip(getInits(), carried(), yielded, getResults()))
    if (init.getType() != argument.getType() || init.getType() != next.getType() || init.getType() != result.getType())
      return emitOpError("carries a value whose type changes from ") << init.getType() << " to " << next.getType();
  return success();
}

YieldOp ForOp::yield() { return cast<YieldOp>(block().getTerminator()); }

SmallVector<Region*> ForOp::getLoopRegions() { return {&getBody()}; }
MutableArrayRef<OpOperand> ForOp::getInitsMutable() { return getOperation()->getOpOperands().drop_front(2 * rank()); }
Block::BlockArgListType ForOp::getRegionIterArgs() { return carried(); }
std::optional<MutableArrayRef<OpOperand>> ForOp::getYieldedValuesMutable() { return yield()->getOpOperands(); }
std::optional<ResultRange> ForOp::getLoopResults() { return getResults(); }

namespace {

/// A carried value that every iteration hands on unchanged is the value it started from.
struct DropUnchangedCarried : OpRewritePattern<ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ForOp loop, PatternRewriter& rewriter) const override {
    YieldOp yield = loop.yield();
    BitVector unchanged(loop.getInits().size());
    for (auto [i, argument] : llvm::enumerate(loop.carried()))
      if (yield.getValues()[i] == argument || yield.getValues()[i] == loop.getInits()[i]) unchanged.set(i);
    if (unchanged.none()) return failure();
    SmallVector<Value> inits, yielded;
    for (auto [i, init] : llvm::enumerate(loop.getInits())) {
      if (unchanged[i]) continue;
      inits.push_back(init);
      yielded.push_back(yield.getValues()[i]);
    }
    auto slim = rewriter.create<ForOp>(loop.getLoc(), TypeRange(ValueRange(inits)), loop.getLower(), loop.getUpper(),
                                       inits, loop.getBlocks(), loop.getParallel());
    slim->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    rewriter.modifyOpInPlace(yield, [&] { yield.getValuesMutable().assign(yielded); });
    SmallVector<Value> results(loop.getResults());
    for (int i = unchanged.size() - 1; i >= 0; --i) {
      if (!unchanged[i]) continue;
      results[i] = loop.getInits()[i];
      rewriter.replaceAllUsesWith(loop.carried()[i], loop.getInits()[i]);
      loop.block().eraseArgument(loop.rank() + i);
    }
    rewriter.inlineRegionBefore(loop.getBody(), slim.getBody(), slim.getBody().end());
    for (int i = 0, next = 0; i < static_cast<int>(unchanged.size()); ++i)
      if (!unchanged[i]) results[i] = slim.getResult(next++);
    rewriter.replaceOp(loop, results);
    return success();
  }
};

} // namespace

void ForOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext* context) {
  patterns.add<DropUnchangedCarried>(context);
}

LogicalResult EmptyOp::verify() {
  Type element = cast<ArrayType>(getArray().getType()).getElementType();
  if (getFill() && getFill()->getType() != element)
    return emitOpError("fills a tensor of ") << element << " with a " << getFill()->getType();
  if (getFill() && !isa<FloatAttr, IntegerAttr>(*getFill()))
    return emitOpError("fills a tensor with what is no number");
  return success();
}

OpFoldResult ExtentOp::fold(FoldAdaptor) {
  std::optional<int64_t> constant = getDim().dim().constant();
  if (!constant) return {};
  return IntegerAttr::get(IndexType::get(getContext()), *constant);
}

//===----------------------------------------------------------------------===//
// Creation and shape
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult verify_filled(Op op) {
  if (op.getScalar().getType() != element_type(op.getType()))
    return op.emitOpError("fills a tensor of ") << element_type(op.getType()) << " with a " << op.getScalar().getType();
  return success();
}

LogicalResult SplatOp::verify() { return verify_filled(*this); }

LogicalResult FullOp::verify() {
  if (failed(verify_filled(*this))) return failure();
  SmallVector<Dim> dims = dims_of(getType());
  if (getTiles().size() != getTileDims().size()) return emitOpError("needs one tile per tile dimension");
  for (auto [tile, dim] : llvm::zip(getTiles(), getTileDims())) {
    if (dim < 0 || dim >= static_cast<int64_t>(dims.size())) return emitOpError("has no dimension ") << dim;
    if (cast<TileType>(tile.getType()).getExtent().dim() != dims[dim])
      return emitOpError("dimension ") << dim << " is not its tile's extent";
  }
  return success();
}

LogicalResult BroadcastOp::verify() {
  SmallVector<Dim> from = dims_of(getSource()), to = dims_of(getResult());
  if (from.size() != to.size()) return emitOpError("changes the rank from ") << from.size() << " to " << to.size();
  for (auto [a, b] : llvm::zip(from, to))
    if (a != b && !a.is_one()) return emitOpError("cannot repeat dimension ") << a.str() << " to " << b.str();
  return success();
}

LogicalResult ExpandDimsOp::verify() {
  SmallVector<Dim> dims = dims_of(getSource());
  if (getDim() > dims.size()) return emitOpError("has no position ") << getDim();
  dims.insert(dims.begin() + getDim(), Dim(1));
  if (dims != dims_of(getResult())) return emitOpError("result is not its source with a dimension of 1 inserted");
  return success();
}

LogicalResult TransposeOp::verify() {
  SmallVector<Dim> from = dims_of(getSource()), to = dims_of(getResult());
  ArrayRef<int64_t> permutation = getPermutation();
  if (!is_permutation(permutation) || permutation.size() != from.size() || from.size() != to.size())
    return emitOpError("needs a permutation of its dimensions");
  for (auto [dim, source] : llvm::enumerate(permutation))
    if (to[dim] != from[source])
      return emitOpError("result dimension ") << dim << " is not source dimension " << source;
  return success();
}

LogicalResult ReshapeOp::verify() {
  Dim before(1), after(1);
  for (const Dim& dim : dims_of(getSource())) before = before * dim;
  for (const Dim& dim : dims_of(getResult())) after = after * dim;
  // Whole dimensions are names for lengths that only the kernel knows.
  auto has_names = [](const Dim& dim) {
    return llvm::any_of(dim.monomials(), [](const Monomial& monomial) {
      return llvm::any_of(monomial.symbols, [](Symbol symbol) { return symbol.kind != Symbol::Kind::Block; });
    });
  };
  if (before != after && !has_names(before) && !has_names(after))
    return emitOpError("has a source of ") << before.str() << " elements and a result of " << after.str();
  if (element_type(getSource().getType()) != element_type(getType())) return emitOpError("changes the element type");
  return success();
}

LogicalResult SortOp::verify() {
  SmallVector<Dim> source = dims_of(getSource());
  Type element = element_type(getSource().getType());
  if (!element.isF32() && !element.isF64() && !element.isInteger(32) && !element.isInteger(64))
    return emitOpError("sorts f32, f64, i32 and i64, found ") << element;
  if (dims_of(getResult()) != source || getDim() >= source.size() || !element_type(getType()).isInteger(64))
    return emitOpError("gives an i64 for each element of its source, along one of its dimensions");
  return success();
}

LogicalResult TakeOp::verify() {
  SmallVector<Dim> source = dims_of(getSource()), indices = dims_of(getIndices()), result = dims_of(getResult());
  if (!element_type(getIndices().getType()).isIntOrIndex()) return emitOpError("has indices that are no integers");
  if (element_type(getSource().getType()) != element_type(getType())) return emitOpError("changes the element type");
  if (result != indices || source.size() != result.size() || getDim() >= source.size())
    return emitOpError("needs indices of its result's dimensions, and of its source's rank");
  for (size_t dim = 0; dim < source.size(); ++dim)
    if (dim != getDim() && source[dim] != result[dim])
      return emitOpError("changes dimension ") << dim << ", which is not the one it takes along";
  return success();
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  SmallVector<Dim> dims = dims_of(getSource()), kept;
  BitVector reduced(dims.size());
  for (int64_t dim : getDims()) {
    if (dim < 0 || dim >= static_cast<int64_t>(dims.size()) || reduced[dim])
      return emitOpError("has a wrong list of dimensions");
    reduced.set(dim);
  }
  if (reduced.none()) return emitOpError("reduces no dimension");
  for (auto [i, dim] : llvm::enumerate(dims))
    if (!reduced[i]) kept.push_back(dim);
  if (kept != dims_of(getResult()) || element_type(getType()) != element_type(getSource().getType()))
    return emitOpError("result is not its source without the reduced dimensions");
  if (getValid().size() != getValidDims().size()) return emitOpError("needs one number of lanes per valid dimension");
  if (isa<FloatType>(element_type(getType())) && (getKind() == Reduction::And || getKind() == Reduction::Or))
    return emitOpError("combines floating-point values with and/or");
  return success();
}

//===----------------------------------------------------------------------===//
// tile.combine and tile.scan
//===----------------------------------------------------------------------===//

YieldOp CombineOp::yield() { return cast<YieldOp>(block().getTerminator()); }
YieldOp ScanOp::yield() { return cast<YieldOp>(block().getTerminator()); }

// Sources have one shape, and the combiner works on the scalars of two of their lanes.
template <typename Op> static LogicalResult verify_combiner(Op op) {
  if (op.getSources().empty()) return op.emitOpError("needs a source");
  SmallVector<Dim> dims = dims_of(op.getSources()[0]);
  SmallVector<Type> elements;
  for (Value source : op.getSources()) {
    if (dims_of(source) != dims) return op.emitOpError("has sources of different dimensions");
    elements.push_back(element_type(source.getType()));
  }
  if (op.getDim() >= dims.size()) return op.emitOpError("has no dimension ") << op.getDim();
  SmallVector<Type> pairs(elements);
  llvm::append_range(pairs, elements);
  if (op.block().getArgumentTypes() != TypeRange(pairs))
    return op.emitOpError("needs a combiner of the elements on the left, then of those on the right");
  auto yield = dyn_cast<YieldOp>(op.block().getTerminator());
  if (!yield || yield.getValues().getTypes() != TypeRange(elements))
    return op.emitOpError("needs a combiner that yields one scalar per source");
  for (Operation& inner : op.block().without_terminator())
    if (!isMemoryEffectFree(&inner) || inner.getNumRegions() > 0 ||
        llvm::any_of(inner.getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return inner.emitOpError("cannot stand in a combiner, which computes scalars and has no effect");
  return success();
}

LogicalResult CombineOp::verify() {
  if (failed(verify_combiner(*this))) return failure();
  if (getOther().size() != getSources().size() || getNumResults() != getSources().size())
    return emitOpError("needs one value for no lanes and one result per source");
  SmallVector<Dim> dims = dims_of(getSources()[0]);
  dims.erase(dims.begin() + getDim());
  for (auto [source, other, result] : llvm::zip(getSources(), getOther(), getResults()))
    if (dims_of(result) != dims || element_type(result.getType()) != element_type(source.getType()) ||
        other.getType() != element_type(source.getType()))
      return emitOpError("result is not its source without the combined dimension");
  return success();
}

LogicalResult ScanOp::verify() {
  if (failed(verify_combiner(*this))) return failure();
  if (getNumResults() != getSources().size()) return emitOpError("needs one result per source");
  for (auto [source, result] : llvm::zip(getSources(), getResults()))
    if (source.getType() != result.getType()) return emitOpError("result is not of its source's type");
  return success();
}

static ParseResult parse_list(OpAsmParser& parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand>& operands) {
  return parser.parseOperandList(operands, AsmParser::Delimiter::Paren);
}

static ParseResult parse_valid(OpAsmParser& parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand>& valid) {
  if (failed(parser.parseOptionalKeyword("valid"))) return success();
  return parser.parseOperand(valid.emplace_back());
}

static ParseResult parse_dim(OpAsmParser& parser, StringAttr name, OperationState& result) {
  int64_t dim = 0;
  if (parser.parseKeyword("dim") || parser.parseInteger(dim)) return failure();
  result.addAttribute(name, parser.getBuilder().getI64IntegerAttr(dim));
  return success();
}

static ParseResult parse_block(OpAsmParser& parser, OperationState& result) {
  Region* region = result.addRegion();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseRegion(*region)) return failure();
  if (region->empty()) return parser.emitError(loc, "expected a combiner");
  return success();
}

ParseResult CombineOp::parse(OpAsmParser& parser, OperationState& result) {
  SmallVector<OpAsmParser::UnresolvedOperand> sources, other, valid;
  SmallVector<Type> types, elements;
  SMLoc loc = parser.getCurrentLocation();
  if (parse_list(parser, sources) || parser.parseKeyword("other") || parse_list(parser, other) ||
      parse_valid(parser, valid) || parse_dim(parser, getDimAttrName(result.name), result) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parse_block(parser, result) ||
      parser.parseColon() || parser.parseLParen() || parser.parseTypeList(types) || parser.parseRParen() ||
      parser.parseArrow() || parser.parseLParen() || parser.parseTypeList(result.types) || parser.parseRParen())
    return failure();
  for (Type type : types) elements.push_back(element_type(type));
  result.addAttribute(getOperandSegmentSizesAttrName(result.name),
                      parser.getBuilder().getDenseI32ArrayAttr({static_cast<int32_t>(sources.size()),
                                                                static_cast<int32_t>(other.size()),
                                                                static_cast<int32_t>(valid.size())}));
  return failure(parser.resolveOperands(sources, types, loc, result.operands) ||
                 parser.resolveOperands(other, elements, loc, result.operands) ||
                 parser.resolveOperands(valid, parser.getBuilder().getIndexType(), result.operands));
}

void CombineOp::print(OpAsmPrinter& printer) {
  printer << " (" << getSources() << ") other(" << getOther() << ")";
  if (getValid()) printer << " valid " << getValid();
  printer << " dim " << getDim();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getDimAttrName(), getOperandSegmentSizesAttrName()});
  printer << " ";
  printer.printRegion(getCombiner());
  printer << " : (" << getSources().getTypes() << ") -> (" << getResultTypes() << ")";
}

ParseResult ScanOp::parse(OpAsmParser& parser, OperationState& result) {
  SmallVector<OpAsmParser::UnresolvedOperand> sources, valid;
  SMLoc loc = parser.getCurrentLocation();
  if (parse_list(parser, sources) || parse_valid(parser, valid) ||
      parse_dim(parser, getDimAttrName(result.name), result))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    result.addAttribute(getReverseAttrName(result.name), parser.getBuilder().getUnitAttr());
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parse_block(parser, result) ||
      parser.parseColonTypeList(result.types))
    return failure();
  result.addAttribute(getOperandSegmentSizesAttrName(result.name),
                      parser.getBuilder().getDenseI32ArrayAttr(
                          {static_cast<int32_t>(sources.size()), static_cast<int32_t>(valid.size())}));
  return failure(parser.resolveOperands(sources, result.types, loc, result.operands) ||
                 parser.resolveOperands(valid, parser.getBuilder().getIndexType(), result.operands));
}

void ScanOp::print(OpAsmPrinter& printer) {
  printer << " (" << getSources() << ")";
  if (getValid()) printer << " valid " << getValid();
  printer << " dim " << getDim();
  if (getReverse()) printer << " reverse";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getDimAttrName(), getReverseAttrName(), getOperandSegmentSizesAttrName()});
  printer << " ";
  printer.printRegion(getCombiner());
  printer << " : " << getResultTypes();
}

LogicalResult DotOp::verify() {
  SmallVector<Dim> a = dims_of(getA()), b = dims_of(getB()), c = dims_of(getAcc());
  size_t rank = c.size();
  if (rank < 2 || a.size() != rank || b.size() != rank)
    return emitOpError("needs three operands of one rank of at least 2, found ")
           << a.size() << ", " << b.size() << " and " << rank;
  for (size_t i = 0; i + 2 < rank; ++i)
    if (a[i] != c[i] || b[i] != c[i]) return emitOpError("has unequal batch dimensions");
  if (a[rank - 2] != c[rank - 2] || b[rank - 1] != c[rank - 1] || a[rank - 1] != b[rank - 2])
    return emitOpError("shapes do not fit: [")
           << a[rank - 2].str() << ", " << a[rank - 1].str() << "] times [" << b[rank - 2].str() << ", "
           << b[rank - 1].str() << "] into [" << c[rank - 2].str() << ", " << c[rank - 1].str() << "]";
  return success();
}

void MapProgramOp::build(OpBuilder& builder, OperationState& state, Value id, ArrayRef<OpFoldResult> counts) {
  SmallVector<Value> run_time;
  SmallVector<int64_t> numbers;
  dispatchIndexOpFoldResults(counts, run_time, numbers);
  SmallVector<Type> types(counts.size(), builder.getIndexType());
  build(builder, state, types, id, run_time, numbers);
}

SmallVector<OpFoldResult> MapProgramOp::mixed_counts() {
  Builder builder(getContext());
  return getMixedValues(getCounts(), getRunTimeCounts(), builder);
}

LogicalResult MapProgramOp::verify() {
  if (getCoordinates().size() != getCounts().size()) return emitOpError("needs one result per count");
  if (llvm::count_if(getCounts(), ShapedType::isDynamic) != static_cast<int64_t>(getRunTimeCounts().size()))
    return emitOpError("needs one index for each count that is no number");
  if (getGroup() < 1) return emitOpError("needs a group of at least 1");
  if (getGroup() > 1 && getCounts().size() < 2) return emitOpError("groups two dimensions, but has one");
  return success();
}

} // namespace tilewright
