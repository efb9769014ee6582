// Variables across scopes: how one from outside is seen inside, and what becomes of it when the scope ends.
#include "frontend/recording.h"

#include "ir/context.h"

#include "llvm/ADT/STLExtras.h"

namespace tilewright::detail {

const char* Recording::name_of(ScopeKind kind) {
  switch (kind) {
  case ScopeKind::host: return "host part";
  case ScopeKind::outermost_loop:
  case ScopeKind::loop: return "tile loop";
  case ScopeKind::branch: return "branch of tw::if_";
  case ScopeKind::condition: return "condition of tw::while_";
  case ScopeKind::while_body: return "body of tw::while_";
  case ScopeKind::combiner: return "combiner";
  }
  llvm_unreachable("unknown scope");
}

//===----------------------------------------------------------------------===//
// Opening and leaving
//===----------------------------------------------------------------------===//

Recording::Scope& Recording::open_scope(ScopeKind kind, const SourceLocation& where) {
  Scope scope{kind, static_cast<uint32_t>(scope_kinds_.size()), where};
  scope_kinds_.push_back(kind);
  if (kind != ScopeKind::combiner) {
    scope.block = std::make_unique<mlir::Block>();
    builder_.open_scope(scope.block.get());
  }
  scopes_.push_back(std::move(scope));
  return scopes_.back();
}

Recording::Scope Recording::take_scope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  if (scope.block) builder_.close_scope();
  return scope;
}

void Recording::leave_scope(uint32_t depth) {
  if (depth == 0 || depth > scopes_.size()) return;
  left_early_ = {scopes_[depth - 1].kind, scopes_[depth - 1].where};
  while (scopes_.size() >= depth) take_scope();
}

//===----------------------------------------------------------------------===//
// Reading and assigning
//===----------------------------------------------------------------------===//

mlir::Value Recording::value_in(uint32_t number, uint32_t depth) {
  const Variable& variable = variables_[number];
  // What the host part has, run-time numbers, is never assigned to.
  if (variable.depth == depth || variable.depth == 0) return variable.value;
  Scope& scope = scopes_[depth - 1];
  if (auto found = scope.tracked.find(number); found != scope.tracked.end()) return found->second.current;
  mlir::Value outer = value_in(number, depth - 1);
  if (!scope.repeats()) return outer;
  mlir::Value placeholder = scope.block->addArgument(outer.getType(), outer.getLoc());
  builder_.mark_like(placeholder, outer);
  scope.tracked[number] = {outer, placeholder, placeholder};
  return placeholder;
}

void Recording::assign_in(uint32_t number, uint32_t depth, mlir::Value value) {
  Variable& variable = variables_[number];
  if (variable.depth == depth) {
    variable.value = value;
    return;
  }
  Scope& scope = scopes_[depth - 1];
  if (scope.kind == ScopeKind::combiner || scope.kind == ScopeKind::condition)
    builder_.fail("a {} assigns to a tw::Value from outside of it; it may only read it", name_of(scope.kind));
  mlir::Value seen = value_in(number, depth);
  auto [entry, first] = scope.tracked.try_emplace(number, Tracked{seen, {}, seen}); // there already, where it repeats
  entry->second.current = value;
  if (!entry->second.assigned) scope.assigned.push_back(number);
  entry->second.assigned = true;
}

mlir::Value Recording::without_placeholders(mlir::Value value) {
  for (const Scope& scope : llvm::reverse(scopes_))
    for (const auto& [number, tracked] : scope.tracked)
      if (tracked.placeholder && tracked.placeholder == value && !tracked.assigned) value = tracked.outer;
  return value;
}

//===----------------------------------------------------------------------===//
// Closing
//===----------------------------------------------------------------------===//

void Recording::check_kept(const std::string& who, mlir::Value before, mlir::Value after) {
  if (before.getType() == after.getType() && builder_.dtype(before) == builder_.dtype(after)) return;
  if (SourceLocation assigned = source_location(after.getLoc()); assigned.known()) at(assigned);
  std::string from = builder_.describe(before), to = builder_.describe(after);
  std::string began =
      source_location(before.getLoc()).known() ? fmt::format(" (line {})", source_location(before.getLoc()).line) : "";
  bool same_shape = dims_of(before) == dims_of(after);
  builder_.fail("a value that {} changes from {}{} to {}; it must keep its dtype and shape: {}", who, from, began, to,
                same_shape ? fmt::format("convert it with .to(tw::{})", name(builder_.dtype(before)))
                           : "begin with a value of the final shape, as from tw::zeros, or use another variable");
}

void Recording::settle_index_types(Scope& scope) {
  for (auto& [number, tracked] : scope.tracked) {
    if (!tracked.changes() || tracked.outer.getType() == tracked.current.getType()) continue;
    mlir::Type wanted = tracked.outer.getType();
    if (wanted.isIndex() && tracked.current.getType().isInteger(64))
      tracked.current = builder_.index(tracked.current, "");
    else if (wanted.isInteger(64) && tracked.current.getType().isIndex())
      tracked.current = builder_.cast(tracked.current, DType::int64);
  }
}

void Recording::check_carried(const Scope& scope) {
  const char* loop = scope.kind == ScopeKind::while_body ? "tw::while_" : "the tile loop";
  for (uint32_t number : scope.assigned) {
    const Tracked& tracked = scope.tracked.find(number)->second;
    if (!tracked.changes()) continue;
    at(scope.where);
    check_kept(fmt::format("{} of line {} carries on", loop, scope.where.line), tracked.outer, tracked.current);
  }
}

Recording::Carried Recording::carry(Scope& scope, llvm::ArrayRef<uint32_t> variables, unsigned first_argument) {
  // What is only read stands for the value outside.
  llvm::DenseMap<mlir::Value, mlir::Value> outside;
  for (auto& [number, tracked] : scope.tracked)
    if (!llvm::is_contained(variables, number)) outside[tracked.placeholder] = tracked.outer;
  for (auto& [placeholder, outer] : outside) {
    mlir::Value replaced = placeholder;
    replaced.replaceAllUsesWith(outer);
  }
  Carried carried;
  carried.variables = llvm::to_vector(variables);
  for (uint32_t number : variables) {
    auto found = scope.tracked.find(number);
    mlir::Value outer = found == scope.tracked.end() ? value_in(number, depth()) : found->second.outer;
    mlir::Value current = found == scope.tracked.end() ? mlir::Value() : found->second.current;
    carried.initial.push_back(outer);
    mlir::Value next = outside.lookup(current);
    carried.yielded.push_back(next ? next : current);
  }
  // The carried ones in order of their assignments, which does not depend on the order of evaluation.
  unsigned seen = scope.block->getNumArguments();
  for (auto [number, outer] : llvm::zip(variables, carried.initial)) {
    mlir::Value argument = scope.block->addArgument(outer.getType(), outer.getLoc());
    builder_.mark_like(argument, outer);
    mlir::Value placeholder = scope.tracked.lookup(number).placeholder;
    if (placeholder) placeholder.replaceAllUsesWith(argument);
    for (mlir::Value& value : carried.yielded)
      if (value && value == placeholder) value = argument;
  }
  for (auto& [number, tracked] : scope.tracked) builder_.forget(tracked.placeholder);
  scope.block->eraseArguments(first_argument, seen - first_argument);
  return carried;
}

void Recording::assign_results(llvm::ArrayRef<uint32_t> variables, llvm::ArrayRef<mlir::Value> initial,
                               mlir::ValueRange results) {
  for (auto [number, before, result] : llvm::zip(variables, initial, results)) {
    builder_.mark_like(result, before);
    assign_in(number, depth(), result);
  }
}

} // namespace tilewright::detail
