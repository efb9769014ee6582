// Values that come from nothing: fills, and what a tile knows of itself.
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/creation.h"

#include <fmt/format.h>

#include <string_view>

namespace tilewright::fuzz {

static std::string dtype_text(DType dtype) { return "tw::" + std::string(dtype == boolean ? "boolean" : name(dtype)); }

// zeros(shape, dtype), ones, full(shape, value, dtype)
static bool generate_fill(Generator& g, const Form& form) {
  std::string_view name = form.name;
  int64_t number = name == "zeros" ? 0 : name == "ones" ? 1 : g.number(2, 3);
  std::vector<Axis> axes = g.some_axes(3);
  if (!g.affordable(axes)) return false;
  g.filled(axes, g.some_dtype(), static_cast<double>(number));
  return true;
}
static void record_fill(Recorder& r, const Statement& s) {
  std::string_view name = s.form->name;
  Shape shape = r.shape(s.type.axes);
  if (name == "zeros")
    r.define(s, zeros(shape, s.type.dtype));
  else if (name == "ones")
    r.define(s, ones(shape, s.type.dtype));
  else
    r.define(s, full(shape, r.operand(s, 0), s.type.dtype));
}
static void print_fill(Printer& p, const Statement& s) {
  std::string_view name = s.form->name;
  p.define(s, "tw::" + std::string(name) + "(" + p.shape(s.type.axes) + (name == "full" ? ", " + p.operand(s, 0) : "") +
                  ", " + dtype_text(s.type.dtype) + ")");
}

// zeros_like(x), full_like(x, value)
static bool generate_like(Generator& g, const Form& form) {
  auto id = g.some_value([](const Generator::Known&) { return true; });
  if (!id) return false;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*id)};
  if (std::string_view(form.name) == "full_like") statement.operands.push_back(FuzzOperand::integer(g.number(0, 3)));
  return g.add_value(std::move(statement), g.known(*id).type, 3).has_value();
}
static void record_like(Recorder& r, const Statement& s) {
  if (std::string_view(s.form->name) == "ones_like") return r.define(s, ones_like(r.operand(s, 0)));
  r.define(s, s.operands.size() == 1 ? zeros_like(r.operand(s, 0)) : full_like(r.operand(s, 0), r.operand(s, 1)));
}
static void print_like(Printer& p, const Statement& s) {
  p.define(s, "tw::" + std::string(s.form->name) + "(" + p.operands(s) + ")");
}

// new_zeros(x, shape), new_ones, new_full(x, shape, value): of x's dtype
static bool generate_new(Generator& g, const Form& form) { // new_empty is one of zeros
  auto id = g.some_value([](const Generator::Known&) { return true; });
  std::vector<Axis> axes = g.some_axes(3);
  if (!id || !g.affordable(axes)) return false;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*id)};
  if (std::string_view(form.name) == "new_full") statement.operands.push_back(FuzzOperand::integer(g.number(0, 3)));
  return g.add_value(std::move(statement), {g.known(*id).type.dtype, axes}, 3).has_value();
}
static void record_new(Recorder& r, const Statement& s) {
  std::string_view name = s.form->name;
  Shape shape = r.shape(s.type.axes);
  if (name == "new_empty")
    r.define(s, new_empty(r.operand(s, 0), shape));
  else if (name == "new_zeros")
    r.define(s, new_zeros(r.operand(s, 0), shape));
  else if (name == "new_ones")
    r.define(s, new_ones(r.operand(s, 0), shape));
  else
    r.define(s, new_full(r.operand(s, 0), shape, r.operand(s, 1)));
}
static void print_new(Printer& p, const Statement& s) {
  p.define(s, fmt::format("tw::{}({}, {}{}{})", s.form->name, p.operand(s, 0), p.shape(s.type.axes),
                          s.operands.size() > 1 ? ", " : "", s.operands.size() > 1 ? p.operand(s, 1) : ""));
}

// rand(shape, seed, dtype), randn, randint(low, high, shape, seed, dtype)
static bool generate_random(Generator& g, const Form& form) {
  bool integers = std::string_view(form.name) == "randint";
  if (g.kernel.exact && !integers) return false;
  std::vector<Axis> axes = g.some_axes(3);
  if (axes.empty() || !g.affordable(axes)) return false;
  Statement statement;
  statement.form = &form;
  statement.numbers = {g.number(0, 1000)};
  DType dtype = integers ? (g.random.chance(0.5) ? int32 : int64) : (g.random.chance(0.5) ? float32 : float64);
  return g.add_value(std::move(statement), {dtype, axes}, integers ? 4 : 6).has_value();
}
static void record_random(Recorder& r, const Statement& s) {
  std::string_view name = s.form->name;
  Shape shape = r.shape(s.type.axes);
  if (name == "rand")
    r.define(s, rand(shape, s.numbers.at(0), s.type.dtype));
  else if (name == "randn")
    r.define(s, randn(shape, s.numbers.at(0), s.type.dtype));
  else
    r.define(s, randint(-4, 5, shape, s.numbers.at(0), s.type.dtype));
}
static void print_random(Printer& p, const Statement& s) {
  bool integers = std::string_view(s.form->name) == "randint";
  p.define(s, fmt::format("tw::{}({}{}, {}, {})", s.form->name, integers ? "-4, 5, " : "", p.shape(s.type.axes),
                          s.numbers[0], dtype_text(s.type.dtype)));
}

// rand4x(shape, seed)[i]
static bool generate_rand4x(Generator& g, const Form& form) {
  if (g.kernel.exact || !generate_random(g, *find_form("rand"))) return false;
  Statement& made = g.last_statement();
  if (made.type.dtype != float32) return true; // a rand() then
  made.form = &form;
  made.numbers.push_back(g.number(0, 3));
  return true;
}
static void record_rand4x(Recorder& r, const Statement& s) {
  r.define(s, rand4x(r.shape(s.type.axes), s.numbers.at(0)).at(s.numbers.at(1)));
}
static void print_rand4x(Printer& p, const Statement& s) {
  p.define(s, fmt::format("tw::rand4x({}, {})[{}]", p.shape(s.type.axes), s.numbers[0], s.numbers[1]));
}

// arange(n, dtype), arange(begin, begin + n, dtype)
static bool generate_arange(Generator& g, const Form& form) {
  Axis axis{Axis::Kind::whole, g.some_extent()};
  Statement statement;
  statement.form = &form;
  statement.numbers = {g.number(-1, 2)};
  static const std::vector<DType> dtypes{int32, int64, float32};
  return g.add_value(std::move(statement), {g.one_of(dtypes), {axis}}, static_cast<double>(g.extent_of(axis) + 2))
      .has_value();
}
static void record_arange(Recorder& r, const Statement& s) {
  Size length = r.size(s.type.axes.at(0).index);
  int64_t begin = s.numbers.at(0);
  r.define(s, begin == 0 ? arange(length, s.type.dtype) : arange(begin, length + begin, s.type.dtype));
}
static void print_arange(Printer& p, const Statement& s) {
  std::string length = p.size(s.type.axes[0].index);
  std::string range = s.numbers[0] == 0 ? length : fmt::format("{0}, {1} + {0}", s.numbers[0], length);
  p.define(s, fmt::format("tw::arange({}, {})", range, dtype_text(s.type.dtype)));
}

// t0.index()
static bool generate_index(Generator& g, const Form& form) {
  std::vector<const OpenVariable*> tiles;
  for (const OpenVariable& variable : g.open_variables())
    if (!variable.is_grid) tiles.push_back(&variable);
  if (tiles.empty()) return false;
  const OpenVariable* tile = g.one_of(tiles);
  Statement statement;
  statement.form = &form;
  statement.numbers = {tile->variable};
  double most = tile->extent < 0 ? 200 : static_cast<double>(g.kernel.extents[tile->extent]);
  bool is_index = std::string_view(form.name) == "tile.index";
  std::vector<Axis> axes;
  if (is_index) axes.push_back({Axis::Kind::tile, tile->variable});
  return g.add_value(std::move(statement), {int32, axes}, most).has_value();
}
static void record_index(Recorder& r, const Statement& s) {
  r.define(s, r.tile(static_cast<int>(s.numbers.at(0))).index());
}

// t0.begin(), .end(), .id(), .count(), .block_size(): whole numbers without a dtype of their own
static void record_number(Recorder& r, const Statement& s) {
  const Tile& tile = r.tile(static_cast<int>(s.numbers.at(0)));
  std::string_view name = s.form->name;
  Value number = name == "tile.begin"   ? tile.begin()
                 : name == "tile.end"   ? tile.end()
                 : name == "tile.id"    ? tile.id()
                 : name == "tile.count" ? tile.count()
                                        : tile.block_size();
  r.define(s, number.to(int32));
}
static void print_tile(Printer& p, const Statement& s) {
  std::string_view name = s.form->name;
  p.define(s, p.variable(static_cast<int>(s.numbers[0])) + std::string(name.substr(4)) + "()" +
                  (name == "tile.index" ? "" : ".to(tw::int32)"));
}

const std::vector<Form>& creation_forms() {
  static const std::vector<Form> table{
      {"zeros", 0.4, generate_fill, record_fill, print_fill, kByBlocks | kChooses},
      {"ones", 0.3, generate_fill, record_fill, print_fill, kByBlocks | kChooses},
      {"full", 0.4, generate_fill, record_fill, print_fill, kByBlocks | kChooses},
      {"zeros_like", 0.2, generate_like, record_like, print_like, kByBlocks},
      {"ones_like", 0.2, generate_like, record_like, print_like, kByBlocks},
      {"full_like", 0.3, generate_like, record_like, print_like, kByBlocks},
      {"new_zeros", 0.15, generate_new, record_new, print_new, kByBlocks},
      {"new_ones", 0.15, generate_new, record_new, print_new, kByBlocks},
      {"new_empty", 0.15, generate_new, record_new, print_new, kByBlocks},
      {"new_full", 0.15, generate_new, record_new, print_new, kByBlocks},
      {"rand", 0.3, generate_random, record_random, print_random},
      {"randn", 0.3, generate_random, record_random, print_random},
      {"randint", 0.3, generate_random, record_random, print_random},
      {"rand4x", 0.3, generate_rand4x, record_rand4x, print_rand4x},
      {"arange", 0.4, generate_arange, record_arange, print_arange},
      {"tile.index", 0.6, generate_index, record_index, print_tile, kByBlocks},
      {"tile.begin", 0.2, generate_index, record_number, print_tile, kByBlocks},
      {"tile.end", 0.2, generate_index, record_number, print_tile, kByBlocks},
      {"tile.id", 0.2, generate_index, record_number, print_tile, kByBlocks},
      {"tile.count", 0.2, generate_index, record_number, print_tile, kByBlocks},
      {"tile.block_size", 0.2, generate_index, record_number, print_tile, kByBlocks},
  };
  return table;
}

} // namespace tilewright::fuzz
