// Control flow on the device, and what else is a statement: branches, loops on a condition, copies of a body, barriers,
// printing.
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/control.h"

#include <fmt/format.h>

#include <string_view>

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

// if_(condition, [&] { ... }, [&] { ... }): the statements of the second lambda stand in a body of their own, `else`.
static bool generate_if_else(Generator& g, const Form& form) {
  if (!generate_if(g, form)) return false;
  Statement branch = std::move(g.last_statement());
  Statement otherwise;
  otherwise.form = find_form("else");
  std::vector<ValueId> carried;
  for (const Statement& statement : branch.body) // what the first one assigns to, mostly
    if (std::string_view(statement.form->name) == "assignment") carried.push_back(statement.operands[0].value);
  g.open({});
  add_body(g, carried);
  otherwise.body = g.close();
  branch.body.push_back(std::move(otherwise));
  g.last_statement() = std::move(branch);
  return true;
}
static bool ends_with_else(const Statement& s) {
  return !s.body.empty() && std::string_view(s.body.back().form->name) == "else";
}
static void record_if_else(Recorder& r, const Statement& s) {
  if (!ends_with_else(s)) return record_if(r, s); // shrinking took it away
  std::vector<Statement> then(s.body.begin(), s.body.end() - 1);
  if_(r.operand(s, 0), [&] { r.record(then); }, [&] { r.record(s.body.back().body); });
}
static void print_if_else(Printer& p, const Statement& s) {
  if (!ends_with_else(s)) return print_if(p, s);
  std::vector<Statement> then(s.body.begin(), s.body.end() - 1);
  p.block(fmt::format("tw::if_({}, [&]", p.operand(s, 0)), then, "}, [&] {");
  p.block_body(s.body.back().body);
  p.line("});");
}
static bool generate_never(Generator&, const Form&) { return false; }
static void record_else(Recorder& r, const Statement& s) { r.record(s.body); } // alone, after shrinking
static void print_else(Printer& p, const Statement& s) { p.print(s.body); }

// for (int i : static_range(n)) { ... }, where the number becomes a value
static bool generate_static_range(Generator& g, const Form& form) {
  if (g.depth() > 3) return false;
  std::vector<ValueId> carried = new_carried(g);
  Statement statement;
  statement.form = &form;
  int64_t begin = g.number(0, 1), step = g.number(1, 2), count = g.number(0, 3);
  g.open({});
  ValueId number = g.filled({}, int32, 2);
  statement.numbers = {begin, begin + step * count, step, number};
  g.last_statement().form = find_form("number of a static_range");
  g.grow(number, 7);
  add_body(g, carried);
  statement.body = g.close();
  g.add(std::move(statement));
  for (ValueId id : carried) g.grow(id, 5 * g.known(id).magnitude + 20);
  return true;
}
static void record_static_range(Recorder& r, const Statement& s) {
  for (int i : static_range(s.numbers.at(0), s.numbers.at(1), s.numbers.at(2))) {
    r.set_counter(i);
    r.record(s.body);
  }
}
static void print_static_range(Printer& p, const Statement& s) {
  p.block(fmt::format("for (int i : tw::static_range({}, {}, {}))", s.numbers[0], s.numbers[1], s.numbers[2]), s.body);
}
static void record_counter(Recorder& r, const Statement& s) { r.define(s, full({}, r.counter(), s.type.dtype)); }
static void print_counter(Printer& p, const Statement& s) { p.define(s, "tw::full({}, i, tw::int32)"); }

// barrier(), which stands between outermost loops
static void record_barrier(Recorder&, const Statement&) { barrier(); }
static void print_barrier(Printer& p, const Statement&) { p.line("tw::barrier();"); }

// print("v3", v3): of exact values, whose text is the same however they were computed
static bool generate_print(Generator& g, const Form& form) {
  std::optional<ValueId> id;
  if (g.kernel.exact) id = g.some_value([](const Generator::Known& k) { return k.type.axes.size() <= 2; });
  Statement statement;
  statement.form = &form;
  if (id) statement.operands = {FuzzOperand::of(*id)};
  g.add(std::move(statement));
  return true;
}
static void record_print(Recorder& r, const Statement& s) {
  if (s.operands.empty())
    print("here");
  else
    print(numbered('v', s.operands[0].value).c_str(), r.operand(s, 0));
}
static void print_print(Printer& p, const Statement& s) {
  std::string value = s.operands.empty() ? "" : p.operand(s, 0);
  p.line(value.empty() ? "tw::print(\"here\");" : fmt::format("tw::print(\"{0}\", {0});", value));
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
      {"if_ with else", 0.4, generate_if_else, record_if_else, print_if_else},
      {"else", 0, generate_never, record_else, print_else},
      {"while_", 0.3, generate_while, record_while, print_while},
      {"static_range", 0.4, generate_static_range, record_static_range, print_static_range},
      {"number of a static_range", 0, generate_never, record_counter, print_counter},
      {"barrier", 0, generate_never, record_barrier, print_barrier},
      {"print", 0.15, generate_print, record_print, print_print, kHasEffect},
  };
  return table;
}

} // namespace tilewright::fuzz
