// tw::if_ and tw::while_ while they are recorded.
#include "frontend/recording.h"

#include "ir/context.h"

#include "llvm/ADT/STLExtras.h"

namespace tilewright::detail {

// Opens a scope, and leaves it where an exception passes by before close() was called.
class Recording::OpenScope {
public:
  OpenScope(Recording& recording, ScopeKind kind, const SourceLocation& where) : recording_(recording) {
    recording.open_scope(kind, where);
    depth_ = recording.depth();
  }
  ~OpenScope() {
    if (depth_ != 0) recording_.leave_scope(depth_);
  }
  Scope close() {
    depth_ = 0;
    return recording_.take_scope();
  }

private:
  Recording& recording_;
  uint32_t depth_;
};

// An op whose regions are these blocks.
static mlir::Operation* create_with_blocks(mlir::OpBuilder& ir, mlir::Location location, llvm::StringRef name,
                                           mlir::ValueRange operands, mlir::TypeRange results,
                                           std::array<mlir::Block*, 2> blocks) {
  mlir::OperationState state(location, name, operands, results);
  for (mlir::Block* block : blocks) {
    mlir::Region* region = state.addRegion();
    if (block) region->push_back(block);
  }
  return ir.create(state);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

Recording::Scope Recording::record_branch(const Body& body, const SourceLocation& where) {
  OpenScope scope(*this, ScopeKind::branch, where);
  if (body.call) body.call(body.function);
  settle_index_types(scopes_.back());
  return scope.close();
}

void Recording::record_if(const Operand& condition, const Body& then, const Body& otherwise,
                          const SourceLocation& where) {
  device(where, "tw::if_");
  Term term = this->term(condition);
  if (term.is_literal()) { // settled: only what is taken is looked at
    const Body& taken = term.as_double() != 0 ? then : otherwise;
    if (taken.call) taken.call(taken.function);
    return;
  }
  mlir::Value holds = builder_.condition(term, "tw::if_");
  Scope yes = record_branch(then, where), no = record_branch(otherwise, where);
  at(where);

  // What either side assigned to a variable from outside, in order of first assignment.
  llvm::SmallVector<uint32_t> variables;
  for (Scope* side : {&yes, &no})
    for (uint32_t number : side->assigned)
      if (side->tracked[number].changes() && !llvm::is_contained(variables, number)) variables.push_back(number);
  llvm::SmallVector<mlir::Value> before, if_yes, if_no;
  for (uint32_t number : variables) {
    before.push_back(value_in(number, depth()));
    for (auto [side, yielded] : {std::pair(&yes, &if_yes), std::pair(&no, &if_no)}) {
      auto found = side->tracked.find(number);
      yielded->push_back(found == side->tracked.end() ? before.back() : found->second.current);
      at(where);
      check_kept(fmt::format("tw::if_ of line {} assigns to", where.line), before.back(), yielded->back());
    }
  }
  at(where);
  // Variables without a value before, which both sides give one of the same type. The second side gave them their
  // number.
  llvm::SmallVector<std::pair<const Handle*, uint32_t>> fresh;
  for (auto [address, number] : no.fresh) {
    auto found = yes.fresh.find(address);
    if (found == yes.fresh.end()) continue;
    mlir::Value one = variables_[found->second].value, other = variables_[number].value;
    if (one.getType() != other.getType() ||
        builder_.dtype(one) != builder_.dtype(other)) { // no error yet: it may be a variable of each side's own
      unlike_[number] = fmt::format(
          "a tw::Value has no value after tw::if_ of line {}, whose branches give it {} and {}; "
          "both must give it the same dtype and shape{}",
          where.line, builder_.describe(one), builder_.describe(other),
          dims_of(one) == dims_of(other) ? fmt::format(": convert one with .to(tw::{})", name(builder_.dtype(one)))
                                         : "");
      continue;
    }
    fresh.emplace_back(address, number);
    if_yes.push_back(one);
    if_no.push_back(other);
  }

  mlir::OpBuilder& ir = builder_.ir;
  for (auto [side, yielded] : {std::pair(&yes, &if_yes), std::pair(&no, &if_no)}) {
    mlir::OpBuilder::InsertionGuard guard(ir);
    ir.setInsertionPointToEnd(side->block.get());
    ir.create<mlir::scf::YieldOp>(builder_.location(), *yielded);
  }
  bool one_sided = no.block->getOperations().size() == 1 && if_no.empty();
  mlir::TypeRange types = mlir::ValueRange(if_yes);
  mlir::Operation* op = create_with_blocks(ir, builder_.location(), mlir::scf::IfOp::getOperationName(), holds, types,
                                           {yes.block.release(), one_sided ? nullptr : no.block.release()});
  for (auto [one, other, result] : llvm::zip(if_yes, if_no, op->getResults())) {
    if (builder_.is_number(one) && builder_.is_number(other)) builder_.mark_number(result);
    if (builder_.is_unsigned(one)) builder_.mark_unsigned(result);
  }
  for (auto [number, result] : llvm::zip(variables, op->getResults())) assign_in(number, depth(), result);
  for (auto [entry, result] : llvm::zip(fresh, op->getResults().drop_front(variables.size()))) {
    variables_[entry.second] = {result, depth(), innermost()};
    if (scopes_.back().kind == ScopeKind::branch) scopes_.back().fresh[entry.first] = entry.second;
  }
}

//===----------------------------------------------------------------------===//
// Loops on a condition
//===----------------------------------------------------------------------===//

void Recording::record_while(const ConditionBody& condition, const Body& body, const SourceLocation& where) {
  device(where, "tw::while_");
  OpenScope open_condition(*this, ScopeKind::condition, where);
  Term term = this->term(condition.call(condition.function, where));
  at(where);
  if (term.is_literal())
    builder_.fail("the condition of tw::while_ is {}, always: it must depend on what the body assigns",
                  builder_.describe(term));
  mlir::Value holds = builder_.condition(term, "tw::while_");
  Scope before = open_condition.close();

  OpenScope open_body(*this, ScopeKind::while_body, where);
  body.call(body.function);
  settle_index_types(scopes_.back());
  check_carried(scopes_.back());
  at(where);
  Scope after = open_body.close();

  llvm::SmallVector<uint32_t> variables;
  for (uint32_t number : after.assigned)
    if (after.tracked[number].changes()) variables.push_back(number);
  // The condition may be a placeholder itself, which carry() replaces.
  std::optional<size_t> carried_condition;
  for (auto& [number, tracked] : before.tracked) {
    if (tracked.placeholder != holds) continue;
    auto* found = llvm::find(variables, number);
    if (found == variables.end()) builder_.fail("the body of tw::while_ does not assign to its condition");
    carried_condition = found - variables.begin();
  }
  Carried seen = carry(before, variables, 0), carried = carry(after, variables, 0);
  if (carried_condition) holds = before.block->getArgument(*carried_condition);

  mlir::OpBuilder& ir = builder_.ir;
  {
    mlir::OpBuilder::InsertionGuard guard(ir);
    ir.setInsertionPointToEnd(before.block.get());
    ir.create<mlir::scf::ConditionOp>(builder_.location(), holds, before.block->getArguments());
    ir.setInsertionPointToEnd(after.block.get());
    ir.create<mlir::scf::YieldOp>(builder_.location(), carried.yielded);
  }
  mlir::TypeRange types = mlir::ValueRange(carried.initial);
  mlir::Operation* op = create_with_blocks(ir, builder_.location(), mlir::scf::WhileOp::getOperationName(),
                                           carried.initial, types, {before.block.release(), after.block.release()});
  assign_results(carried.variables, carried.initial, op->getResults());
}

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

llvm::SmallVector<mlir::Value> Recording::combined(const Combiner& combiner, mlir::ValueRange left,
                                                   mlir::ValueRange right, const SourceLocation& where) {
  OpenScope scope(*this, ScopeKind::combiner, where);
  std::vector<Value> arguments;
  arguments.reserve(2 * left.size());
  for (mlir::ValueRange side : {left, right})
    for (mlir::Value value : side) arguments.push_back(Value(new_variable(value)));
  std::vector<Operand> results(left.size());
  combiner.call(combiner.function, arguments.data(), results.data(), where);
  at(where);
  llvm::SmallVector<mlir::Value> values;
  for (auto [i, operand] : llvm::enumerate(results)) {
    Term result = term(operand);
    DType wanted = builder_.dtype(Term(left[i])), found = builder_.dtype(result);
    std::string which = results.size() == 1 ? "" : fmt::format(" {}", i);
    if (builder_.rank(result) != 0)
      builder_.fail("a combiner gives back scalars, found {} as result{}", builder_.describe(result), which);
    if (!result.is_literal() && found != wanted)
      builder_.fail("result{} of the combiner is {}, where its operands are {}; convert it with .to(tw::{})", which,
                    name(found), name(wanted), name(wanted));
    values.push_back(builder_.cast(result, wanted));
  }
  scope.close();
  return values;
}

} // namespace tilewright::detail
