// Reductions and scans by a combiner of the user's, on one value and on two together; running extrema.
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/reductions.h"
#include "tilewright/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tilewright::fuzz {

using Pair = std::pair<Value, Value>;

/// An associative function of what two elements hold. A reduction may take elements in any order, so that its function
/// is commutative too.
struct Combiner {
  const char* source; // of its body
  bool commutative;
  bool sums; // so that numbers grow; and NaN, or a rounding error, would depend on the order
  Value (*one)(const Value& a, const Value& b);
  Pair (*two)(const Value& a, const Value& m, const Value& b, const Value& n);
};

static const Combiner kOne[] = {
    {"a + b", true, true, [](const Value& a, const Value& b) { return a + b; }, nullptr},
    {"tw::maximum(a, b)", true, false, [](const Value& a, const Value& b) { return maximum(a, b); }, nullptr},
    {"tw::minimum(a, b)", true, false, [](const Value& a, const Value& b) { return minimum(a, b); }, nullptr},
    {"tw::where(b != 0, b, a)", false, false, [](const Value& a, const Value& b) { return where(b != 0, b, a); },
     nullptr},
};

// (a, m) and (b, n).
static const Combiner kTwo[] = {
    {"std::pair(tw::Value(a + b), tw::minimum(m, n))", true, true, nullptr,
     [](const Value& a, const Value& m, const Value& b, const Value& n) { return Pair(a + b, minimum(m, n)); }},
    {"std::pair(tw::where((b > a) | ((b == a) & (n < m)), b, a), tw::where((b > a) | ((b == a) & (n < m)), n, m))",
     true, true, nullptr,
     [](const Value& a, const Value& m, const Value& b, const Value& n) {
       Value takes = (b > a) | ((b == a) & (n < m));
       return Pair(where(takes, b, a), where(takes, n, m));
     }},
    {"std::pair(tw::where(n != 0, b, a + b), tw::maximum(tw::abs(m), tw::abs(n)))", false, true,
     nullptr, // a sum that begins anew
     [](const Value& a, const Value& m, const Value& b, const Value& n) {
       return Pair(where(n != 0, b, a + b), maximum(abs(m), abs(n)));
     }},
};

// numbers: the combiner, which of the pair (-1: there is one value), reverse or keepdim, and the dimensions.
static const Combiner& combiner(const Statement& s) {
  return s.numbers.at(1) < 0 ? kOne[s.numbers.at(0)] : kTwo[s.numbers.at(0)];
}

static std::string combiner_text(const Statement& s) {
  bool one = s.numbers[1] < 0;
  return fmt::format("[](tw::Value {}) {{ return {}; }}",
                     one ? "a, tw::Value b" : "a, tw::Value m, tw::Value b, tw::Value n", combiner(s).source);
}

static bool generate_combined(Generator& g, const Form& form) {
  bool scan = std::string_view(form.name) == "associative_scan";
  auto fits = [](const Generator::Known& k) { return !k.type.axes.empty() && k.type.dtype != boolean; };
  auto id = g.some_value(fits);
  if (!id) return false;
  Type type = g.known(*id).type;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*id)};
  bool two = g.random.chance(0.5);
  int64_t which = g.number(0, two ? std::size(kTwo) - 1 : std::size(kOne) - 1);
  const Combiner& chosen = two ? kTwo[which] : kOne[which];
  bool in_order = scan && (g.kernel.exact || !chosen.sums); // what a scan takes in another order is another number
  if (!(scan ? in_order : chosen.commutative && (g.kernel.exact || !chosen.sums))) return false;
  double magnitude = g.known(*id).magnitude;
  if (two) {
    auto other = g.value_with(type.axes, g.random.chance(0.5) ? type.dtype : int32);
    if (!other || g.known(*other).type.dtype == boolean) return false;
    statement.operands.push_back(FuzzOperand::of(*other));
    magnitude = std::max(magnitude, g.known(*other).magnitude);
  }
  int64_t part = two ? g.number(0, 1) : -1;
  statement.numbers = {which, part, g.random.chance(0.4)};
  auto rank = static_cast<int64_t>(type.axes.size());
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!scan && g.random.chance(0.4)) dims.push_back(dim);
  if (dims.empty()) dims.push_back(g.number(0, rank - 1));
  if (part == 1) type.dtype = g.known(statement.operands[1].value).type.dtype;
  double count = 1;
  for (int64_t dim : dims) count *= static_cast<double>(std::max<int64_t>(g.extent_of(type.axes[dim]), 1));
  if (chosen.sums) magnitude *= count;
  for (int64_t dim = rank; !scan && dim-- > 0;) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) continue;
    if (statement.numbers[2])
      type.axes[dim] = {};
    else
      type.axes.erase(type.axes.begin() + dim);
  }
  statement.numbers.insert(statement.numbers.end(), dims.begin(), dims.end());
  return g.add_value(std::move(statement), type, magnitude).has_value();
}

static Value part_of(const Statement& s, const Pair& pair) { return s.numbers.at(1) == 0 ? pair.first : pair.second; }

static Dims dims_of(const Statement& s) {
  auto at = [&](size_t i) { return static_cast<int>(s.numbers.at(3 + i)); };
  switch (s.numbers.size()) {
  case 4: return {at(0)};
  case 5: return {at(0), at(1)};
  case 6: return {at(0), at(1), at(2)};
  default: return {at(0), at(1), at(2), at(3)};
  }
}

static void record_reduce(Recorder& r, const Statement& s) {
  const Combiner& function = combiner(s);
  bool keepdim = s.numbers.at(2) != 0;
  if (s.operands.size() == 1)
    return r.define(s, reduce(function.one, r.value(s.operands[0].value), dims_of(s), 0, keepdim));
  Pair source(r.value(s.operands.at(0).value), r.value(s.operands.at(1).value));
  r.define(s, part_of(s, reduce(function.two, source, dims_of(s), 0, keepdim)));
}

static void record_scan(Recorder& r, const Statement& s) {
  const Combiner& function = combiner(s);
  bool reverse = s.numbers.at(2) != 0;
  int dim = static_cast<int>(s.numbers.at(3));
  if (s.operands.size() == 1)
    return r.define(s, associative_scan(function.one, r.value(s.operands[0].value), dim, reverse));
  Pair source(r.value(s.operands.at(0).value), r.value(s.operands.at(1).value));
  r.define(s, part_of(s, associative_scan(function.two, source, dim, reverse)));
}

static void print_combined(Printer& p, const Statement& s) {
  bool scan = std::string_view(s.form->name) == "associative_scan", two = s.operands.size() > 1;
  std::vector<int64_t> dims(s.numbers.begin() + 3, s.numbers.end());
  std::string source = two ? "std::pair(" + p.operands(s) + ")" : p.operand(s, 0);
  const char* flag = s.numbers[2] ? "true" : "false";
  std::string rest = scan ? fmt::format("{}, {}", dims[0], flag) : fmt::format("{}, 0, {}", braced(dims), flag);
  p.define(s, fmt::format("tw::{}({}, {}, {}){}", s.form->name, combiner_text(s), source, rest,
                          !two                ? ""
                          : s.numbers[1] == 0 ? ".first"
                                              : ".second"));
}

//===----------------------------------------------------------------------===//
// Running extrema: the number, or its index
//===----------------------------------------------------------------------===//

static bool generate_running(Generator& g, const Form& form) {
  auto id = g.some_value([](const Generator::Known& k) { return !k.type.axes.empty() && k.type.dtype != boolean; });
  if (!id) return false;
  Type type = g.known(*id).type;
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*id)};
  bool index = g.random.chance(0.4);
  statement.numbers = {g.number(0, static_cast<int64_t>(type.axes.size()) - 1), index};
  double magnitude = g.known(*id).magnitude;
  if (index) {
    magnitude = static_cast<double>(g.extent_of(type.axes[statement.numbers[0]]));
    type.dtype = int64;
  }
  return g.add_value(std::move(statement), type, magnitude).has_value();
}
static void record_running(Recorder& r, const Statement& s) {
  bool is_max = std::string_view(s.form->name) == "cummax";
  auto dim = static_cast<int>(s.numbers.at(0));
  auto [number, index] = is_max ? cummax(r.operand(s, 0), dim) : cummin(r.operand(s, 0), dim);
  r.define(s, s.numbers.at(1) ? index : number);
}
static void print_running(Printer& p, const Statement& s) {
  p.define(s, fmt::format("tw::{}({}, {}).{}", s.form->name, p.operand(s, 0), s.numbers[0],
                          s.numbers[1] ? "second" : "first"));
}

const std::vector<Form>& combiner_forms() {
  static const std::vector<Form> table{
      {"reduce", 0.8, generate_combined, record_reduce, print_combined},
      {"associative_scan", 0.8, generate_combined, record_scan, print_combined, kMixesLanes},
      {"cummax", 0.3, generate_running, record_running, print_running, kMixesLanes | kChooses},
      {"cummin", 0.3, generate_running, record_running, print_running, kMixesLanes | kChooses},
  };
  return table;
}

} // namespace tilewright::fuzz
