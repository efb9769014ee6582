// Tile loops, and what they carry from one iteration to the next.
#include "fuzz/generator.h"
#include "fuzz/operations.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace tilewright::fuzz {

// A loop's operands are its ends, one a dimension; after its begins where numbers[0] is 1. The numbers go on with a
// block size for each dimension: 0 for the config's, one that the kernel fixes, or -1 - the number of a registered one.
// Those of a grid go on with the values that its variables are.

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

/// Where an inner loop goes: some whole extents from 0, or from 0 or 1 on.
static void choose_range(Generator& g, Statement& loop, std::vector<OpenVariable>& variables, bool grid) {
  size_t rank = !grid && g.random.chance(0.1) ? 2 : 1;
  loop.numbers = {0};
  for (size_t i = 0; i < rank; ++i) {
    int extent = g.some_extent();
    loop.variables.push_back(g.new_variable());
    loop.operands.push_back(FuzzOperand::extent(extent));
    variables.push_back({loop.variables.back(), extent, grid, false});
  }
  bool some = std::all_of(variables.begin(), variables.end(),
                          [&](const OpenVariable& each) { return g.kernel.extents[each.extent] > 0; });
  if (some && g.random.chance(0.15)) {
    loop.numbers[0] = 1;
    std::vector<FuzzOperand> begins;
    for (OpenVariable& variable : variables) {
      variable.begin = rank == 1 ? 1 : g.number(0, 1);
      begins.push_back(FuzzOperand::integer(variable.begin));
    }
    loop.operands.insert(loop.operands.begin(), begins.begin(), begins.end());
  }
  if (!grid) g.choose_blocks(loop, variables);
}

// tile(v1, v2) of numbers that the kernel computes: as many as there are at most, in order.
static bool bound_by_data(Generator& g, Statement& loop, const OpenVariable& variable) {
  auto is_scalar = [](const Generator::Known& k) {
    return k.type.axes.empty() && (k.type.dtype == int32 || k.type.dtype == int64);
  };
  int64_t length = g.kernel.extents[variable.extent];
  auto bound = [&] { // from 0 to length
    auto number = g.random.chance(0.5) ? g.some_value(is_scalar) : std::nullopt;
    if (!number) number = g.load_of({}, g.random.chance(0.5) ? int32 : int64);
    return number ? g.apply("remainder", {FuzzOperand::of(*number), FuzzOperand::integer(length + 1)}) : std::nullopt;
  };
  auto first = bound(), second = bound();
  if (!first || !second) return false;
  if (g.known(*first).type.dtype != g.known(*second).type.dtype)
    second = g.converted(*second, g.known(*first).type.dtype);
  if (!second) return false;
  auto begin = g.apply("minimum", {FuzzOperand::of(*first), FuzzOperand::of(*second)});
  auto end = g.apply("maximum", {FuzzOperand::of(*first), FuzzOperand::of(*second)});
  if (!begin || !end) return false;
  loop.numbers[0] = 1;
  loop.operands = {FuzzOperand::of(*begin), FuzzOperand::of(*end)};
  return true;
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
  if (std::string_view(form.name) == "tile bounded by data") {
    if (variables.size() > 1 || !g.may_open({variables[0].extent})) return false;
    variables[0].begin = 0;
    if (!bound_by_data(g, loop, variables[0])) return false;
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
        r.define_scalar(static_cast<ValueId>(s.numbers.at(1)), variable);
    } else {
      for (size_t i = 0; i < N; ++i) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(variable[0])>, Tile>)
          r.open_tile(s.variables.at(i), variable[i]);
        else
          r.define_scalar(static_cast<ValueId>(s.numbers.at(1 + i)), variable[i]);
      }
    }
    r.record(s.body);
  }
}

static BlockSizes blocks_of(Recorder& r, const Statement& s) {
  BlockSizes blocks;
  bool any = false;
  for (size_t i = 0; i < s.variables.size(); ++i) {
    int64_t block = s.numbers.at(1 + i);
    any |= block != 0;
    if (block < 0)
      blocks.push_back(r.block(static_cast<int>(-1 - block)));
    else
      blocks.push_back(block == 0 ? BlockSize(none) : BlockSize(block));
  }
  return any ? blocks : BlockSizes();
}

static void record_tile(Recorder& r, const Statement& s) {
  BlockSizes blocks = blocks_of(r, s);
  auto at = [&](size_t i) { return r.operand(s, i); };
  bool has_begin = s.numbers.at(0) != 0;
  switch (s.variables.size()) {
  case 1: return record_range<1>(r, s, has_begin ? tile(at(0), at(1), blocks) : tile(at(0), blocks));
  case 2:
    return record_range<2>(r, s,
                           has_begin ? tile({at(0), at(1)}, {at(2), at(3)}, blocks) : tile({at(0), at(1)}, blocks));
  case 3:
    return record_range<3>(r, s,
                           has_begin ? tile({at(0), at(1), at(2)}, {at(3), at(4), at(5)}, blocks)
                                     : tile({at(0), at(1), at(2)}, blocks));
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
  size_t rank = s.variables.size();
  std::vector<std::string> names, begins, ends, blocks;
  bool chosen = false;
  for (size_t i = 0; i < rank; ++i) {
    int64_t number = s.numbers[1 + i];
    names.push_back(is_grid ? numbered('v', number) : p.variable(s.variables[i]));
    if (s.numbers[0]) begins.push_back(p.operand(s, i));
    ends.push_back(p.operand(s, s.numbers[0] ? rank + i : i));
    blocks.push_back(number == 0  ? "tw::none"
                     : number > 0 ? std::to_string(number)
                                  : p.block_size(static_cast<int>(-1 - number)));
    chosen |= number != 0 && !is_grid;
  }
  auto list = [&](const std::vector<std::string>& texts, const char* open, const char* close) {
    return rank == 1 ? texts[0] : fmt::format("{}{}{}", open, fmt::join(texts, ", "), close);
  };
  std::string range = s.numbers[0] ? list(begins, "{", "}") + ", " : "";
  range += list(ends, "{", "}");
  if (chosen) range += fmt::format(", tw::block_size({})", list(blocks, "{", "}"));
  p.block(fmt::format("for (auto {} : tw::{}({}))", list(names, "[", "]"), is_grid ? "grid" : "tile", range), s.body);
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

//===----------------------------------------------------------------------===//
// A value as long as a registered block size, in which the tiles of a loop of that block are collected
//===----------------------------------------------------------------------===//

// v1 = zeros({t0, b0}); for (auto t1 : tile(n, block_size(b0))) v1 = v1 + x[t0, t1]; v3 = sum(v1, {1})
static bool generate_collecting(Generator& g, const Form&) {
  if (g.depth() > 3) return false;
  int extent = g.some_extent();
  if (!g.may_open({extent})) return false;
  if (g.kernel.blocks.empty()) g.kernel.blocks.push_back(extent);
  auto block = static_cast<int>(g.random.below(g.kernel.blocks.size()));
  if (!g.is_free_block(block)) return false;
  std::vector<Axis> whole = g.some_axes(1);
  int64_t dim = g.number(0, static_cast<int64_t>(whole.size()));
  whole.insert(whole.begin() + dim, {Axis::Kind::block, block});
  static const std::vector<DType> dtypes{float32, int32, float64, int64};
  DType dtype = g.one_of(dtypes);
  if (!g.affordable(whole)) return false;
  Type type{dtype, whole};
  ValueId collected = g.filled(whole, dtype, static_cast<double>(g.number(0, 2)));

  Statement loop;
  loop.form = find_form("tile");
  loop.variables = {g.new_variable()};
  loop.operands = {FuzzOperand::extent(extent)};
  loop.numbers = {0, -1 - block};
  std::vector<Axis> part = whole;
  part[dim] = {Axis::Kind::tile, loop.variables[0]};
  g.open({{.variable = loop.variables[0], .extent = extent, .is_grid = false, .outermost = false, .block = block}});
  for (int64_t i = g.number(0, 2); i > 0; --i) g.add_random_statement();
  auto value = g.value_with(part, dtype);
  std::optional<ValueId> next;
  double grown = 0;
  if (value) {
    static const std::vector<std::string> names{"operator +", "operator +", "operator -",
                                                "maximum",    "minimum",    "where"};
    const std::string& name = g.one_of(names);
    Statement combine;
    combine.form = find_form(name == "where" ? "where" : "pointwise");
    combine.operands = {FuzzOperand::of(collected), FuzzOperand::of(*value)};
    if (name == "where") {
      auto condition = g.apply("operator >", {FuzzOperand::of(*value), FuzzOperand::integer(0)});
      if (condition)
        combine.operands = {FuzzOperand::of(*condition), FuzzOperand::of(*value), FuzzOperand::of(collected)};
      if (!condition) combine.form = nullptr;
    }
    for (const Operation& operation : operations())
      if (operation.name == name) combine.operation = &operation;
    grown = g.known(collected).magnitude +
            static_cast<double>(g.extent_of({Axis::Kind::whole, extent})) * g.known(*value).magnitude;
    if (combine.form) next = g.add_value(std::move(combine), type, g.known(*value).magnitude + 2);
  }
  if (next) add_assignment(g, collected, *next);
  loop.body = g.close();
  if (loop.body.empty()) return false;
  g.add(std::move(loop));
  if (!next) return false;
  g.grow(collected, grown);

  Statement reduce;
  reduce.form = find_form(g.random.chance(0.6) ? "sum" : g.random.chance(0.5) ? "amax" : "amin");
  reduce.operands = {FuzzOperand::of(collected)};
  reduce.numbers = {0, dim};
  bool sums = std::string_view(reduce.form->name) == "sum";
  if (sums && !is_floating_point(dtype)) type.dtype = int64;
  type.axes.erase(type.axes.begin() + dim);
  return g.add_value(std::move(reduce), type, sums ? 64 * grown : grown).has_value();
}
static void record_nothing(Recorder&, const Statement&) {} // it makes statements of other forms
static void print_nothing(Printer&, const Statement&) {}

const std::vector<Form>& loop_forms() {
  static const std::vector<Form> table{
      {"tile", 2.5, generate_loop, record_tile, print_loop, kChooses},
      {"grid", 0.6, generate_loop, record_grid, print_loop, kChooses},
      {"tile bounded by a tile", 0.6, generate_loop, record_bounded, print_bounded},
      {"tile bounded by data", 0.6, generate_loop, record_tile, print_loop},
      {"collecting", 0.4, generate_collecting, record_nothing, print_nothing, kChooses},
      {"assignment", 0, [](Generator&, const Form&) { return false; }, record_assignment, print_assignment},
  };
  return table;
}

} // namespace tilewright::fuzz
