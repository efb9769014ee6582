// Shapes of new values, and where their elements stand in all that a kernel walks over.
#include "frontend/recording.h"

#include "llvm/ADT/STLExtras.h"

namespace tilewright::detail {

Recording::ShapeParts Recording::shape(const Shape& shape, bool may_be_open) {
  ShapeParts parts;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i].is_tile()) {
      parts.tiles.push_back(tile(shape[i].tile().handle()));
      parts.dims.push_back(mlir::cast<TileType>(parts.tiles.back().getType()).getExtent().dim());
      continue;
    }
    if (shape[i].is_block_size()) {
      std::optional<Dim> block = length(shape[i].block_size());
      if (!block)
        builder_.fail("a dimension of a new value is a tile, a number, a size or a block size, found {}",
                      builder_.describe(term(shape[i].block_size())));
      parts.tiles.emplace_back();
      parts.dims.push_back(builder_.dimensions.value(*block) ? builder_.dimensions.whole(*block) : *block);
      continue;
    }
    if (may_be_open && shape[i].size().traced_value() == -1) {
      parts.tiles.emplace_back();
      parts.dims.push_back(Dim(-1));
      continue;
    }
    Dim length = dim(shape[i].size());
    if (!builder_.dimensions.holds(Guard::Kind::LessEqual, Dim(0), length))
      builder_.fail("a value cannot have {} elements", shape[i].size().traced_value());
    parts.tiles.emplace_back();
    parts.dims.push_back(builder_.dimensions.whole(length));
  }
  return parts;
}

// A dimension of a value that is no whole one is a tile's, of a loop that is open.
Recording::ShapeParts Recording::shape_like(mlir::Value value) {
  ShapeParts parts;
  parts.dims = dims_of(value);
  for (const Dim& dim : parts.dims) {
    mlir::Value limit;
    bool whole = dim.is_one() || (dim.symbol() && dim.symbol()->kind == Symbol::Kind::Whole);
    if (!whole)
      for (const TileEntry& entry : llvm::reverse(tiles_))
        if (!limit && entry.tile && is_open(entry.depth, entry.scope) && !entry.tile.getDefiningOp() &&
            mlir::cast<TileType>(entry.tile.getType()).getExtent().dim() == dim)
          limit = entry.tile;
    parts.tiles.push_back(limit);
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Logical indices
//===----------------------------------------------------------------------===//

mlir::Value Recording::range_begin(mlir::Value lower) {
  while (auto begin = without_placeholders(lower).getDefiningOp<BeginOp>()) {
    if (begin.getTile().getDefiningOp()) break; // moved
    lower = tile_ranges_.lookup(begin.getTile()).lower;
  }
  return lower;
}

mlir::Value Recording::range_end(mlir::Value upper) {
  while (auto end = without_placeholders(upper).getDefiningOp<EndOp>()) {
    if (end.getTile().getDefiningOp()) break; // moved
    upper = tile_ranges_.lookup(end.getTile()).upper;
  }
  return upper;
}

bool Recording::depends_on_block_size(mlir::Value value) {
  mlir::Operation* op = without_placeholders(value).getDefiningOp();
  if (!op) return false; // a grid's index, an argument, or a carried value, which comes from these or from memory
  if (llvm::isa<BeginOp, EndOp, IdOp, CountOp>(op)) return true;
  if (auto extent = llvm::dyn_cast<ExtentOp>(op)) return !builder_.dimensions.value(extent.getDim().dim());
  if (AccessOp(op)) return false;
  return llvm::any_of(op->getOperands(), [&](mlir::Value operand) { return depends_on_block_size(operand); });
}

// A host number, as a dimension.
static std::optional<Dim> number_on_host(mlir::Value index) {
  if (auto extent = index.getDefiningOp<ExtentOp>()) return extent.getDim().dim();
  if (auto constant = index.getDefiningOp<mlir::arith::ConstantOp>())
    return Dim(mlir::cast<mlir::IntegerAttr>(constant.getValue()).getInt());
  return std::nullopt;
}

Recording::LogicalIndex Recording::logical_index(const ShapeParts& shape, const char* what) {
  LogicalIndex result;
  Term stride = Term::integer_literal(1);
  std::optional<Dim> count = Dim(1); // of elements so far, from the last dimension on
  for (int64_t i = static_cast<int64_t>(shape.dims.size()) - 1; i >= 0; --i) {
    // The element's number along this dimension, and how many there are.
    mlir::Value number, begin, end;
    std::optional<Dim> length;
    if (mlir::Value tile = shape.tiles[i]) {
      TileRange range = tile_ranges_.lookup(tile);
      begin = without_placeholders(range_begin(range.lower)), end = without_placeholders(range_end(range.upper));
      if (depends_on_block_size(begin) || (i > 0 && depends_on_block_size(end)))
        builder_.fail("{} over a tile of a loop whose bounds depend on a block size: its numbers would change with the "
                      "config; use a loop over sizes, or numbers from memory",
                      what);
      number = builder_.cast(builder_.tile_index(tile), DType::int64);
      std::optional<Dim> first = number_on_host(begin), last = number_on_host(end);
      if (!first || !first->constant() || *first->constant() != 0)
        number = builder_.pointwise(Pointwise::sub, {number, begin});
      if (first && last) length = *last - *first;
    } else {
      number = builder_.cast(builder_.lane_numbers(shape.dims[i]), DType::int64);
      length = shape.dims[i];
    }
    if (!stride.is_literal()) number = builder_.pointwise(Pointwise::mul, {number, stride});
    number = builder_.along(number, shape.dims, i);
    result.index = result.index ? builder_.pointwise(Pointwise::add, {number, result.index}) : number;

    const bool known = length && builder_.dimensions.value(*length);
    count = known && count ? std::optional(*length * *count) : std::nullopt;
    if (i == 0) break;
    Term many = length ? Term(builder_.extent(*length)) : Term(builder_.pointwise(Pointwise::sub, {end, begin}));
    stride = stride.is_literal() ? many : Term(builder_.pointwise(Pointwise::mul, {stride, many}));
  }
  if (!result.index) result.index = builder_.cast(Term::integer_literal(0), DType::int64);
  if (count) {
    // All that is asked of it is whether it is a number of 32 bits.
    builder_.dimensions.holds(Guard::Kind::LessEqual, *count, Dim(int64_t(1) << 32));
    result.most = std::max<int64_t>(*builder_.dimensions.value(*count) - 1, 0);
  }
  return result;
}

} // namespace tilewright::detail
