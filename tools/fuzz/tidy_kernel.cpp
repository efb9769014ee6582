#include "fuzz/tidy_kernel.h"

#include "fuzz/forms.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace tilewright::fuzz {
namespace {

bool is_assignment(const Statement& statement) { return std::string_view(statement.form->name) == "assignment"; }

void collect_uses(const std::vector<Statement>& body, std::set<ValueId>& values) {
  for_each_statement(body, [&](const Statement& statement) {
    bool first_is_read = !is_assignment(statement); // its first operand is what it assigns to
    for (size_t i = first_is_read ? 0 : 1; i < statement.operands.size(); ++i)
      if (statement.operands[i].kind == FuzzOperand::Kind::value) values.insert(statement.operands[i].value);
    for (const FuzzSubscript& subscript : statement.subscripts)
      if (subscript.value >= 0) values.insert(subscript.value);
  });
}

bool erase_unused_values(std::vector<Statement>& body, const std::set<ValueId>& used) {
  size_t before = body.size();
  std::erase_if(body, [&](const Statement& s) {
    ValueId made = is_assignment(s) ? s.operands[0].value : s.result;
    return made >= 0 && !used.contains(made) && !s.form->has(kHasEffect);
  });
  bool erased = body.size() < before;
  for (Statement& statement : body) erased |= erase_unused_values(statement.body, used);
  return erased;
}

/// Calls `visit` with every mention of a registered block size.
template <class Visit> void for_each_block(FuzzKernel& kernel, Visit&& visit) {
  for_each_statement(kernel.body, [&](Statement& statement) {
    for (Axis& axis : statement.type.axes)
      if (axis.kind == Axis::Kind::block) visit(axis.index);
    std::string_view form = statement.form->name;
    if (form != "tile" && form != "tile bounded by data") return;
    for (size_t i = 1; i < statement.numbers.size(); ++i) {
      if (statement.numbers[i] >= 0) continue;
      int block = static_cast<int>(-1 - statement.numbers[i]);
      visit(block);
      statement.numbers[i] = -1 - block;
    }
  });
}

// A loop of nothing.
void erase_empty_loops(std::vector<Statement>& body) {
  for (Statement& statement : body) erase_empty_loops(statement.body);
  std::erase_if(body, [](const Statement& s) {
    std::string_view form = s.form->name;
    return s.body.empty() &&
           (!s.variables.empty() || form.starts_with("if_") || form == "else" || form == "static_range");
  });
}

bool is_barrier(const Statement& statement) { return std::string_view(statement.form->name) == "barrier"; }

// One outermost loop stays, whatever it does; a barrier stands between two.
void tidy_outermost(std::vector<Statement>& body) {
  size_t loops = std::count_if(body.begin(), body.end(), [](const Statement& s) { return !is_barrier(s); });
  std::erase_if(body, [&](const Statement& s) { return !is_barrier(s) && s.body.empty() && loops-- > 1; });
  auto is_idle = [&](size_t i) { return is_barrier(body[i]) && (i + 1 == body.size() || is_barrier(body[i + 1])); };
  for (size_t i = body.size(); i-- > 0;)
    if (is_idle(i) || (i == 0 && is_barrier(body[i]))) body.erase(body.begin() + static_cast<int64_t>(i));
}

// Registered block sizes that no loop has.
void erase_unused_blocks(FuzzKernel& kernel) {
  std::vector<int> now(kernel.blocks.size(), -1), kept;
  for_each_block(kernel, [&](int& block) { now.at(block) = 0; });
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] < 0) continue;
    now[i] = static_cast<int>(kept.size());
    kept.push_back(kernel.blocks[i]);
  }
  kernel.blocks = kept;
  for_each_block(kernel, [&](int& block) { block = now[block]; });
}

} // namespace

void tidy(FuzzKernel& kernel) {
  for (bool erased = true; erased;) {
    std::set<ValueId> used;
    collect_uses(kernel.body, used);
    erased = erase_unused_values(kernel.body, used);
  }
  for (Statement& outermost : kernel.body) erase_empty_loops(outermost.body);
  tidy_outermost(kernel.body);
  erase_unused_blocks(kernel);
  // Tensors and run-time numbers that nothing names.
  std::vector<int> tensor_now(kernel.tensors.size(), -1), number_now(kernel.numbers.size(), -1);
  for_each_statement(kernel.body, [&](const Statement& statement) {
    if (statement.tensor >= 0) tensor_now[statement.tensor] = 0;
    if (std::string_view(statement.form->name) == "tw::Scalar") number_now[statement.numbers[0]] = 0;
  });
  auto keep = [](auto& list, std::vector<int>& now) {
    int next = 0;
    std::remove_reference_t<decltype(list)> kept;
    for (size_t i = 0; i < list.size(); ++i)
      if (now[i] == 0) {
        now[i] = next++;
        kept.push_back(list[i]);
      }
    list = std::move(kept);
  };
  keep(kernel.tensors, tensor_now);
  keep(kernel.numbers, number_now);
  for_each_statement(kernel.body, [&](Statement& statement) {
    if (statement.tensor >= 0) statement.tensor = tensor_now[statement.tensor];
    if (std::string_view(statement.form->name) == "tw::Scalar") statement.numbers[0] = number_now[statement.numbers[0]];
  });
}

} // namespace tilewright::fuzz
