// Control flow on the device: if_ and while_ on scalars.
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/control.h"

#include <fmt/format.h>

namespace tilewright::fuzz {

// A value that the body may give another of its type.
static void add_changed_values(Generator& g, const std::vector<ValueId>& carried) {
  for (ValueId to : carried) {
    Type type = g.known(to).type;
    auto from = g.some_value([&](const Generator::Known& k) { return k.type == type; });
    std::optional<ValueId> next;
    if (from && type.dtype != boolean) next = g.apply("operator +", {FuzzOperand::of(to), FuzzOperand::of(*from)});
    if (!next || !(g.known(*next).type == type)) continue;
    Statement assign;
    assign.form = find_form("assignment");
    assign.operands = {FuzzOperand::of(to), FuzzOperand::of(*next)};
    g.add(std::move(assign));
  }
}

static std::vector<ValueId> new_carried(Generator& g) {
  std::vector<ValueId> carried;
  for (int64_t i = g.number(1, 2); i > 0; --i) {
    std::vector<Axis> axes = g.some_axes(2);
    if (g.affordable(axes)) carried.push_back(g.filled(axes, g.some_dtype(), static_cast<double>(g.number(0, 2))));
  }
  return carried;
}

static void add_body(Generator& g, const std::vector<ValueId>& carried) {
  for (int64_t i = g.number(1, 3); i > 0; --i) g.add_random_statement();
  add_changed_values(g, carried);
}

// if_(condition, [&] { ... })
static bool generate_if(Generator& g, const Form& form) {
  if (g.depth() > 4) return false;
  auto number = g.some_value([](const Generator::Known& k) { return k.type.axes.empty() && k.type.dtype != boolean; });
  if (!number) return false;
  auto condition = g.apply(g.random.chance(0.5) ? "operator >" : "operator <=",
                           {FuzzOperand::of(*number), FuzzOperand::integer(g.number(-1, 2))});
  if (!condition) return false;
  std::vector<ValueId> carried = new_carried(g);
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*condition)};
  g.open({});
  add_body(g, carried);
  statement.body = g.close();
  if (statement.body.empty()) return false;
  g.add(std::move(statement));
  return true;
}
static void record_if(Recorder& r, const Statement& s) {
  if_(r.operand(s, 0), [&] { r.record(s.body); });
}
static void print_if(Printer& p, const Statement& s) {
  p.block(fmt::format("tw::if_({}, [&]", p.operand(s, 0)), s.body, "});");
}

// while_([&] { return counter < n; }, [&] { ...; counter = counter + 1; })
static bool generate_while(Generator& g, const Form& form) {
  if (g.depth() > 3) return false;
  std::vector<ValueId> carried = new_carried(g);
  ValueId counter = g.filled({}, int32, 0);
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(counter), FuzzOperand::integer(g.number(0, 4))};
  g.open({});
  add_body(g, carried);
  auto next = g.apply("operator +", {FuzzOperand::of(counter), FuzzOperand::integer(1)});
  if (next) {
    Statement assign;
    assign.form = find_form("assignment");
    assign.operands = {FuzzOperand::of(counter), FuzzOperand::of(*next)};
    g.add(std::move(assign));
  }
  statement.body = g.close();
  if (!next) return false;
  g.add(std::move(statement));
  for (ValueId id : carried) g.grow(id, 5 * g.known(id).magnitude + 20);
  return true;
}
static void record_while(Recorder& r, const Statement& s) {
  while_([&] { return r.operand(s, 0) < r.operand(s, 1); }, [&] { r.record(s.body); });
}
static void print_while(Printer& p, const Statement& s) {
  p.block(fmt::format("tw::while_([&] {{ return {} < {}; }}, [&]", p.operand(s, 0), p.operand(s, 1)), s.body, "});");
}

const std::vector<Form>& control_forms() {
  static const std::vector<Form> table{
      {"if_", 0.5, generate_if, record_if, print_if},
      {"while_", 0.3, generate_while, record_while, print_while},
  };
  return table;
}

} // namespace tilewright::fuzz
