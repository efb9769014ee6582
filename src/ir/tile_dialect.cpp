#include "ir/tile_dialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "ir/tile_dialect.cpp.inc"

namespace tilewright {

void TileDialect::initialize() {
  register_attributes_and_types();
  addOperations<
#define GET_OP_LIST
#include "ir/tile_ops.cpp.inc"
      >();
}

Operation* TileDialect::materializeConstant(OpBuilder& builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

namespace {

/// Upstream folds make constants of dynamic shape (`x - x`), which have no meaning: they become splats.
struct DynamicConstantToSplat : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, PatternRewriter& rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || type.hasStaticShape()) return failure();
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!splat) return failure();
    auto scalar = rewriter.create<arith::ConstantOp>(op.getLoc(), cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    rewriter.replaceOpWithNewOp<SplatOp>(op, type, scalar);
    return success();
  }
};

} // namespace

void TileDialect::getCanonicalizationPatterns(RewritePatternSet& patterns) const {
  patterns.add<DynamicConstantToSplat>(patterns.getContext());
}

TypedAttr neutral_element(Reduction kind, Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics& semantics = type.getFloatSemantics();
    switch (kind) {
    case Reduction::Add: return FloatAttr::get(type, APFloat::getZero(semantics));
    case Reduction::Mul: return FloatAttr::get(type, APFloat(semantics, 1));
    case Reduction::Max: return FloatAttr::get(type, APFloat::getInf(semantics, /*Negative=*/true));
    case Reduction::Min: return FloatAttr::get(type, APFloat::getInf(semantics));
    case Reduction::And:
    case Reduction::Or: break;
    }
    llvm_unreachable("and/or of floating-point values");
  }
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  bool boolean = width == 1; // ordered false < true
  auto integer = [&](APInt value) { return IntegerAttr::get(element, value); };
  switch (kind) {
  case Reduction::Add:
  case Reduction::Or: return integer(APInt::getZero(width));
  case Reduction::Mul: return integer(APInt(width, 1));
  case Reduction::Max: return integer(boolean ? APInt::getZero(1) : APInt::getSignedMinValue(width));
  case Reduction::Min: return integer(boolean ? APInt::getAllOnes(1) : APInt::getSignedMaxValue(width));
  case Reduction::And: return integer(APInt::getAllOnes(width));
  }
  llvm_unreachable("unknown reduction");
}

} // namespace tilewright
