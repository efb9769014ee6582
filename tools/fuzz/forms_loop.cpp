// Tile loops, and what they carry from one iteration to the next.
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <string_view>

namespace tilewright::fuzz {

// A loop's operands are its ends, one a dimension; after a begin of the one dimension where numbers[0] is 1. numbers[1]
// is a block size that the kernel fixes, or 0. Those of a grid go on with the values that its variables are.

//===----------------------------------------------------------------------===//
// What is carried
//===----------------------------------------------------------------------===//

/// The next value of a variable that the loop carries: of its type, from what is visible in the loop.
static std::optional<ValueId> next_of(Generator& g, ValueId carried) {
  Type type = g.known(carried).type;
  if (is_floating_point(type.dtype) && type.axes.size() >= 2 && type.axes.size() <= 3 && g.random.chance(0.4)) {
    const Form* dot = find_form(type.axes.size() == 2 ? "addmm" : "baddbmm");
    std::vector<Axis> inner;
    for (const OpenVariable& variable : g.open_variables())
      if (!variable.is_grid && !variable.outermost && variable.extent >= 0)
        inner.push_back({Axis::Kind::tile, variable.variable});
    auto used = [&](const Axis& axis) {
      return std::find(type.axes.begin(), type.axes.end(), axis) != type.axes.end();
    };
    if (!inner.empty() && !used(inner.back())) {
      DType dtype = type.dtype;
      if (dtype == float32 && g.random.chance(0.3)) dtype = g.random.chance(0.5) ? float16 : bfloat16;
      std::vector<Axis> left = type.axes, right = type.axes;
      left.back() = inner.back();
      right[right.size() - 2] = inner.back();
      auto a = g.value_with(left, dtype), b = g.value_with(right, dtype);
      if (!a || !b) return std::nullopt;
      Statement statement;
      statement.form = dot;
      statement.operands = {FuzzOperand::of(carried), FuzzOperand::of(*a), FuzzOperand::of(*b)};
      double magnitude = g.known(carried).magnitude + 16 * static_cast<double>(g.extent_of(inner.back()));
      return g.add_value(std::move(statement), type, magnitude);
    }
  }
  auto fits = [&](const Generator::Known& k) {
    auto joint = broadcast(type.axes, k.type.axes);
    return joint && *joint == type.axes;
  };
  std::optional<ValueId> with = g.some_value(fits);
  if (!with) return std::nullopt;
  std::optional<ValueId> same = g.converted(*with, type.dtype);
  if (!same) return std::nullopt;
  static const std::vector<std::string> functions{"operator +", "operator +", "maximum", "minimum", "operator -"};
  std::optional<ValueId> next;
  if (type.dtype == boolean)
    next =
        g.apply(g.random.chance(0.5) ? "operator |" : "operator ^", {FuzzOperand::of(carried), FuzzOperand::of(*same)});
  else
    next = g.apply(g.one_of(functions), {FuzzOperand::of(carried), FuzzOperand::of(*same)});
  if (next && g.known(*next).type != type) return std::nullopt;
  return next;
}

static bool add_assignment(Generator& g, ValueId to, ValueId from) {
  if (g.known(to).type != g.known(from).type || to == from) return false;
  Statement assign;
  assign.form = find_form("assignment");
  assign.operands = {FuzzOperand::of(to), FuzzOperand::of(from)};
  g.add(std::move(assign));
  return true;
}

static void record_assignment(Recorder& r, const Statement& s) {
  r.value(s.operands.at(0).value) = r.value(s.operands.at(1).value);
}
static void print_assignment(Printer& p, const Statement& s) {
  p.line(p.operand(s, 0) + " = " + p.operand(s, 1) + ";");
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Where an inner loop goes: some whole extent from 0, or from 1 on; or up to where a tile around it ends.
static void choose_range(Generator& g, Statement& loop, std::vector<OpenVariable>& variables, bool grid) {
  size_t rank = !grid && g.random.chance(0.1) ? 2 : 1;
  loop.numbers = {0, 0};
  for (size_t i = 0; i < rank; ++i) {
    int extent = g.some_extent();
    loop.variables.push_back(g.new_variable());
    loop.operands.push_back(FuzzOperand::extent(extent));
    variables.push_back({loop.variables.back(), extent, grid, false});
  }
  if (rank == 1 && g.random.chance(0.15) && g.kernel.extents[variables[0].extent] > 0) {
    loop.numbers[0] = 1;
    loop.operands.insert(loop.operands.begin(), FuzzOperand::integer(1));
  }
  if (!grid && rank == 1 && g.random.chance(0.1)) loop.numbers[1] = g.number(1, 9);
}

// tile(0, outer.end()), tile(outer.begin(), outer.end()): the bounds are scalars, of which numbers from 2 on say the
// tile
static void bound_by_tile(Generator& g, Statement& loop, std::vector<OpenVariable>& variables) {
  std::vector<const OpenVariable*> tiles;
  for (const OpenVariable& variable : g.open_variables())
    if (!variable.is_grid && variable.extent >= 0) tiles.push_back(&variable);
  if (tiles.empty()) return;
  const OpenVariable* tile = g.one_of(tiles);
  loop.form = find_form("tile bounded by a tile");
  loop.variables = {loop.variables[0]};
  loop.operands.clear();
  loop.numbers = {g.random.chance(0.5), tile->variable};
  variables = {{loop.variables[0], tile->extent, false, false}};
}

static bool generate_loop(Generator& g, const Form& form) {
  if (g.depth() > 4) return false;
  bool grid = std::string_view(form.name) == "grid";
  Statement loop;
  loop.form = &form;
  std::vector<OpenVariable> variables;
  choose_range(g, loop, variables, grid);
  if (std::string_view(form.name) == "tile bounded by a tile") {
    bound_by_tile(g, loop, variables);
    if (loop.operands.size() > 0) return false;
  }
  std::vector<int> extents;
  double count = 1;
  for (const OpenVariable& variable : variables) {
    extents.push_back(variable.extent);
    count *= static_cast<double>(g.kernel.extents[variable.extent]);
  }
  if (!g.may_open(extents)) return false;

  std::vector<ValueId> carried;
  size_t carried_count = g.number(0, 2) + g.random.chance(0.5);
  for (size_t i = 0; i < carried_count; ++i) {
    std::vector<Axis> axes = g.some_axes(3);
    if (i == 0 && axes.empty() && g.random.chance(0.7)) axes = g.some_axes(3);
    if (!g.affordable(axes)) continue;
    DType dtype = g.random.chance(0.5) ? float32 : g.some_dtype();
    carried.push_back(g.filled(axes, dtype, static_cast<double>(g.number(0, 2))));
  }

  g.open(variables);
  if (grid)
    for (const OpenVariable& variable : g.open_variables())
      if (variable.variable == loop.variables[0]) loop.numbers.push_back(variable.index);
  size_t statements = g.number(1, 5);
  for (size_t i = 0; i < statements; ++i) g.add_random_statement();
  std::vector<std::pair<ValueId, double>> grown;
  std::vector<std::pair<ValueId, ValueId>> assignments;
  for (ValueId id : carried) {
    double before = g.known(id).magnitude;
    if (auto next = next_of(g, id)) {
      assignments.push_back({id, *next});
      grown.push_back({id, before + count * g.known(*next).magnitude});
    }
  }
  for (auto [to, from] : assignments) add_assignment(g, to, from);
  if (carried.size() >= 2 && g.random.chance(0.2))
    add_assignment(g, carried[0], carried[1]); // one takes another's place
  loop.body = g.close();
  if (loop.body.empty()) return false;
  g.add(std::move(loop));
  for (auto [id, magnitude] : grown) g.grow(id, magnitude);
  return true;
}

/// Runs `body` in a loop over N ranges; `begin` is null for 0.
template <size_t N, class Range> static void record_range(Recorder& r, const Statement& s, Range&& range) {
  for (const auto& variable : range) {
    if constexpr (N == 1) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(variable)>, Tile>)
        r.open_tile(s.variables.at(0), variable);
      else
        r.define_scalar(static_cast<ValueId>(s.numbers.at(2)), variable);
    } else {
      for (size_t i = 0; i < N; ++i) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(variable[0])>, Tile>)
          r.open_tile(s.variables.at(i), variable[i]);
        else
          r.define_scalar(static_cast<ValueId>(s.numbers.at(2 + i)), variable[i]);
      }
    }
    r.record(s.body);
  }
}

static void record_tile(Recorder& r, const Statement& s) {
  bool has_begin = s.numbers.at(0) != 0;
  BlockSizes blocks = s.numbers.at(1) ? block_size(s.numbers[1]) : BlockSizes();
  if (has_begin) return record_range<1>(r, s, tile(r.operand(s, 0), r.operand(s, 1), blocks));
  switch (s.operands.size()) {
  case 1: return record_range<1>(r, s, tile(r.operand(s, 0), blocks));
  case 2: return record_range<2>(r, s, tile({r.operand(s, 0), r.operand(s, 1)}));
  case 3: return record_range<3>(r, s, tile({r.operand(s, 0), r.operand(s, 1), r.operand(s, 2)}));
  default: throw std::out_of_range("a loop of 4 or more dimensions");
  }
}

static void record_grid(Recorder& r, const Statement& s) {
  if (s.numbers.at(0)) return record_range<1>(r, s, grid(r.operand(s, 0), r.operand(s, 1)));
  switch (s.operands.size()) {
  case 1: return record_range<1>(r, s, grid(r.operand(s, 0)));
  case 2: return record_range<2>(r, s, grid({r.operand(s, 0), r.operand(s, 1)}));
  case 3: return record_range<3>(r, s, grid({r.operand(s, 0), r.operand(s, 1), r.operand(s, 2)}));
  default: throw std::out_of_range("a loop of 4 or more dimensions");
  }
}

static void print_loop(Printer& p, const Statement& s) {
  bool is_grid = std::string_view(s.form->name) == "grid";
  std::vector<std::string> names;
  for (size_t i = 0; i < s.variables.size(); ++i)
    names.push_back(is_grid ? numbered('v', s.numbers[2 + i]) : p.variable(s.variables[i]));
  bool list = s.variables.size() > 1;
  std::string variables = list ? fmt::format("[{}]", fmt::join(names, ", ")) : names[0];
  std::string range = list ? fmt::format("{{{}}}", p.operands(s)) : p.operands(s);
  if (s.numbers[1]) range += fmt::format(", tw::block_size({})", s.numbers[1]);
  p.block(fmt::format("for (auto {} : tw::{}({}))", variables, is_grid ? "grid" : "tile", range), s.body);
}

static void record_bounded(Recorder& r, const Statement& s) {
  Tile outer = r.tile(static_cast<int>(s.numbers.at(1)));
  if (s.numbers.at(0))
    record_range<1>(r, s, tile(outer.begin(), outer.end()));
  else
    record_range<1>(r, s, tile(0, outer.end()));
}
static void print_bounded(Printer& p, const Statement& s) {
  std::string outer = p.variable(static_cast<int>(s.numbers[1]));
  p.block(fmt::format("for (auto {} : tw::tile({}, {}.end()))", p.variable(s.variables[0]),
                      s.numbers[0] ? outer + ".begin()" : "0", outer),
          s.body);
}

const std::vector<Form>& loop_forms() {
  static const std::vector<Form> table{
      {"tile", 2.5, generate_loop, record_tile, print_loop},
      {"grid", 0.6, generate_loop, record_grid, print_loop},
      {"tile bounded by a tile", 0.6, generate_loop, record_bounded, print_bounded},
      {"assignment", 0, [](Generator&, const Form&) { return false; }, record_assignment, print_assignment},
  };
  return table;
}

} // namespace tilewright::fuzz
