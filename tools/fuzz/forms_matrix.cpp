// Matrix products.
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include <string_view>

namespace tilewright::fuzz {

/// One of the functions of ops.h.
struct Product {
  const char* name;
  bool has_acc; // it adds to its first operand
  int rank;     // of its operands; 0: 2 or 3
  Value (*apply)(const Operand* operands);
};

static const Product kProducts[] = {
    {"matmul", false, 0, [](const Operand* o) { return matmul(o[0], o[1]); }},
    {"mm", false, 2, [](const Operand* o) { return mm(o[0], o[1]); }},
    {"bmm", false, 3, [](const Operand* o) { return bmm(o[0], o[1]); }},
    {"addmm", true, 2, [](const Operand* o) { return addmm(o[0], o[1], o[2]); }},
    {"baddbmm", true, 3, [](const Operand* o) { return baddbmm(o[0], o[1], o[2]); }},
    {"dot", false, 0, [](const Operand* o) { return dot(o[0], o[1]); }},
    {"dot with acc", true, 0, [](const Operand* o) { return dot(o[1], o[2], o[0]); }},
};

static const Product& product(const Form& form) {
  for (const Product& each : kProducts)
    if (std::string_view(each.name) == form.name) return each;
  return kProducts[0];
}

// An operand, perhaps transposed after it was loaded.
static std::optional<ValueId> operand_with(Generator& g, std::vector<Axis> axes, DType dtype) {
  if (g.random.chance(0.7)) return g.value_with(axes, dtype);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  std::optional<ValueId> id = g.value_with(axes, dtype);
  if (!id) return std::nullopt;
  Statement transpose;
  transpose.form = find_form("transpose");
  transpose.operands = {FuzzOperand::of(*id)};
  transpose.numbers = {-1, -2};
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return g.add_value(std::move(transpose), {dtype, axes}, g.known(*id).magnitude);
}

static bool generate_product(Generator& g, const Form& form) {
  const Product& p = product(form);
  size_t rank = p.rank ? p.rank : g.random.chance(0.7) ? 2 : 3;
  // Batch, rows, columns and what is summed over: open tiles or whole dimensions, each another.
  std::vector<Axis> from;
  for (const OpenVariable& variable : g.open_variables())
    if (!variable.is_grid && variable.extent >= 0) from.push_back({Axis::Kind::tile, variable.variable});
  for (size_t extent = 0; extent < g.kernel.extents.size(); ++extent)
    from.push_back({Axis::Kind::whole, static_cast<int>(extent)});
  std::vector<Axis> axes; // [batch,] m, k, n
  while (axes.size() < rank + 1) {
    if (from.empty()) return false;
    size_t at = g.random.below(from.size());
    axes.push_back(from[at]);
    from.erase(from.begin() + static_cast<int64_t>(at));
  }
  std::vector<Axis> batch(axes.begin(), axes.end() - 3);
  Axis m = axes[rank - 2], k = axes[rank - 1], n = axes[rank];
  if (!g.affordable(axes)) return false;
  auto with = [&](Axis rows, Axis columns) {
    std::vector<Axis> all = batch;
    all.push_back(rows);
    all.push_back(columns);
    return all;
  };
  bool is_dot = std::string_view(p.name).starts_with("dot");
  DType dtype = is_dot && g.random.chance(0.3) ? int8 : g.some_floating_dtype();
  bool is_narrow = dtype == float16 || dtype == bfloat16;
  DType result = dtype;
  if (p.has_acc ? is_narrow && g.random.chance(0.7) : std::string_view(p.name) == "dot" && is_narrow) result = float32;
  if (dtype == int8) result = int32;
  Statement statement;
  statement.form = &form;
  double magnitude = 0;
  if (p.has_acc) {
    auto acc = g.value_with(with(m, n), result);
    if (!acc) return false;
    statement.operands.push_back(FuzzOperand::of(*acc));
    magnitude += g.known(*acc).magnitude;
  }
  auto a = operand_with(g, with(m, k), dtype);
  auto b = operand_with(g, with(k, n), dtype);
  if (!a || !b) return false;
  magnitude += g.known(*a).magnitude * g.known(*b).magnitude * static_cast<double>(g.extent_of(k));
  statement.operands.push_back(FuzzOperand::of(*a));
  statement.operands.push_back(FuzzOperand::of(*b));
  return g.add_value(std::move(statement), {result, with(m, n)}, magnitude).has_value();
}

static void record_product(Recorder& r, const Statement& s) {
  Operand operands[3];
  for (size_t i = 0; i < s.operands.size(); ++i) operands[i] = r.operand(s, i);
  r.define(s, product(*s.form).apply(operands));
}

static void print_product(Printer& p, const Statement& s) {
  if (std::string_view(s.form->name) == "dot with acc")
    p.define(s, "tw::dot(" + p.operand(s, 1) + ", " + p.operand(s, 2) + ", " + p.operand(s, 0) + ")");
  else
    p.define(s, "tw::" + std::string(s.form->name) + "(" + p.operands(s) + ")");
}

const std::vector<Form>& matrix_forms() {
  static const std::vector<Form> table = [] {
    std::vector<Form> forms;
    for (const Product& each : kProducts)
      forms.push_back({each.name, 0.4, generate_product, record_product, print_product});
    return forms;
  }();
  return table;
}

} // namespace tilewright::fuzz
