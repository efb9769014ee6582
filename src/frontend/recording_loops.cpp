// Loops while they are recorded, and the variables that they carry.
#include "frontend/recording.h"

#include "ir/context.h"

#include "llvm/ADT/STLExtras.h"

namespace tilewright::detail {

//===----------------------------------------------------------------------===//
// Variables across loops
//===----------------------------------------------------------------------===//

mlir::Value Recording::value_in(uint32_t number, uint32_t depth) {
  const Variable& variable = variables_[number];
  // What the host part has, run-time numbers, is never assigned to.
  if (variable.depth == depth || variable.depth == 0) return variable.value;
  OpenLoop& loop = loops_[depth - 1];
  if (auto found = loop.tracked.find(number); found != loop.tracked.end()) return found->second.current;
  mlir::Value outer = value_in(number, depth - 1);
  mlir::Value placeholder = loop.block->addArgument(outer.getType(), outer.getLoc());
  if (builder_.is_number(outer)) builder_.mark_number(placeholder);
  loop.tracked[number] = {outer, placeholder, placeholder};
  return placeholder;
}

void Recording::assign_in(uint32_t number, uint32_t depth, mlir::Value value) {
  Variable& variable = variables_[number];
  if (variable.depth == depth) {
    variable.value = value;
    return;
  }
  value_in(number, depth);
  OpenLoop& loop = loops_[depth - 1];
  Tracked& tracked = loop.tracked[number];
  tracked.current = value;
  if (!tracked.assigned) loop.assigned.push_back(number);
  tracked.assigned = true;
}

mlir::Value Recording::without_placeholders(mlir::Value value) {
  for (const OpenLoop& loop : llvm::reverse(loops_))
    for (const auto& [number, tracked] : loop.tracked)
      if (tracked.placeholder == value && !tracked.assigned) value = tracked.outer;
  return value;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

std::optional<int64_t> Recording::greatest(mlir::Value index) {
  mlir::Operation* op = without_placeholders(index).getDefiningOp();
  if (auto constant = llvm::dyn_cast_if_present<mlir::arith::ConstantOp>(op))
    return mlir::cast<mlir::IntegerAttr>(constant.getValue()).getInt();
  if (auto extent = llvm::dyn_cast_if_present<ExtentOp>(op)) return builder_.dimensions.value(extent.getDim().dim());
  if (auto end = llvm::dyn_cast_if_present<EndOp>(op)) return tile_facts_.lookup(end.getTile()).greatest_end;
  return std::nullopt;
}

std::optional<int64_t> Recording::least(mlir::Value index) {
  mlir::Operation* op = without_placeholders(index).getDefiningOp();
  if (auto begin = llvm::dyn_cast_if_present<BeginOp>(op)) return tile_facts_.lookup(begin.getTile()).least_begin;
  if (llvm::isa_and_present<EndOp>(op)) return std::nullopt;
  return greatest(index);
}

bool Recording::at_most_one(mlir::Value tile) {
  TileRangeFacts facts = tile_facts_.lookup(tile);
  return facts.greatest_end && *facts.greatest_end - facts.least_begin <= 1;
}

Handle Recording::open_loop(const LoopStart& start) {
  at(start.where);
  bool parallel = loops_.empty();
  if (parallel && had_outermost_)
    builder_.fail("a second outermost tile loop is not supported yet; make it a kernel of its own");
  if (start.blocks->size() != 0 && start.blocks->size() != start.rank)
    builder_.fail("{} block sizes for a tile loop over {} dimensions", start.blocks->size(), start.rank);

  OpenLoop loop;
  loop.where = start.where;
  loop.number = ++loops_opened_;
  loop.parallel = parallel;
  loop.block = std::make_unique<mlir::Block>();
  llvm::SmallVector<TileRangeFacts> facts;
  for (int i = 0; i < start.rank; ++i) {
    Term end = term(start.end[i]), begin = start.begin ? term(start.begin[i]) : Term::integer_literal(0);
    for (const Term* bound : {&begin, &end})
      if (parallel && !bound->is_literal() && !bound->value.getDefiningOp<ExtentOp>())
        builder_.fail("the bounds of the outermost tile loop must be sizes or plain numbers, not run-time numbers");
    loop.lower.push_back(builder_.index(begin, "a bound of a tile loop"));
    loop.upper.push_back(builder_.index(end, "a bound of a tile loop"));
    std::optional<int64_t> least_begin = least(loop.lower.back()), greatest_end = greatest(loop.upper.back());
    facts.push_back({least_begin.value_or(0), least_begin ? greatest_end : std::nullopt});

    Dim block(1);
    if (!start.grid && start.blocks->size() != 0 && (*start.blocks)[i].chosen()) {
      block = Dim((*start.blocks)[i].value());
      if (*block.constant() < 1) builder_.fail("a block size must be at least 1, found {}", *block.constant());
    } else if (!start.grid) {
      block = builder_.dimensions.add_block(start.where, i, start.rank);
    }
    loop.blocks.push_back(DimAttr::get(builder_.context(), block));
  }

  had_outermost_ = true;
  loops_.push_back(std::move(loop));
  OpenLoop& opened = loops_.back();
  builder_.open_scope(opened.block.get());
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
      tile_facts_[variable] = facts[i];
    }
    if (i == 0) first = handle;
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Closing
//===----------------------------------------------------------------------===//

void Recording::check_carried(const OpenLoop& loop, const Tracked& tracked) {
  mlir::Type before = tracked.outer.getType(), after = tracked.current.getType();
  if (before == after) return;
  SourceLocation assigned = source_location(tracked.current.getLoc());
  at(assigned.known() ? assigned : loop.where);
  std::string from = builder_.describe(tracked.outer), to = builder_.describe(tracked.current);
  std::string began = source_location(tracked.outer.getLoc()).known()
                          ? fmt::format(" (line {})", source_location(tracked.outer.getLoc()).line)
                          : "";
  bool same_shape = dims_of(before) == dims_of(after);
  builder_.fail("a value that the tile loop of line {} carries on changes from {}{} to {}; it must keep its dtype and "
                "shape: {}",
                loop.where.line, from, began, to,
                same_shape ? fmt::format("convert it with .to(tw::{})", name(builder_.dtype(tracked.outer)))
                           : "begin with a value of the final shape, as from tw::zeros, or use another variable");
}

void Recording::close_loop() {
  at(loops_.back().where);
  OpenLoop loop = std::move(loops_.back());
  unsigned rank = loop.lower.size();
  mlir::OpBuilder& ir = builder_.ir;

  auto is_carried = [&](const Tracked& tracked) { return tracked.assigned && tracked.current != tracked.placeholder; };
  for (uint32_t number : loop.assigned)
    if (is_carried(loop.tracked[number])) check_carried(loop, loop.tracked[number]);
  at(loop.where);

  // What is only read stands for the value outside.
  llvm::DenseMap<mlir::Value, mlir::Value> outside;
  for (auto& [number, tracked] : loop.tracked)
    if (!is_carried(tracked)) outside[tracked.placeholder] = tracked.outer;
  for (auto& [placeholder, outer] : outside) {
    mlir::Value replaced = placeholder;
    replaced.replaceAllUsesWith(outer);
  }
  llvm::SmallVector<uint32_t> carried;
  llvm::SmallVector<mlir::Value> initial, yielded;
  for (uint32_t number : loop.assigned) {
    Tracked& tracked = loop.tracked[number];
    if (!is_carried(tracked)) continue;
    carried.push_back(number);
    initial.push_back(tracked.outer);
    mlir::Value next = outside.lookup(tracked.current);
    yielded.push_back(next ? next : tracked.current);
  }
  // The carried ones in order of their assignments, which does not depend on the order of evaluation.
  unsigned seen = loop.block->getNumArguments();
  for (auto [i, number] : llvm::enumerate(carried)) {
    mlir::Value placeholder = loop.tracked[number].placeholder;
    mlir::Value argument = loop.block->addArgument(placeholder.getType(), placeholder.getLoc());
    placeholder.replaceAllUsesWith(argument);
    for (mlir::Value& value : yielded)
      if (value == placeholder) value = argument;
  }
  for (auto& [number, tracked] : loop.tracked) builder_.forget(tracked.placeholder);
  loop.block->eraseArguments(rank, seen - rank);
  ir.create<YieldOp>(builder_.location(), yielded);

  builder_.close_scope();
  auto blocks = DimsAttr::get(builder_.context(), loop.blocks);
  auto op = ir.create<ForOp>(builder_.location(), mlir::TypeRange(mlir::ValueRange(initial)), loop.lower, loop.upper,
                             initial, blocks, loop.parallel);
  op.getBody().push_back(loop.block.release());
  loops_.pop_back();
  for (auto [number, before, result] : llvm::zip(carried, initial, op.getResults())) {
    if (builder_.is_number(before)) builder_.mark_number(result);
    assign_in(number, depth(), result);
  }
}

void Recording::leave_loop(uint32_t depth) {
  if (depth == 0 || depth > loops_.size()) return;
  left_early_ = loops_[depth - 1].where;
  while (loops_.size() >= depth) {
    loops_.pop_back();
    builder_.close_scope();
  }
}

} // namespace tilewright::detail
