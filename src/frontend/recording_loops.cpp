// Tile loops while they are recorded.
#include "frontend/recording.h"

#include "ir/context.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace tilewright::detail {

//===----------------------------------------------------------------------===//
// What is known of bounds
//===----------------------------------------------------------------------===//

std::optional<Dim> Recording::greatest(mlir::Value index) {
  mlir::Operation* op = without_placeholders(index).getDefiningOp();
  if (auto constant = llvm::dyn_cast_if_present<mlir::arith::ConstantOp>(op))
    return Dim(mlir::cast<mlir::IntegerAttr>(constant.getValue()).getInt());
  if (auto extent = llvm::dyn_cast_if_present<ExtentOp>(op)) {
    Dim number = extent.getDim().dim();
    return builder_.dimensions.value(number) ? std::optional(number) : std::nullopt; // else a block size
  }
  if (auto end = llvm::dyn_cast_if_present<EndOp>(op); end && !end.getTile().getDefiningOp())
    return tile_ranges_.lookup(end.getTile()).greatest_end;
  return std::nullopt;
}

std::optional<Dim> Recording::least(mlir::Value index) {
  mlir::Operation* op = without_placeholders(index).getDefiningOp();
  if (auto begin = llvm::dyn_cast_if_present<BeginOp>(op); begin && !begin.getTile().getDefiningOp())
    return tile_ranges_.lookup(begin.getTile()).least_begin;
  if (llvm::isa_and_present<EndOp>(op)) return std::nullopt;
  return greatest(index);
}

bool Recording::may_pass_int32(mlir::Value tile) {
  auto passes = [&](const Dim& number) {
    return !builder_.dimensions.holds(Guard::Kind::LessEqual, number, Dim(std::numeric_limits<int32_t>::max()));
  };
  if (std::optional<Dim> end = tile_ranges_.lookup(tile).greatest_end) return passes(*end);
  // Bounds from data are indices of some tensor.
  return llvm::any_of(tensors_, [&](const TensorEntry& entry) { return llvm::any_of(entry.dims, passes); });
}

std::optional<Dim> Recording::most_indices(mlir::Value tile) {
  TileRange range = tile_ranges_.lookup(tile);
  if (!range.greatest_end) return std::nullopt;
  return *range.greatest_end - range.least_begin;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Handle Recording::open_loop(const LoopStart& start) {
  at(start.where);
  bool outermost = scopes_.empty();
  if (!outermost && scopes_.back().kind == ScopeKind::combiner)
    builder_.fail("a tile loop cannot stand in a combiner, which computes scalars");
  if (start.blocks->size() != 0 && start.blocks->size() != start.rank)
    builder_.fail("{} block sizes for a tile loop over {} dimensions", start.blocks->size(), start.rank);

  llvm::SmallVector<mlir::Value> lower, upper;
  llvm::SmallVector<DimAttr> blocks;
  llvm::SmallVector<TileRange> ranges;
  for (int i = 0; i < start.rank; ++i) {
    Term end = term(start.end[i]), begin = start.begin ? term(start.begin[i]) : Term::integer_literal(0);
    for (const Term* bound : {&begin, &end})
      if (outermost && !bound->is_literal() && !llvm::isa_and_present<ExtentOp, LoadOp>(bound->value.getDefiningOp()))
        builder_.fail(
            "the bounds of the outermost tile loop must be sizes, plain numbers or elements of arguments, as in "
            "offsets[0], not run-time numbers");
    lower.push_back(builder_.index(begin, "a bound of a tile loop"));
    upper.push_back(builder_.index(end, "a bound of a tile loop"));
    if (outermost) lower.back() = with_host_numbers(lower.back()), upper.back() = with_host_numbers(upper.back());
    std::optional<Dim> least_begin = least(lower.back()), greatest_end = greatest(upper.back());
    ranges.push_back(
        {lower.back(), upper.back(), least_begin.value_or(Dim(0)), least_begin ? greatest_end : std::nullopt});

    Dim block(1);
    if (!start.grid && start.blocks->size() != 0 && (*start.blocks)[i].chosen()) {
      block = *length((*start.blocks)[i].size());
      std::optional<int64_t> number = builder_.dimensions.value(block);
      if (number) block = Dim(builder_.dimensions.settled(block));
      if (number && *number < 1) builder_.fail("a block size must be at least 1, found {}", *number);
      for (const Scope& scope : scopes_)
        if (!number && llvm::is_contained(scope.blocks, DimAttr::get(builder_.context(), block)))
          builder_.fail(
              "a tile loop of a registered block size stands in another one of the same, at line {}; give it a "
              "block size of its own",
              scope.where.line);
    } else if (!start.grid) {
      block = builder_.dimensions.add_block(start.where, i, start.rank);
    }
    blocks.push_back(DimAttr::get(builder_.context(), block));
  }

  if (outermost) {
    had_outermost_ = true;
    last_barrier_.reset();
  }
  Scope& opened = open_scope(outermost ? ScopeKind::outermost_loop : ScopeKind::loop, start.where);
  opened.lower = std::move(lower);
  opened.upper = std::move(upper);
  opened.blocks = std::move(blocks);
  Handle first;
  for (auto [i, block] : llvm::enumerate(opened.blocks)) {
    mlir::Type type = start.grid ? mlir::Type(builder_.ir.getIndexType()) : TileType::get(builder_.context(), block);
    mlir::Value variable = opened.block->addArgument(type, builder_.location());
    Handle handle;
    if (start.grid) {
      handle = new_variable(variable);
    } else {
      tiles_.push_back({variable, depth(), innermost()});
      handle = {id_, static_cast<uint32_t>(tiles_.size() - 1)};
      tile_ranges_[variable] = ranges[i];
    }
    if (i == 0) first = handle;
  }
  return first;
}

void Recording::mark_jagged(const Handle& handle, const Handle& lengths) {
  mlir::Value variable = tile(handle);
  Handle kept = new_variable(read(lengths)); // whatever becomes of the user's variable
  if (dims_of(read(kept)).empty()) return;   // one row, which the loop's bound ends
  Dim extent = mlir::cast<TileType>(variable.getType()).getExtent().dim();
  builder_.add_jagged({extent, variable, may_pass_int32(variable), [this, kept] { return read(kept); }});
}

//===----------------------------------------------------------------------===//
// Closing
//===----------------------------------------------------------------------===//

void Recording::close_loop() {
  at(scopes_.back().where);
  settle_index_types(scopes_.back());
  check_carried(scopes_.back());
  at(scopes_.back().where);
  Scope loop = take_scope();
  mlir::OpBuilder& ir = builder_.ir;
  llvm::SmallVector<uint32_t> variables;
  for (uint32_t number : loop.assigned)
    if (loop.tracked[number].changes()) variables.push_back(number);
  Carried carried = carry(loop, variables, loop.lower.size());
  {
    mlir::OpBuilder::InsertionGuard guard(ir);
    ir.setInsertionPointToEnd(loop.block.get());
    ir.create<YieldOp>(builder_.location(), carried.yielded);
  }
  auto blocks = DimsAttr::get(builder_.context(), loop.blocks);
  auto op = ir.create<ForOp>(builder_.location(), mlir::TypeRange(mlir::ValueRange(carried.initial)), loop.lower,
                             loop.upper, carried.initial, blocks, loop.kind == ScopeKind::outermost_loop);
  op.getBody().push_back(loop.block.release());
  assign_results(carried.variables, carried.initial, op.getResults());
}

} // namespace tilewright::detail
