#include "fuzz/tidy_kernel.h"

#include "fuzz/forms.h"

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
      if (subscript.kind == FuzzSubscript::Kind::scalar) values.insert(subscript.index);
  });
}

bool erase_unused_values(std::vector<Statement>& body, const std::set<ValueId>& used) {
  size_t before = body.size();
  std::erase_if(body, [&](const Statement& s) {
    ValueId made = is_assignment(s) ? s.operands[0].value : s.result;
    return made >= 0 && !used.contains(made);
  });
  bool erased = body.size() < before;
  for (Statement& statement : body) erased |= erase_unused_values(statement.body, used);
  return erased;
}

// A loop of nothing.
void erase_empty_loops(std::vector<Statement>& body) {
  for (Statement& statement : body) erase_empty_loops(statement.body);
  std::erase_if(body, [](const Statement& s) {
    return s.body.empty() && (!s.variables.empty() || std::string_view(s.form->name) == "if_");
  });
}

} // namespace

void tidy(FuzzKernel& kernel) {
  for (bool erased = true; erased;) {
    std::set<ValueId> used;
    collect_uses(kernel.body, used);
    erased = erase_unused_values(kernel.body, used);
  }
  for (Statement& outermost : kernel.body) erase_empty_loops(outermost.body);
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
