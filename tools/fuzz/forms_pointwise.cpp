// Operations element by element: all of operations.h, where() and conversions.
#include "fuzz/generator.h"
#include "fuzz/operations.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/shapes.h"

#include <algorithm>
#include <string_view>

namespace tilewright::fuzz {

static FuzzOperand some_literal(Generator& g, DType beside) {
  static const std::vector<double> fractions{-1.5, -0.5, 0.25, 0.5, 1.5, 2.5};
  if (is_floating_point(beside) && !g.kernel.exact && g.random.chance(0.5))
    return FuzzOperand::real(g.one_of(fractions));
  return FuzzOperand::integer(g.number(-2, 3));
}

// An operand beside a value: a literal, or a value that it broadcasts with, mostly of the same dtype.
static std::optional<FuzzOperand> some_companion(Generator& g, ValueId beside, const std::vector<Axis>& axes) {
  Type type = g.known(beside).type;
  if (g.random.chance(0.25)) return some_literal(g, type.dtype);
  bool mixed = g.random.chance(0.15);
  auto fits = [&](const Generator::Known& k) {
    return broadcast(axes, k.type.axes).has_value() && (mixed || k.type.dtype == type.dtype);
  };
  if (g.random.chance(0.7))
    if (auto id = g.some_value(fits)) return FuzzOperand::of(*id);
  std::vector<Axis> part(axes.end() - static_cast<int64_t>(g.random.below(axes.size() + 1)), axes.end());
  if (auto id = g.value_with(g.random.chance(0.6) ? axes : part, mixed ? g.some_dtype() : type.dtype))
    return FuzzOperand::of(*id);
  return std::nullopt;
}

bool add_operation(Generator& g, const Operation& operation) {
  std::optional<ValueId> first = g.some_value([](const Generator::Known&) { return true; });
  if (!first) return false;
  std::vector<FuzzOperand> operands{FuzzOperand::of(*first)};
  std::vector<Axis> axes = g.known(*first).type.axes;
  for (int i = 1; i < operation.arity; ++i) {
    std::optional<FuzzOperand> other = some_companion(g, *first, axes);
    if (!other) return false;
    if (other->kind == FuzzOperand::Kind::value) axes = *broadcast(axes, g.known(other->value).type.axes);
    operands.push_back(*other);
  }
  if (operation.arity == 2 && g.random.chance(0.2)) std::swap(operands[0], operands[1]);
  if (g.apply(operation, operands)) return true;
  // Perhaps it takes positive numbers only.
  if (operation.arity == 1 && !g.kernel.exact && is_floating_point(g.known(*first).type.dtype)) {
    auto magnitude = g.apply("abs", {FuzzOperand::of(*first)});
    auto positive =
        magnitude ? g.apply("operator +", {FuzzOperand::of(*magnitude), FuzzOperand::real(1)}) : std::nullopt;
    if (positive && g.apply(operation, {FuzzOperand::of(*positive)})) return true;
  }
  // Perhaps the numbers are too large for it.
  auto smaller = g.clamped(*first, 4);
  if (!smaller) return false;
  for (FuzzOperand& operand : operands)
    if (operand.kind == FuzzOperand::Kind::value && operand.value == *first) operand = FuzzOperand::of(*smaller);
  return g.apply(operation, operands).has_value();
}

static bool generate_pointwise(Generator& g, const Form&) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    bool preferred = attempt == 0 && g.random.chance(0.3);
    if (add_operation(g, preferred ? g.preferred_operation() : g.one_of(operations()))) return true;
  }
  return false;
}

static void record_pointwise(Recorder& r, const Statement& s) {
  Operand operands[3];
  for (size_t i = 0; i < s.operands.size(); ++i) operands[i] = r.operand(s, i);
  r.define(s, s.operation->apply(operands));
}

static void print_pointwise(Printer& p, const Statement& s) {
  std::vector<std::string> operands;
  for (const FuzzOperand& operand : s.operands) operands.push_back(p.operand(operand));
  p.define(s, expression(*s.operation, operands));
}

//===----------------------------------------------------------------------===//
// where
//===----------------------------------------------------------------------===//

static std::optional<ValueId> some_condition(Generator& g) {
  if (g.random.chance(0.7))
    if (auto id = g.some_value([](const Generator::Known& k) { return k.type.dtype == boolean; })) return id;
  auto id = g.some_value([](const Generator::Known& k) { return k.type.dtype != boolean; });
  if (!id) return std::nullopt;
  static const std::vector<std::string> comparisons{"operator <", "operator >=", "operator ==", "operator !="};
  return g.apply(g.one_of(comparisons), {FuzzOperand::of(*id), FuzzOperand::integer(g.number(-1, 2))});
}

static bool generate_where(Generator& g, const Form& form) {
  std::optional<ValueId> condition = some_condition(g);
  if (!condition) return false;
  std::vector<Axis> axes = g.known(*condition).type.axes;
  auto fits = [&](const Generator::Known& k) { return broadcast(axes, k.type.axes).has_value(); };
  std::optional<ValueId> a = g.some_value(fits);
  if (!a) return false;
  Type type = g.known(*a).type;
  axes = *broadcast(axes, type.axes);
  std::optional<FuzzOperand> b = some_companion(g, *a, axes);
  if (!b) return false;
  double magnitude = std::max(g.known(*a).magnitude, 3.0);
  if (b->kind == FuzzOperand::Kind::value) {
    const Generator::Known& other = g.known(b->value);
    if (other.type.dtype != type.dtype) return false;
    axes = *broadcast(axes, other.type.axes);
    magnitude = std::max(magnitude, other.magnitude);
  } else if (b->kind == FuzzOperand::Kind::real ? !is_floating_point(type.dtype) : type.dtype == boolean) {
    return false;
  }
  Statement where;
  where.form = &form;
  where.operands = {FuzzOperand::of(*condition), FuzzOperand::of(*a), *b};
  if (g.random.chance(0.3)) std::swap(where.operands[1], where.operands[2]);
  return g.add_value(std::move(where), {type.dtype, axes}, magnitude).has_value();
}

static void record_where(Recorder& r, const Statement& s) {
  r.define(s, where(r.operand(s, 0), r.operand(s, 1), r.operand(s, 2)));
}
static void print_where(Printer& p, const Statement& s) { p.define(s, "tw::where(" + p.operands(s) + ")"); }

//===----------------------------------------------------------------------===//
// max and min of two values
//===----------------------------------------------------------------------===//

static bool generate_extremum(Generator& g, const Form& form) {
  auto a = g.some_value([](const Generator::Known& k) { return k.type.dtype != boolean; });
  if (!a) return false;
  Type type = g.known(*a).type;
  auto b = g.some_value([&](const Generator::Known& k) {
    return k.type.dtype == type.dtype && broadcast(type.axes, k.type.axes).has_value();
  });
  type.axes = *broadcast(type.axes, g.known(*b).type.axes);
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*a), FuzzOperand::of(*b)};
  return g.add_value(std::move(statement), type, std::max(g.known(*a).magnitude, g.known(*b).magnitude)).has_value();
}
static void record_extremum(Recorder& r, const Statement& s) {
  Value a = r.value(s.operands.at(0).value), b = r.value(s.operands.at(1).value);
  r.define(s, std::string_view(s.form->name) == "max" ? max(a, b) : min(a, b));
}
static void print_extremum(Printer& p, const Statement& s) {
  p.define(s, "tw::" + std::string(s.form->name) + "(" + p.operands(s) + ")");
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static bool generate_cast(Generator& g, const Form&) {
  DType dtype = g.some_dtype();
  auto id = g.some_value([&](const Generator::Known& k) { return k.type.dtype != dtype; });
  return id && g.converted(*id, dtype).has_value();
}

static void record_cast(Recorder& r, const Statement& s) {
  r.define(s, r.value(s.operands.at(0).value).to(static_cast<DType>(s.numbers.at(0))));
}
static void print_cast(Printer& p, const Statement& s) {
  auto dtype = static_cast<DType>(s.numbers.at(0));
  p.define(s, p.operand(s, 0) + ".to(tw::" + std::string(dtype == boolean ? "boolean" : name(dtype)) + ")");
}

//===----------------------------------------------------------------------===//
// The same bits as another dtype
//===----------------------------------------------------------------------===//

// There and back, so that the numbers stay what they are: those between are of any size.
static std::optional<DType> other_of_its_size(DType dtype) {
  switch (dtype) {
  case int8: return uint8;
  case uint8: return int8;
  case int16: return float16;
  case float16:
  case bfloat16: return int16;
  case int32: return float32;
  case float32: return int32;
  case int64: return float64;
  case float64: return int64;
  default: return std::nullopt;
  }
}

static bool generate_bits(Generator& g, const Form& form) {
  auto id = g.some_value([](const Generator::Known& k) { return other_of_its_size(k.type.dtype).has_value(); });
  if (!id) return false;
  const Generator::Known known = g.known(*id);
  Statement statement;
  statement.form = &form;
  statement.operands = {FuzzOperand::of(*id)};
  statement.numbers = {static_cast<int64_t>(*other_of_its_size(known.type.dtype)),
                       static_cast<int64_t>(known.type.dtype)};
  return g.add_value(std::move(statement), known.type, known.magnitude).has_value();
}

static void record_bits(Recorder& r, const Statement& s) {
  Value between = view(r.operand(s, 0), static_cast<DType>(s.numbers.at(0)));
  r.define(s, view(between, static_cast<DType>(s.numbers.at(1))));
}
static void print_bits(Printer& p, const Statement& s) {
  auto dtype = [&](size_t i) { return std::string(name(static_cast<DType>(s.numbers[i]))); };
  p.define(s, "tw::view(tw::view(" + p.operand(s, 0) + ", tw::" + dtype(0) + "), tw::" + dtype(1) + ")");
}

const std::vector<Form>& pointwise_forms() {
  static const std::vector<Form> table{
      {"pointwise", 9, generate_pointwise, record_pointwise, print_pointwise, kByBlocks},
      {"where", 1.5, generate_where, record_where, print_where, kByBlocks | kChooses},
      {"max", 0.3, generate_extremum, record_extremum, print_extremum, kByBlocks | kChooses},
      {"min", 0.3, generate_extremum, record_extremum, print_extremum, kByBlocks | kChooses},
      {"cast", 1.5, generate_cast, record_cast, print_cast, kByBlocks | kChooses},
      {"view of bits", 0.4, generate_bits, record_bits, print_bits, kByBlocks | kChooses},
  };
  return table;
}

} // namespace tilewright::fuzz
