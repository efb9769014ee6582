// Operations that move dimensions about.
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/shapes.h"

#include <algorithm>
#include <string_view>

namespace tilewright::fuzz {

static std::optional<ValueId> some_tensor_value(Generator& g, size_t least_rank, size_t most_rank) {
  return g.some_value(
      [&](const Generator::Known& k) { return k.type.axes.size() >= least_rank && k.type.axes.size() <= most_rank; });
}

static bool add_moved(Generator& g, const Form& form, ValueId id, std::vector<Axis> axes,
                      std::vector<int64_t> numbers) {
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(id)};
  statement.numbers = std::move(numbers);
  return g.add_value(std::move(statement), {g.known(id).type.dtype, std::move(axes)}, g.known(id).magnitude)
      .has_value();
}

static int at(const Statement& s, size_t i) { return static_cast<int>(s.numbers.at(i)); }

// transpose(x, dim0, dim1)
static bool generate_transpose(Generator& g, const Form& form) {
  auto id = some_tensor_value(g, 2, 4);
  if (!id) return false;
  std::vector<Axis> axes = g.known(*id).type.axes;
  auto rank = static_cast<int64_t>(axes.size());
  int64_t a = g.number(0, rank - 1), b = g.number(0, rank - 1);
  std::swap(axes[a], axes[b]);
  return add_moved(g, form, *id, axes, {g.random.chance(0.5) ? a : a - rank, b});
}
static void record_transpose(Recorder& r, const Statement& s) {
  r.define(s, transpose(r.operand(s, 0), at(s, 0), at(s, 1)));
}

// permute(x, {dims})
static bool generate_permute(Generator& g, const Form& form) {
  auto id = some_tensor_value(g, 2, 3);
  if (!id) return false;
  const std::vector<Axis> from = g.known(*id).type.axes;
  std::vector<int64_t> dims;
  for (size_t i = 0; i < from.size(); ++i) dims.push_back(static_cast<int64_t>(i));
  for (size_t i = dims.size(); i > 1; --i) std::swap(dims[i - 1], dims[g.random.below(i)]);
  std::vector<Axis> axes;
  for (int64_t dim : dims) axes.push_back(from[dim]);
  return add_moved(g, form, *id, axes, dims);
}
static void record_permute(Recorder& r, const Statement& s) {
  if (s.numbers.size() == 2)
    r.define(s, permute(r.operand(s, 0), {at(s, 0), at(s, 1)}));
  else
    r.define(s, permute(r.operand(s, 0), {at(s, 0), at(s, 1), at(s, 2)}));
}

// unsqueeze(x, dim)
static bool generate_unsqueeze(Generator& g, const Form& form) {
  auto id = some_tensor_value(g, 0, 3);
  if (!id) return false;
  std::vector<Axis> axes = g.known(*id).type.axes;
  auto rank = static_cast<int64_t>(axes.size());
  int64_t dim = g.number(0, rank);
  axes.insert(axes.begin() + dim, Axis());
  return add_moved(g, form, *id, axes, {g.random.chance(0.7) ? dim : dim - rank - 1});
}
static void record_unsqueeze(Recorder& r, const Statement& s) { r.define(s, unsqueeze(r.operand(s, 0), at(s, 0))); }

// squeeze(x, dim)
static bool generate_squeeze(Generator& g, const Form& form) {
  auto has_one = [](const Generator::Known& k) {
    return std::find(k.type.axes.begin(), k.type.axes.end(), Axis()) != k.type.axes.end();
  };
  auto id = g.some_value(has_one);
  if (!id) return false;
  std::vector<Axis> axes = g.known(*id).type.axes;
  int64_t dim = std::find(axes.begin(), axes.end(), Axis()) - axes.begin();
  axes.erase(axes.begin() + dim);
  return add_moved(g, form, *id, axes, {dim});
}
static void record_squeeze(Recorder& r, const Statement& s) { r.define(s, squeeze(r.operand(s, 0), at(s, 0))); }

// expand_as(x, other)
static bool generate_expand(Generator& g, const Form& form) {
  auto id = some_tensor_value(g, 0, 3);
  if (!id) return false;
  const std::vector<Axis> axes = g.known(*id).type.axes;
  auto other = g.some_value([&](const Generator::Known& k) {
    auto joint = broadcast(axes, k.type.axes);
    return joint && *joint == k.type.axes && !k.type.axes.empty();
  });
  if (!other) return false;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*id), FuzzOperand::of(*other)};
  Type type{g.known(*id).type.dtype, g.known(*other).type.axes};
  return g.add_value(std::move(statement), type, g.known(*id).magnitude).has_value();
}
static void record_expand(Recorder& r, const Statement& s) { r.define(s, expand_as(r.operand(s, 0), r.operand(s, 1))); }
static void print_expand(Printer& p, const Statement& s) { p.define(s, "tw::expand_as(" + p.operands(s) + ")"); }

// broadcast_to(x, shape), expand(x, shape)
static bool generate_broadcast(Generator& g, const Form& form) {
  auto id = some_tensor_value(g, 0, 2);
  if (!id) return false;
  const std::vector<Axis> axes = g.known(*id).type.axes;
  auto joint = broadcast(axes, g.some_axes(3));
  if (!joint || std::find(joint->begin(), joint->end(), Axis()) != joint->end() || joint->empty()) return false;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*id)};
  return g.add_value(std::move(statement), {g.known(*id).type.dtype, *joint}, g.known(*id).magnitude).has_value();
}
static void record_broadcast(Recorder& r, const Statement& s) {
  bool is_expand = std::string_view(s.form->name) == "expand";
  Shape shape = r.shape(s.type.axes);
  r.define(s, is_expand ? expand(r.operand(s, 0), shape) : broadcast_to(r.operand(s, 0), shape));
}
static void print_broadcast(Printer& p, const Statement& s) {
  p.define(s, "tw::" + std::string(s.form->name) + "(" + p.operand(s, 0) + ", " + p.shape(s.type.axes) + ")");
}

// flip(x, {dim}), of a whole dimension
static bool generate_flip(Generator& g, const Form& form) {
  auto is_whole = [](const Axis& axis) { return axis.kind == Axis::Kind::whole; };
  auto id = g.some_value(
      [&](const Generator::Known& k) { return std::any_of(k.type.axes.begin(), k.type.axes.end(), is_whole); });
  if (!id) return false;
  const std::vector<Axis> axes = g.known(*id).type.axes;
  return add_moved(g, form, *id, axes, {std::find_if(axes.begin(), axes.end(), is_whole) - axes.begin()});
}
static void record_flip(Recorder& r, const Statement& s) { r.define(s, flip(r.operand(s, 0), at(s, 0))); }

static void print_function(Printer& p, const Statement& s) {
  bool is_list = std::string_view(s.form->name) == "permute";
  std::string numbers = braced(s.numbers);
  p.define(s, "tw::" + std::string(s.form->name) + "(" + p.operand(s, 0) + ", " +
                  (is_list ? numbers : numbers.substr(1, numbers.size() - 2)) + ")");
}

// x[tw::_, tw::none]: numbers say where the new dimension is, of rank + 1 subscripts
static bool generate_index(Generator& g, const Form& form) {
  auto id = some_tensor_value(g, 1, 2);
  if (!id) return false;
  std::vector<Axis> axes = g.known(*id).type.axes;
  int64_t dim = g.number(0, static_cast<int64_t>(axes.size())), rank = static_cast<int64_t>(axes.size());
  axes.insert(axes.begin() + dim, Axis());
  return add_moved(g, form, *id, axes, {dim, rank});
}
static void record_index(Recorder& r, const Statement& s) {
  std::vector<TensorIndex> index(s.numbers.at(1) + 1, TensorIndex(_));
  index.at(s.numbers.at(0)) = none;
  Value x = r.value(s.operands.at(0).value);
  r.define(s, index.size() == 2 ? x[index[0], index[1]] : x[index[0], index[1], index[2]]);
}
static void print_index(Printer& p, const Statement& s) {
  std::string text;
  for (int64_t i = 0; i <= s.numbers[1]; ++i)
    text += (i ? ", " : "") + std::string(i == s.numbers[0] ? "tw::none" : "tw::_");
  p.define(s, p.operand(s, 0) + "[" + text + "]");
}

const std::vector<Form>& shape_forms() {
  static const std::vector<Form> table{
      {"transpose", 0.8, generate_transpose, record_transpose, print_function, kByBlocks | kChooses},
      {"permute", 0.5, generate_permute, record_permute, print_function, kByBlocks | kChooses},
      {"unsqueeze", 0.6, generate_unsqueeze, record_unsqueeze, print_function, kByBlocks | kChooses},
      {"squeeze", 0.4, generate_squeeze, record_squeeze, print_function, kByBlocks | kChooses},
      {"expand_as", 0.3, generate_expand, record_expand, print_expand, kByBlocks | kChooses},
      {"broadcast_to", 0.3, generate_broadcast, record_broadcast, print_broadcast, kByBlocks | kChooses},
      {"expand", 0.3, generate_broadcast, record_broadcast, print_broadcast, kByBlocks | kChooses},
      {"flip", 0.4, generate_flip, record_flip, print_function, kChooses},
      {"none in a value's subscripts", 0.4, generate_index, record_index, print_index, kByBlocks | kChooses},
  };
  return table;
}

} // namespace tilewright::fuzz
