// Reductions over one dimension, several or all; and what goes along one: softmax, scans, the place of an extremum.
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/reductions.h"
#include "tilewright/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tilewright::fuzz {

/// A function of ops.h with the dims and keepdim that all reductions take.
struct Reducer {
  const char* name;
  Value (*apply)(const Operand& x, const Dims& dims, bool keepdim, SourceLocation location);
};

static const Reducer kReducers[] = {{"sum", sum},
                                    {"mean", mean},
                                    {"amax", amax},
                                    {"amin", amin},
                                    {"prod", prod},
                                    {"any", any},
                                    {"all", all},
                                    {"count_nonzero", count_nonzero},
                                    {"logsumexp", logsumexp}};

// With their defaults: var and std divide by one less than the number of elements, norm is the Euclidean one.
static Value default_var(const Operand& x, const Dims& dims, bool keepdim, SourceLocation at) {
  return var(x, dims, 1, keepdim, at);
}
static Value default_std(const Operand& x, const Dims& dims, bool keepdim, SourceLocation at) {
  return std(x, dims, 1, keepdim, at);
}
static Value default_norm(const Operand& x, const Dims& dims, bool keepdim, SourceLocation at) {
  return norm(x, 2, dims, keepdim, at);
}
// One of the two, which the number of dimensions chooses.
static Value part_of_var_mean(const Operand& x, const Dims& dims, bool keepdim, SourceLocation at) {
  auto [variance, average] = var_mean(x, dims, 0, keepdim, at);
  return dims.size() == 1 ? variance : average;
}
static const Reducer kMoments[] = {
    {"var", default_var}, {"std", default_std}, {"norm", default_norm}, {"var_mean", part_of_var_mean}};

static const Reducer& reducer(const Form& form) {
  for (const Reducer& each : kReducers)
    if (std::string_view(each.name) == form.name) return each;
  for (const Reducer& each : kMoments)
    if (std::string_view(each.name) == form.name) return each;
  return kReducers[0];
}

static bool is_moment(std::string_view name) {
  return name == "var" || name == "std" || name == "norm" || name == "var_mean";
}

static bool generate_reduction(Generator& g, const Form& form) {
  std::string_view name = form.name;
  bool in_floating_point = name == "mean" || name == "logsumexp" || is_moment(name),
       is_extremum = name == "amax" || name == "amin";
  if (in_floating_point && g.kernel.exact) return false;
  auto fits = [&](const Generator::Known& k) {
    return !k.type.axes.empty() && (!in_floating_point || is_floating_point(k.type.dtype)) &&
           (!is_extremum || k.type.dtype != boolean);
  };
  auto is_whole = [](const Axis& axis) { return axis.kind == Axis::Kind::whole; };
  bool of_whole = g.random.chance(g.share_of_whole()); // the dimensions that a config may roll
  std::optional<ValueId> id;
  if (of_whole)
    id = g.some_value([&](const Generator::Known& k) {
      return fits(k) && std::any_of(k.type.axes.begin(), k.type.axes.end(), is_whole);
    });
  if (!id) id = g.some_value(fits);
  if (!id) return false;
  Type type = g.known(*id).type;
  auto rank = static_cast<int64_t>(type.axes.size());
  Statement statement;
  statement.form = &form;
  bool keepdim = g.random.chance(0.35), all = g.random.chance(0.15);
  statement.numbers = {keepdim};
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (all || (of_whole ? is_whole(type.axes[dim]) : g.random.chance(rank == 1 ? 1 : 0.4))) dims.push_back(dim);
  if (dims.empty()) dims.push_back(g.number(0, rank - 1));
  if (is_extremum &&
      std::any_of(dims.begin(), dims.end(), [&](int64_t dim) { return g.extent_of(type.axes[dim]) == 0; }))
    return false;
  double count = 1;
  for (int64_t dim : dims) count *= static_cast<double>(std::max<int64_t>(g.extent_of(type.axes[dim]), 1));
  for (int64_t dim = rank; dim-- > 0;) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) continue;
    if (keepdim)
      type.axes[dim] = {};
    else
      type.axes.erase(type.axes.begin() + dim);
  }
  if (!all)
    for (int64_t dim : dims) statement.numbers.push_back(g.random.chance(0.3) ? dim - rank : dim);
  statement.operands = {FuzzOperand::of(*id)};
  double magnitude = g.known(*id).magnitude;
  if (name == "sum" || name == "count_nonzero") magnitude *= count;
  if (name == "prod") magnitude = std::pow(std::max(magnitude, 1.0), count);
  if (name == "logsumexp") magnitude += 10;
  if (is_moment(name)) magnitude *= magnitude + count;
  if ((name == "sum" || name == "prod") && !is_floating_point(type.dtype)) type.dtype = int64;
  if (name == "any" || name == "all") type.dtype = boolean, magnitude = 1;
  if (name == "count_nonzero") type.dtype = int64;
  return g.add_value(std::move(statement), type, magnitude).has_value();
}

static Dims dims_of(const Statement& s) {
  switch (s.numbers.size()) {
  case 1: return {};
  case 2: return static_cast<int>(s.numbers[1]);
  case 3: return {static_cast<int>(s.numbers[1]), static_cast<int>(s.numbers[2])};
  case 4: return {static_cast<int>(s.numbers[1]), static_cast<int>(s.numbers[2]), static_cast<int>(s.numbers[3])};
  default:
    return {static_cast<int>(s.numbers[1]), static_cast<int>(s.numbers[2]), static_cast<int>(s.numbers[3]),
            static_cast<int>(s.numbers[4])};
  }
}

static void record_reduction(Recorder& r, const Statement& s) {
  r.define(s,
           reducer(*s.form).apply(r.operand(s, 0), dims_of(s), s.numbers.at(0) != 0, std::source_location::current()));
}

static void print_reduction(Printer& p, const Statement& s) {
  std::vector<int64_t> dims(s.numbers.begin() + 1, s.numbers.end());
  std::string_view name = s.form->name;
  const char* correction = name == "var" || name == "std" ? ", 1" : name == "var_mean" ? ", 0" : "";
  const char* part = name != "var_mean" ? "" : dims.size() == 1 ? ".first" : ".second";
  p.define(s, fmt::format("tw::{}({}, {}{}{}{}){}", name, p.operand(s, 0), name == "norm" ? "2, " : "", braced(dims),
                          correction, s.numbers[0] ? ", true" : "", part));
}

//===----------------------------------------------------------------------===//
// Along one dimension
//===----------------------------------------------------------------------===//

/// A function of a value and a dimension, whose result has the value's shape.
struct Along {
  const char* name;
  Value (*apply)(const Operand& x, int dim, SourceLocation location);
  bool exact; // on whole numbers
};

static const Along kAlong[] = {{"softmax", softmax, false},
                               {"log_softmax", log_softmax, false},
                               {"cumsum", cumsum, true},
                               {"cumprod", cumprod, true}};

static const Along& along(const Form& form) {
  for (const Along& each : kAlong)
    if (std::string_view(each.name) == form.name) return each;
  return kAlong[0];
}

static bool generate_along(Generator& g, const Form& form) {
  const Along& function = along(form);
  if (g.kernel.exact && !function.exact) return false;
  auto id = g.some_value([&](const Generator::Known& k) {
    return !k.type.axes.empty() && (function.exact || is_floating_point(k.type.dtype));
  });
  if (!id) return false;
  Type type = g.known(*id).type;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*id)};
  statement.numbers = {g.number(0, static_cast<int64_t>(type.axes.size()) - 1)};
  auto count = static_cast<double>(std::max<int64_t>(g.extent_of(type.axes[statement.numbers[0]]), 1));
  double magnitude = function.exact ? g.known(*id).magnitude : 100;
  if (std::string_view(form.name) == "cumsum") magnitude *= count;
  if (std::string_view(form.name) == "cumprod") magnitude = std::pow(std::max(magnitude, 1.0), count);
  if (function.exact && !is_floating_point(type.dtype)) type.dtype = int64;
  return g.add_value(std::move(statement), type, magnitude).has_value();
}

static void record_along(Recorder& r, const Statement& s) {
  r.define(s,
           along(*s.form).apply(r.operand(s, 0), static_cast<int>(s.numbers.at(0)), std::source_location::current()));
}
static void print_along(Printer& p, const Statement& s) {
  p.define(s, "tw::" + std::string(s.form->name) + "(" + p.operand(s, 0) + ", " + std::to_string(s.numbers[0]) + ")");
}

// argmax(x, dim, keepdim)
static bool generate_place(Generator& g, const Form& form) {
  auto id = g.some_value([](const Generator::Known& k) { return !k.type.axes.empty() && k.type.dtype != boolean; });
  if (!id) return false;
  Type type = g.known(*id).type;
  int64_t dim = g.number(0, static_cast<int64_t>(type.axes.size()) - 1);
  auto extent = static_cast<double>(g.extent_of(type.axes[dim]));
  if (extent == 0) return false;
  bool keepdim = g.random.chance(0.4);
  if (keepdim)
    type.axes[dim] = {};
  else
    type.axes.erase(type.axes.begin() + dim);
  type.dtype = int64;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*id)};
  statement.numbers = {dim, keepdim};
  return g.add_value(std::move(statement), type, extent).has_value();
}
static void record_place(Recorder& r, const Statement& s) {
  bool is_max = std::string_view(s.form->name) == "argmax";
  auto dim = static_cast<int>(s.numbers.at(0));
  r.define(s, is_max ? argmax(r.operand(s, 0), dim, s.numbers.at(1) != 0)
                     : argmin(r.operand(s, 0), dim, s.numbers.at(1) != 0));
}
static void print_place(Printer& p, const Statement& s) {
  p.define(s, "tw::" + std::string(s.form->name) + "(" + p.operand(s, 0) + ", " + std::to_string(s.numbers[0]) +
                  (s.numbers[1] ? ", true)" : ")"));
}

const std::vector<Form>& reduction_forms() {
  static const std::vector<Form> table{
      {"sum", 1.5, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"mean", 0.6, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"amax", 1, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks | kChooses},
      {"amin", 0.8, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks | kChooses},
      {"prod", 0.4, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"any", 0.4, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"all", 0.4, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"count_nonzero", 0.3, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"logsumexp", 0.3, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"var", 0.2, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"std", 0.2, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"norm", 0.2, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"var_mean", 0.25, generate_reduction, record_reduction, print_reduction, kReduces | kByBlocks},
      {"softmax", 0.4, generate_along, record_along, print_along, kMixesLanes | kByBlocks},
      {"log_softmax", 0.3, generate_along, record_along, print_along, kMixesLanes | kByBlocks},
      {"cumsum", 0.6, generate_along, record_along, print_along, kMixesLanes},
      {"cumprod", 0.3, generate_along, record_along, print_along, kMixesLanes},
      {"argmax", 0.4, generate_place, record_place, print_place, kChooses},
      {"argmin", 0.4, generate_place, record_place, print_place, kChooses},
  };
  return table;
}

} // namespace tilewright::fuzz
