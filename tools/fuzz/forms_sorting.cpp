// Whole dimensions in order: sort, argsort, topk.
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tilewright::fuzz {

// The numbers of a statement: the dimension, descending or largest, 1 where it is the places that are taken of the
// pair, and how many of topk.
enum Number { kDim, kFlag, kPlaces, kCount };

static bool is_argsort(const Form& form) { return std::string_view(form.name) == "argsort"; }
static bool is_topk(const Form& form) { return std::string_view(form.name) == "topk"; }

static bool generate_sort(Generator& g, const Form& form) {
  auto is_whole = [](const Axis& axis) { return axis.kind == Axis::Kind::whole; };
  auto id = g.some_value([&](const Generator::Known& k) {
    return k.type.axes.size() <= 3 && std::any_of(k.type.axes.begin(), k.type.axes.end(), is_whole);
  });
  if (!id) return false;
  Type type = g.known(*id).type;
  double magnitude = g.known(*id).magnitude;
  auto dim = std::find_if(type.axes.begin(), type.axes.end(), is_whole) - type.axes.begin();
  int64_t length = g.kernel.extents[type.axes[dim].index];
  bool gives_places = is_argsort(form) || g.random.chance(0.4);
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*id)};
  statement.numbers = {dim, g.random.chance(0.5), gives_places};
  if (is_topk(form)) {
    if (length == 0) return false;
    statement.numbers.push_back(g.number(1, length));
    type.axes[dim].index = g.constant_extent(statement.numbers.back());
  }
  if (gives_places) {
    type.dtype = int64;
    magnitude = static_cast<double>(length);
  }
  return g.add_value(std::move(statement), type, magnitude).has_value();
}

static void record_sort(Recorder& r, const Statement& s) {
  Operand x = r.operand(s, 0);
  int dim = static_cast<int>(s.numbers.at(kDim));
  bool flag = s.numbers.at(kFlag) != 0;
  if (is_argsort(*s.form)) return r.define(s, argsort(x, dim, flag));
  auto [values, places] = is_topk(*s.form) ? topk(x, s.numbers.at(kCount), dim, flag) : sort(x, dim, flag);
  r.define(s, s.numbers.at(kPlaces) ? places : values);
}

static void print_sort(Printer& p, const Statement& s) {
  std::string count = is_topk(*s.form) ? fmt::format("{}, ", s.numbers[kCount]) : "";
  const char* part = is_argsort(*s.form) ? "" : s.numbers[kPlaces] ? ".second" : ".first";
  p.define(s, fmt::format("tw::{}({}, {}{}, {}){}", s.form->name, p.operand(s, 0), count, s.numbers[kDim],
                          s.numbers[kFlag] != 0, part));
}

const std::vector<Form>& sorting_forms() {
  static const std::vector<Form> table{
      {"sort", 0.4, generate_sort, record_sort, print_sort, kMixesLanes | kChooses},
      {"argsort", 0.3, generate_sort, record_sort, print_sort, kMixesLanes | kChooses},
      {"topk", 0.4, generate_sort, record_sort, print_sort, kMixesLanes | kChooses},
  };
  return table;
}

} // namespace tilewright::fuzz
