// Values put together, taken apart, reshaped and picked from: what works on whole dimensions.
#include "fuzz/generator.h"
#include "fuzz/places.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tilewright::fuzz {

using Known = Generator::Known;

static bool is_whole(const Axis& axis) { return axis.kind == Axis::Kind::whole; }
static int at(const Statement& s, size_t i) { return static_cast<int>(s.numbers.at(i)); }

// A value with a whole dimension, and which one: the last one that `fits`.
static std::optional<std::pair<ValueId, int64_t>> some_whole(Generator& g, size_t most_rank,
                                                             const std::function<bool(const Axis&)>& fits = is_whole) {
  auto fitting = [&](const Axis& axis) { return is_whole(axis) && fits(axis); };
  auto id = g.some_value([&](const Known& k) {
    return k.type.axes.size() <= most_rank && std::any_of(k.type.axes.begin(), k.type.axes.end(), fitting);
  });
  if (!id) return std::nullopt;
  const std::vector<Axis>& axes = g.known(*id).type.axes;
  auto last = std::find_if(axes.rbegin(), axes.rend(), fitting);
  return std::pair(*id, static_cast<int64_t>(axes.rend() - last) - 1);
}

//===----------------------------------------------------------------------===//
// Together
//===----------------------------------------------------------------------===//

static std::vector<Value> values_of(Recorder& r, const Statement& s) {
  std::vector<Value> values;
  for (const FuzzOperand& operand : s.operands) values.push_back(r.value(operand.value));
  return values;
}

// stack({a, b, c}, dim), join(a, b)
static bool generate_stack(Generator& g, const Form& form) {
  bool is_join = std::string_view(form.name) == "join";
  auto first = g.some_value([](const Known& k) { return k.type.axes.size() <= 2; });
  if (!first) return false;
  Type type = g.known(*first).type;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*first)};
  double magnitude = g.known(*first).magnitude;
  for (int64_t more = is_join ? 1 : g.number(0, 2); more > 0; --more) {
    auto other = g.value_with(type.axes, type.dtype);
    if (!other) return false;
    statement.operands.push_back(FuzzOperand::of(*other));
    magnitude = std::max(magnitude, g.known(*other).magnitude);
  }
  int64_t rank = static_cast<int64_t>(type.axes.size()), dim = is_join ? rank : g.number(0, rank);
  int extent = g.constant_extent(static_cast<int64_t>(statement.operands.size()));
  type.axes.insert(type.axes.begin() + dim, {Axis::Kind::whole, extent});
  statement.numbers = {is_join ? -1 : dim};
  return g.add_value(std::move(statement), type, magnitude).has_value();
}
static void record_stack(Recorder& r, const Statement& s) {
  if (std::string_view(s.form->name) == "join")
    r.define(s, join(r.value(s.operands.at(0).value), r.value(s.operands.at(1).value)));
  else
    r.define(s, stack(values_of(r, s), at(s, 0)));
}

// cat({a, b}, dim)
static bool generate_cat(Generator& g, const Form& form) {
  auto first = some_whole(g, 3);
  if (!first) return false;
  auto [id, dim] = *first;
  Type type = g.known(id).type;
  std::vector<Axis> axes = type.axes;
  if (g.random.chance(0.6)) axes[dim] = {Axis::Kind::whole, g.some_extent()};
  auto other = g.value_with(axes, type.dtype);
  if (!other) return false;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(id), FuzzOperand::of(*other)};
  statement.numbers = {dim};
  type.axes[dim].index = g.derived_extent({DerivedExtent::Kind::sum, 0, type.axes[dim].index, axes[dim].index});
  double magnitude = std::max(g.known(id).magnitude, g.known(*other).magnitude);
  return g.add_value(std::move(statement), type, magnitude).has_value();
}
static void record_cat(Recorder& r, const Statement& s) { r.define(s, cat(values_of(r, s), at(s, 0))); }

static void print_list(Printer& p, const Statement& s) {
  bool is_join = std::string_view(s.form->name) == "join";
  p.define(s, is_join ? fmt::format("tw::join({})", p.operands(s))
                      : fmt::format("tw::{}({{{}}}, {})", s.form->name, p.operands(s), s.numbers[0]));
}

//===----------------------------------------------------------------------===//
// Apart
//===----------------------------------------------------------------------===//

static bool add_piece(Generator& g, const Form& form, ValueId id, std::vector<Axis> axes,
                      std::vector<int64_t> numbers) {
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(id)};
  statement.numbers = std::move(numbers);
  return g.add_value(std::move(statement), {g.known(id).type.dtype, std::move(axes)}, g.known(id).magnitude)
      .has_value();
}

// split(x, size, dim)[i], chunk(x, count, dim)[i]; split(x).first of a last dimension of 2
static bool generate_split(Generator& g, const Form& form) {
  bool is_chunk = std::string_view(form.name) == "chunk";
  auto is_two = [&](const Axis& axis) { return g.kernel.extents[axis.index] == 2; };
  if (!is_chunk && g.random.chance(0.5))
    if (auto pair = some_whole(g, 3, is_two); pair && pair->second + 1 == std::ssize(g.known(pair->first).type.axes)) {
      std::vector<Axis> axes = g.known(pair->first).type.axes;
      axes.pop_back();
      return add_piece(g, form, pair->first, axes, {g.number(0, 1)});
    }
  auto whole = some_whole(g, 3);
  if (!whole) return false;
  auto [id, dim] = *whole;
  std::vector<Axis> axes = g.known(id).type.axes;
  int64_t length = g.kernel.extents[axes[dim].index];
  if (length == 0) return false;
  int64_t count = g.number(1, std::min<int64_t>(length, 4)), size = (length + count - 1) / count;
  int64_t pieces = (length + size - 1) / size, piece = g.number(0, pieces - 1);
  axes[dim].index = g.constant_extent(std::min(size, length - piece * size));
  return add_piece(g, form, id, axes, {piece, is_chunk ? count : size, dim});
}
static void record_split(Recorder& r, const Statement& s) {
  bool is_chunk = std::string_view(s.form->name) == "chunk";
  Value x = r.value(s.operands.at(0).value);
  if (s.numbers.size() == 1) {
    auto [first, second] = split(x);
    return r.define(s, s.numbers[0] ? second : first);
  }
  std::vector<Value> pieces = is_chunk ? chunk(x, s.numbers[1], at(s, 2)) : split(x, s.numbers[1], at(s, 2));
  r.define(s, pieces.at(s.numbers[0]));
}
static void print_split(Printer& p, const Statement& s) {
  p.define(s, s.numbers.size() == 1
                  ? fmt::format("tw::split({}).{}", p.operand(s, 0), s.numbers[0] ? "second" : "first")
                  : fmt::format("tw::{}({}, {}, {})[{}]", s.form->name, p.operand(s, 0), s.numbers[1], s.numbers[2],
                                s.numbers[0]));
}

//===----------------------------------------------------------------------===//
// Reshaping
//===----------------------------------------------------------------------===//

// reshape(x, shape), view(x, shape): a whole dimension in two, or two neighbours as one
static bool generate_reshape(Generator& g, const Form& form) {
  auto whole = some_whole(g, 3);
  if (!whole) return false;
  auto [id, dim] = *whole;
  std::vector<Axis> axes = g.known(id).type.axes;
  int64_t length = g.kernel.extents[axes[dim].index];
  bool merges = dim > 0 && is_whole(axes[dim - 1]);
  if (merges && g.random.chance(0.6)) {
    axes[dim].index = g.derived_extent({DerivedExtent::Kind::product, 0, axes[dim - 1].index, axes[dim].index});
    axes.erase(axes.begin() + dim - 1);
    return add_piece(g, form, id, axes, {});
  }
  std::vector<int64_t> divisors;
  for (int64_t divisor = 2; divisor <= length; ++divisor)
    if (length % divisor == 0) divisors.push_back(divisor);
  if (divisors.empty() || axes.size() > 3) return false;
  int64_t divisor = g.one_of(divisors);
  axes[dim].index = g.constant_extent(divisor);
  axes.insert(axes.begin() + dim, {Axis::Kind::whole, g.constant_extent(length / divisor)});
  return add_piece(g, form, id, axes, {});
}
static void record_reshape(Recorder& r, const Statement& s) {
  bool is_view = std::string_view(s.form->name) == "view";
  Shape shape = r.shape(s.type.axes);
  r.define(s, is_view ? view(r.operand(s, 0), shape) : reshape(r.operand(s, 0), shape));
}
static void print_reshape(Printer& p, const Statement& s) {
  p.define(s, fmt::format("tw::{}({}, {})", s.form->name, p.operand(s, 0), p.shape(s.type.axes)));
}

// flatten(x, first, last) of whole dimensions
static bool generate_flatten(Generator& g, const Form& form) {
  auto whole = some_whole(g, 3);
  if (!whole) return false;
  auto [id, last] = *whole;
  std::vector<Axis> axes = g.known(id).type.axes;
  int64_t first = last;
  while (first > 0 && is_whole(axes[first - 1])) --first;
  first = g.number(first, last);
  for (int64_t dim = last; dim-- > first;) {
    axes[dim].index = g.derived_extent({DerivedExtent::Kind::product, 0, axes[dim].index, axes[dim + 1].index});
    axes.erase(axes.begin() + dim + 1);
  }
  return add_piece(g, form, id, axes, {first, last});
}
static void record_flatten(Recorder& r, const Statement& s) {
  r.define(s, flatten(r.operand(s, 0), at(s, 0), at(s, 1)));
}
static void print_flatten(Printer& p, const Statement& s) {
  p.define(s, fmt::format("tw::flatten({}, {}, {})", p.operand(s, 0), s.numbers[0], s.numbers[1]));
}

//===----------------------------------------------------------------------===//
// Picking
//===----------------------------------------------------------------------===//

// gather(x, dim, index)
static bool generate_gather(Generator& g, const Form& form) {
  auto whole = some_whole(g, 3);
  if (!whole) return false;
  auto [id, dim] = *whole;
  Type type = g.known(id).type;
  int64_t length = g.kernel.extents[type.axes[dim].index];
  if (length == 0) return false;
  if (g.random.chance(0.5)) type.axes[dim].index = g.some_extent();
  auto numbers = g.value_with(type.axes, g.random.chance(0.5) ? int32 : int64);
  auto index = numbers ? as_index(g, *numbers, length) : std::nullopt;
  if (!index) return false;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(id), FuzzOperand::of(*index)};
  statement.numbers = {dim};
  return g.add_value(std::move(statement), type, g.known(id).magnitude).has_value();
}
static void record_gather(Recorder& r, const Statement& s) {
  r.define(s, gather(r.operand(s, 0), at(s, 0), r.operand(s, 1)));
}
static void print_gather(Printer& p, const Statement& s) {
  p.define(s, fmt::format("tw::gather({}, {}, {})", p.operand(s, 0), s.numbers[0], p.operand(s, 1)));
}

const std::vector<Form>& joining_forms() {
  static const std::vector<Form> table{
      {"stack", 0.4, generate_stack, record_stack, print_list, kChooses},
      {"join", 0.4, generate_stack, record_stack, print_list, kChooses},
      {"cat", 0.5, generate_cat, record_cat, print_list, kChooses},
      {"split", 0.5, generate_split, record_split, print_split, kChooses},
      {"chunk", 0.4, generate_split, record_split, print_split, kChooses},
      {"reshape", 0.5, generate_reshape, record_reshape, print_reshape, kChooses},
      {"view", 0.3, generate_reshape, record_reshape, print_reshape, kChooses},
      {"flatten", 0.4, generate_flatten, record_flatten, print_flatten, kChooses},
      {"gather", 0.5, generate_gather, record_gather, print_gather, kChooses},
  };
  return table;
}

} // namespace tilewright::fuzz
