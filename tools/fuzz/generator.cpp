#include "fuzz/generator.h"

#include "fuzz/tidy_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace tilewright::fuzz {

Generator::Generator(uint64_t seed, Prober& prober)
    : random(seed), prober_(prober), preferred_form_(forms()[seed % forms().size()]),
      preferred_operation_(&operations()[seed % operations().size()]) {
  // By turns too, and the other way round the next time that the operation's turn comes: many have no exact results.
  kernel.exact = (seed + seed / operations().size()) % 2 == 0;
}

std::optional<std::vector<Axis>> broadcast(const std::vector<Axis>& a, const std::vector<Axis>& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  std::vector<Axis> both = a;
  for (size_t i = 0; i < b.size(); ++i) {
    Axis &into = both[a.size() - 1 - i], other = b[b.size() - 1 - i];
    if (into == other || other.kind == Axis::Kind::one) continue;
    if (into.kind != Axis::Kind::one) return std::nullopt;
    into = other;
  }
  return both;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

void Generator::choose_extents() {
  static const std::vector<int64_t> small{1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17};
  static const std::vector<int64_t> large{16, 19, 23, 31, 32, 33, 40, 47, 61, 64, 67, 97, 100, 127, 130};
  static const std::vector<int64_t> budgets{200, 600, 600, 1500, 1500, 4000};
  budget_ = one_of(budgets);
  size_t count = number(2, 4);
  for (size_t i = 0; i < count; ++i) {
    int64_t extent = random.chance(i == 0 ? 0.7 : 0.25) ? one_of(large) : one_of(small);
    if (random.chance(0.01)) extent = 0;
    kernel.extents.push_back(extent);
  }
  if (kind_ != Kind::rows) return;
  budget_ = 4000;
  kernel.extents[0] = one_of(large);
  for (size_t i = 1; i < count; ++i) kernel.extents[i] = one_of(small);
}

// More often one that no others give.
int Generator::some_extent() {
  size_t given = kernel.extents.size() - kernel.derived.size();
  if (kind_ == Kind::rows && random.chance(0.9)) return static_cast<int>(1 + random.below(given - 1));
  return static_cast<int>(random.below(random.chance(0.15) ? kernel.extents.size() : given));
}

int Generator::derived_extent(DerivedExtent derived) {
  for (const DerivedExtent& each : kernel.derived)
    if (each.is_like(derived)) return each.extent;
  derived.extent = static_cast<int>(kernel.extents.size());
  kernel.extents.push_back(derived.length(kernel.extents));
  kernel.derived.push_back(derived);
  return derived.extent;
}

int Generator::scaled_extent(int extent, int64_t scale, int64_t plus) {
  if (scale == 1 && plus == 0) return extent;
  return derived_extent({DerivedExtent::Kind::scaled, 0, extent, -1, scale, plus});
}

bool Generator::is_free_block(int block) const {
  return std::none_of(open_.begin(), open_.end(), [&](const OpenVariable& open) { return open.block == block; });
}

void Generator::choose_blocks(Statement& loop, std::vector<OpenVariable>& variables) {
  for (OpenVariable& variable : variables) {
    int64_t block = 0;
    if (random.chance(0.08)) {
      block = number(1, 9);
    } else if (random.chance(0.1)) {
      if (kernel.blocks.empty() || (kernel.blocks.size() < 2 && random.chance(0.3)))
        kernel.blocks.push_back(some_extent());
      auto chosen = static_cast<int>(random.below(kernel.blocks.size()));
      bool here = std::any_of(variables.begin(), variables.end(), [&](auto& other) { return other.block == chosen; });
      if (is_free_block(chosen) && !here) {
        variable.block = chosen;
        block = -1 - chosen;
      }
    }
    loop.numbers.push_back(block);
  }
}

int64_t Generator::extent_of(const Axis& axis) const {
  if (axis.kind == Axis::Kind::one) return 1;
  if (axis.kind == Axis::Kind::block) return 64; // at most
  if (axis.kind == Axis::Kind::whole) return kernel.extents[axis.index];
  for (const OpenVariable& variable : open_)
    if (variable.variable == axis.index) return variable.extent < 0 ? 1 : kernel.extents[variable.extent];
  return 1;
}

bool Generator::affordable(const std::vector<Axis>& axes) const {
  int64_t work = 1;
  for (const OpenVariable& variable : open_)
    if (variable.extent >= 0) work *= std::max<int64_t>(kernel.extents[variable.extent], 1);
  for (const Axis& axis : axes)
    if (axis.kind == Axis::Kind::whole || axis.kind == Axis::Kind::block) work *= std::max<int64_t>(extent_of(axis), 1);
  return work <= budget_ && axes.size() <= 4;
}

bool Generator::may_open(const std::vector<int>& extents) const {
  std::vector<Axis> axes;
  for (int extent : extents) axes.push_back({Axis::Kind::whole, extent});
  return affordable(axes);
}

std::vector<Axis> Generator::some_axes(size_t most) {
  std::vector<Axis> axes;
  for (const OpenVariable& variable : open_)
    if (!variable.is_grid && random.chance(0.7)) axes.push_back({Axis::Kind::tile, variable.variable});
  if (kind_ == Kind::rows && random.chance(0.8))
    axes.push_back({Axis::Kind::whole, 0});
  else if (random.chance(0.5))
    axes.push_back({Axis::Kind::whole, some_extent()});
  for (size_t i = axes.size(); i > 1; --i) // in any order, more often in that of the loops
    if (random.chance(0.3)) std::swap(axes[i - 1], axes[random.below(i)]);
  while (axes.size() > most || (!axes.empty() && !affordable(axes))) axes.pop_back();
  return axes;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

double Generator::largest_magnitude(DType dtype) const {
  if (!is_floating_point(dtype)) return 1e9;
  if (dtype == bfloat16) return kernel.exact ? 128 : 1e4;
  if (dtype == float16) return kernel.exact ? 1000 : 2000;
  return kernel.exact ? 1e6 : 1e5;
}

DType Generator::some_floating_dtype() {
  DType dtype = some_dtype();
  while (!is_floating_point(dtype)) dtype = some_dtype();
  return dtype;
}

std::vector<ValueId> Generator::visible() const {
  std::vector<ValueId> all;
  auto is_block = [](const Axis& axis) { return axis.kind == Axis::Kind::block; };
  for (const std::vector<ValueId>& scope : scopes_)
    for (ValueId id : scope) // those of a registered block size are for the form that makes them
      if (const std::vector<Axis>& axes = known(id).type.axes; std::none_of(axes.begin(), axes.end(), is_block))
        all.push_back(id);
  return all;
}

std::optional<ValueId> Generator::some_value(const std::function<bool(const Known&)>& fits) {
  std::vector<ValueId> fitting;
  for (ValueId id : visible())
    if (fits(known(id))) fitting.push_back(id);
  if (fitting.empty()) return std::nullopt;
  if (random.chance(0.5)) return fitting.back(); // chains rather than stars
  return one_of(fitting);
}

std::optional<ValueId> Generator::some_unused_value() {
  std::vector<ValueId> list;
  for (ValueId id : visible())
    if (unused_.contains(id)) list.push_back(id);
  if (list.empty()) return std::nullopt;
  return one_of(list);
}

std::optional<ValueId> Generator::add_value(Statement statement, Type type, double magnitude) {
  if (!affordable(type.axes) || magnitude > largest_magnitude(type.dtype)) return std::nullopt;
  statement.result = kernel.value_count++;
  statement.type = type;
  known_[statement.result] = {std::move(type), magnitude};
  scopes_.back().push_back(statement.result);
  ValueId id = statement.result;
  add(std::move(statement));
  return id;
}

std::optional<ValueId> Generator::value_with(const std::vector<Axis>& axes, DType dtype) {
  if (!affordable(axes)) return std::nullopt;
  if (random.chance(0.5))
    if (auto old = some_value([&](const Known& k) { return k.type.axes == axes && k.type.dtype == dtype; })) return old;
  if (random.chance(0.9))
    if (auto loaded = load_of(axes, dtype)) return loaded;
  if (auto old = some_value([&](const Known& k) { return k.type.axes == axes; })) return converted(*old, dtype);
  return filled(axes, dtype, static_cast<double>(number(0, 2)));
}

ValueId Generator::filled(const std::vector<Axis>& axes, DType dtype, double number) {
  Statement full;
  full.form = find_form(number == 0 ? "zeros" : number == 1 ? "ones" : "full");
  full.operands = {FuzzOperand::integer(static_cast<int64_t>(number))};
  int64_t budget = std::exchange(budget_, INT64_MAX); // it is little work, and what asks for it needs it
  ValueId id = *add_value(std::move(full), {dtype, axes}, 1);
  budget_ = budget;
  known_[id].magnitude = std::fabs(number);
  return id;
}

std::optional<ValueId> Generator::apply(std::string_view name, std::vector<FuzzOperand> operands) {
  for (const Operation& operation : operations())
    if (operation.name == name) return apply(operation, std::move(operands));
  return std::nullopt;
}

std::optional<ValueId> Generator::apply(const Operation& operation, std::vector<FuzzOperand> operands) {
  std::vector<ProbedOperand> probed;
  std::vector<Axis> axes;
  bool any_value = false;
  for (const FuzzOperand& operand : operands) {
    if (operand.kind == FuzzOperand::Kind::value) {
      const Known& from = known(operand.value);
      probed.push_back({from.type.dtype, from.magnitude});
      std::optional<std::vector<Axis>> joint = broadcast(axes, from.type.axes);
      if (!joint) return std::nullopt;
      axes = *joint;
      any_value = true;
    } else {
      bool real = operand.kind == FuzzOperand::Kind::real;
      probed.push_back({.is_literal = true,
                        .literal = real ? Operand(operand.number) : Operand(static_cast<int64_t>(operand.number)),
                        .literal_text = (real ? "real " : "integer ") + std::to_string(operand.number)});
    }
  }
  if (!any_value) return std::nullopt;
  std::optional<Probe> probe = prober_.probe(operation, probed, kernel.exact);
  if (!probe || (kernel.exact && !probe->exact)) return std::nullopt;
  // What is NaN for most numbers, as a logarithm is, comes now and then.
  if (probe->nan_share > 0.8 || (probe->nan_share > 0.3 && random.chance(0.7))) return std::nullopt;
  if (probe->not_by_zero && operands.back().kind == FuzzOperand::Kind::value) {
    if (known(operands.back().value).type.dtype == boolean) return std::nullopt; // the 3 would make it an integer
    std::optional<ValueId> is_zero = apply("operator ==", {operands.back(), FuzzOperand::integer(0)});
    if (!is_zero) return std::nullopt;
    Statement where;
    where.form = find_form("where");
    where.operands = {FuzzOperand::of(*is_zero), FuzzOperand::integer(3), operands.back()};
    std::optional<ValueId> divisor = add_value(std::move(where), known(operands.back().value).type,
                                               std::max(3.0, known(operands.back().value).magnitude));
    if (!divisor) return std::nullopt;
    operands.back() = FuzzOperand::of(*divisor);
  }
  Statement statement;
  statement.form = find_form("pointwise");
  statement.operation = &operation;
  statement.operands = std::move(operands);
  return add_value(std::move(statement), {probe->dtype, axes}, probe->magnitude);
}

std::optional<ValueId> Generator::clamped(ValueId id, double magnitude) {
  Type type = known(id).type;
  if (known(id).magnitude <= magnitude || type.dtype == boolean) return id;
  auto bound = [&](double at) {
    return is_floating_point(type.dtype) ? FuzzOperand::real(at) : FuzzOperand::integer(static_cast<int64_t>(at));
  };
  auto result = apply("clamp", {FuzzOperand::of(id), bound(-magnitude), bound(magnitude)});
  if (result) known_[*result].magnitude = magnitude;
  return result;
}

std::optional<ValueId> Generator::converted(ValueId id, DType dtype) {
  Type from = known(id).type;
  if (from.dtype == dtype) return id;
  double most = dtype == boolean ? 1 : dtype == uint8 ? 200 : dtype == int8 ? 100 : largest_magnitude(dtype);
  bool to_integer = is_floating_point(from.dtype) && !is_floating_point(dtype) && dtype != boolean;
  if (to_integer) most = std::min(most, 1000.0);
  if (to_integer && !kernel.exact) { // NaN has no integer
    std::optional<ValueId> is_number = apply("operator ==", {FuzzOperand::of(id), FuzzOperand::of(id)});
    if (!is_number) return std::nullopt;
    Statement where;
    where.form = find_form("where");
    where.operands = {FuzzOperand::of(*is_number), FuzzOperand::of(id), FuzzOperand::integer(1)};
    std::optional<ValueId> finite = add_value(std::move(where), from, std::max(1.0, known(id).magnitude));
    if (!finite) return std::nullopt;
    id = *finite;
    known_[id].magnitude = HUGE_VAL; // so that it is clamped, for it may be infinite
  }
  std::optional<ValueId> fitting = dtype == boolean ? id : clamped(id, most);
  if (!fitting) return std::nullopt;
  if (dtype == uint8 && from.dtype != boolean) { // of a negative number it is not defined
    fitting = apply("abs", {FuzzOperand::of(*fitting)});
    if (!fitting) return std::nullopt;
  }
  Statement cast;
  cast.form = find_form("cast");
  cast.operands = {FuzzOperand::of(*fitting)};
  cast.numbers = {static_cast<int64_t>(dtype)};
  return add_value(std::move(cast), {dtype, from.axes}, dtype == boolean ? 1 : known(*fitting).magnitude);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

int Generator::new_tensor(FuzzTensor tensor) {
  kernel.tensors.push_back(std::move(tensor));
  return static_cast<int>(kernel.tensors.size()) - 1;
}

const Place* Generator::own_part(int tensor) const {
  auto found = own_.find(tensor);
  return found == own_.end() ? nullptr : &found->second;
}

bool Generator::may_own(int tensor, const Place& part) const {
  const FuzzTensor& it = kernel.tensors[tensor];
  if (it.extents != part.extents) return false;
  if (const Place* own = own_part(tensor)) return *own == part;
  return !read_.contains(tensor) && !written_.contains(tensor) && it.layout != Layout::expanded;
}

void Generator::note_own(int tensor, const Place& part) {
  own_.insert_or_assign(tensor, part);
  written_.insert(tensor);
  changed_.insert(tensor);
}

bool Generator::may_share(int tensor, const Form& form) const {
  if (auto found = shared_.find(tensor); found != shared_.end()) return found->second == &form;
  return !read_.contains(tensor) && !written_.contains(tensor) && kernel.tensors[tensor].layout != Layout::expanded;
}

void Generator::note_shared(int tensor, const Form& form) {
  shared_[tensor] = &form;
  written_.insert(tensor);
  changed_.insert(tensor);
}

void Generator::add(Statement statement) {
  for (const FuzzOperand& operand : statement.operands)
    if (operand.kind == FuzzOperand::Kind::value) unused_.erase(operand.value);
  for (const FuzzSubscript& subscript : statement.subscripts) unused_.erase(subscript.value);
  if (statement.result >= 0) unused_.insert(statement.result);
  blocks_.back().push_back(std::move(statement));
}

void Generator::open(const std::vector<OpenVariable>& variables) {
  blocks_.emplace_back();
  scopes_.emplace_back();
  open_.insert(open_.end(), variables.begin(), variables.end());
  opened_.push_back(variables.size());
  for (OpenVariable& variable : open_) {
    if (!variable.is_grid || variable.index >= 0) continue;
    variable.index = kernel.value_count++;
    double magnitude = variable.extent < 0 ? 100 : static_cast<double>(kernel.extents[variable.extent]);
    known_[variable.index] = {{int32, {}}, magnitude};
  }
}

std::vector<Statement> Generator::close() {
  std::vector<Statement> body = std::move(blocks_.back());
  for (ValueId id : scopes_.back()) unused_.erase(id); // out of reach
  blocks_.pop_back();
  scopes_.pop_back();
  open_.resize(open_.size() - opened_.back());
  opened_.pop_back();
  return body;
}

double Generator::weight_of(const Form& form) const {
  switch (kind_) {
  case Kind::any: return form.weight;
  case Kind::rows: return form.has(kReduces) ? 3 * form.weight : form.has(kByBlocks) ? form.weight : 0.05 * form.weight;
  case Kind::choices: return form.has(kChooses) ? form.weight : 0;
  }
  return 0;
}

void Generator::add_random_statement() {
  double total = 0;
  for (const Form* form : forms()) total += weight_of(*form);
  double share = weight_of(*preferred_form_) < preferred_form_->weight ? 0.02 : 0.15;
  if (preferred_form_->weight > 0 && random.chance(share) && preferred_form_->generate(*this, *preferred_form_)) return;
  for (int attempt = 0; attempt < 20; ++attempt) {
    double at = random.unit() * total;
    for (const Form* form : forms()) {
      at -= weight_of(*form);
      if (at >= 0) continue;
      if (form->generate(*this, *form)) return;
      break;
    }
  }
}

// Stores what nothing uses yet, after adding up what can be, so that little is computed in vain.
void Generator::use_up() {
  for (ValueId id : visible()) {
    if (!unused_.contains(id)) continue;
    for (ValueId other : visible()) {
      bool same = known(other).type.dtype == known(id).type.dtype && known(other).type.dtype != boolean;
      if (other == id || !same || !unused_.contains(other) || !unused_.contains(id)) continue;
      const char* joint[][2] = {{"operator +", "operator -"}, {"maximum", "minimum"}};
      apply(joint[kind_ == Kind::choices][random.chance(0.3)], {FuzzOperand::of(id), FuzzOperand::of(other)});
    }
  }
  const Form* store = find_form(random.chance(0.85) ? "store" : "store +=");
  int stores = 0;
  for (int attempt = 0; attempt < 10 && (stores == 0 || (stores < 3 && !unused_.empty())); ++attempt)
    stores += store->generate(*this, *store);
  while (stores == 0) { // a kernel stores something
    filled({}, float32, 2);
    stores += find_form("store")->generate(*this, *find_form("store"));
  }
}

// One to three dimensions.
void Generator::add_outermost() {
  most_tensors_ += 4;
  std::vector<int> extents;
  size_t rank = random.chance(kind_ == Kind::rows ? 0.9 : 0.5) ? 1 : random.chance(0.8) ? 2 : 3;
  for (size_t i = 0; i < rank; ++i) {
    extents.push_back(some_extent());
    if (!may_open(extents)) {
      extents.pop_back();
      break;
    }
  }
  if (extents.empty()) {
    extents.push_back(some_extent());
    budget_ = std::max(budget_, kernel.extents[extents[0]]);
  }
  Statement loop;
  bool grid = random.chance(0.1), has_begin = random.chance(0.08);
  loop.form = find_form(grid ? "grid" : "tile");
  has_begin &= !grid || extents.size() == 1;
  for (int extent : extents) has_begin &= kernel.extents[extent] > 0;
  loop.numbers = {has_begin};
  std::vector<OpenVariable> variables;
  for (int extent : extents) {
    int64_t begin = has_begin ? number(0, 1) : 0;
    if (has_begin) loop.operands.push_back(FuzzOperand::integer(begin));
    loop.variables.push_back(new_variable());
    variables.push_back(
        {.variable = loop.variables.back(), .extent = extent, .is_grid = grid, .outermost = true, .begin = begin});
  }
  for (int extent : extents) loop.operands.push_back(FuzzOperand::extent(extent));
  if (!grid) choose_blocks(loop, variables);
  open(variables);
  if (grid)
    for (const OpenVariable& variable : open_) loop.numbers.push_back(variable.index);

  size_t statements = number(2, random.chance(0.7) ? 6 : 14);
  for (size_t i = 0; i < statements; ++i) add_random_statement();
  for (int attempt = 0; attempt < 4 && kind_ != Kind::choices; ++attempt) // the next one begins with another value
    if (add_operation(*this, *preferred_operation_)) break;
  use_up();
  loop.body = close();
  add(std::move(loop));
}

FuzzKernel Generator::generate() {
  const double kind = random.unit();
  kind_ = kind < 0.2 ? Kind::rows : kind < 0.35 ? Kind::choices : Kind::any;
  if (kind_ == Kind::choices) kernel.exact = false;
  kernel.seed = random.below(1000000);
  choose_extents();
  scopes_.emplace_back();
  blocks_.emplace_back();
  int64_t loops = random.chance(0.75) ? 1 : number(2, 3);
  for (int64_t i = 0; i < loops; ++i) {
    if (i > 0 && random.chance(0.7)) {
      Statement barrier;
      barrier.form = find_form("barrier");
      add(std::move(barrier));
      read_.clear();
      written_.clear();
      shared_.clear();
    }
    own_.clear(); // of other programs
    add_outermost();
  }
  kernel.body = std::move(blocks_.back());
  tidy(kernel);
  kernel.run_time_sizes = kernel.seed / 4 % 3 == 0;
  return kernel;
}

} // namespace tilewright::fuzz
