#include "frontend/dsl_dynamic.h"

#include "frontend/dsl_record.h"

#include "llvm/ADT/StringSwitch.h"

namespace tilewright::detail {

bool is_recording() { return Recording::current() != nullptr; }
uint32_t recording_id(const Recording& recording) { return recording.id(); }

//===----------------------------------------------------------------------===//
// Operations by name
//===----------------------------------------------------------------------===//

namespace {
struct NamedPointwise {
  std::string_view name;
  Pointwise function;
  size_t terms; // operands and numbers
};
constexpr NamedPointwise kPointwise[] = {
#define TILEWRIGHT_POINTWISE(name, operands, parameters, ...) {#name, Pointwise::name, (operands) + (parameters)},
#include "tilewright/operations.inc"
};
} // namespace

Value pointwise(std::string_view name, std::span<const Operand> operands, const SourceLocation& location) {
  const auto* found = llvm::find_if(kPointwise, [&](const NamedPointwise& each) { return each.name == name; });
  if (found == std::end(kPointwise)) fail(location, "there is no pointwise operation {}", name);
  // nan_to_num_as is one of three numbers that no column counts.
  size_t expected = found->function == Pointwise::nan_to_num_as ? 4 : found->terms;
  if (operands.size() != expected) fail(location, "{} takes {} operands, found {}", name, expected, operands.size());
  const char* what = spelling(found->function);
  Recording& recording = Recording::require(location, what);
  Builder& builder = recording.device(location, what);
  llvm::SmallVector<Term> terms;
  for (const Operand& operand : operands) terms.push_back(recording.term(operand));
  return Value(recording.new_variable(builder.pointwise(found->function, terms)));
}

Value extremum(bool largest, const Operand& x, const SourceLocation& location) {
  return largest ? amax(x, Dims(), false, location) : amin(x, Dims(), false, location);
}

std::pair<Value, Value> extremum(bool largest, const Operand& x, int dim, bool keepdim,
                                 const SourceLocation& location) {
  const char* what = largest ? ".max()" : ".min()";
  return record_pair(
      location, what, [&](Builder& b, const Term& t) { return b.arg_extremum(what, largest, t, dim, keepdim); }, x);
}

//===----------------------------------------------------------------------===//
// Lists of subscripts
//===----------------------------------------------------------------------===//

static Place place_of(Recording& recording, const Tensor& x, std::span<const TensorIndex> subscripts,
                      const AccessOptions& options) {
  Place place = recording.place(x.handle(), subscripts);
  Term mask = recording.term(options.extra_mask);
  recording.at({}).set_options(place, &mask, options.eviction_policy);
  return place;
}

Value load(const Tensor& x, std::span<const TensorIndex> subscripts, const AccessOptions& options,
           const SourceLocation& location) {
  Recording& recording = Recording::require(location, "reading a tensor");
  Builder& builder = recording.device(location, "reading a tensor");
  return Value(recording.new_variable(builder.load(place_of(recording, x, subscripts, options))));
}

void store(const Tensor& x, std::span<const TensorIndex> subscripts, const Operand& value, const AccessOptions& options,
           const SourceLocation& location) {
  Recording& recording = Recording::require(location, "writing a tensor");
  Builder& builder = recording.device(location, "writing a tensor");
  Place place = place_of(recording, x, subscripts, options);
  builder.store(place, recording.term(value));
}

Value atomic(std::string_view name, const Tensor& x, std::span<const TensorIndex> subscripts,
             std::span<const Operand> values, const char* sem, const SourceLocation& location) {
  auto kind = llvm::StringSwitch<std::optional<AtomicKind>>(llvm::StringRef(name.data(), name.size()))
                  .Case("atomic_add", AtomicKind::Add)
                  .Case("atomic_and", AtomicKind::And)
                  .Case("atomic_or", AtomicKind::Or)
                  .Case("atomic_xor", AtomicKind::Xor)
                  .Case("atomic_xchg", AtomicKind::Exchange)
                  .Case("atomic_max", AtomicKind::Max)
                  .Case("atomic_min", AtomicKind::Min)
                  .Default(std::nullopt);
  bool compares = name == "atomic_cas";
  if (!kind && !compares) fail(location, "there is no atomic operation {}", name);
  size_t expected = compares ? 2 : 1;
  if (values.size() != expected) fail(location, "{} takes {} values, found {}", name, expected, values.size());

  std::string spelled = "tw::" + std::string(name);
  Recording& recording = Recording::require(location, spelled.c_str());
  Builder& builder = recording.device(location, spelled.c_str());
  std::optional<MemoryOrder> order = symbolizeMemoryOrder(sem);
  if (!order) builder.fail("a memory order is \"relaxed\", \"acquire\", \"release\" or \"acq_rel\", found \"{}\"", sem);
  Place place = recording.place(x.handle(), subscripts);
  Term first = recording.term(values[0]);
  mlir::Value old = compares ? builder.atomic_cas(place, first, recording.term(values[1]), *order)
                             : builder.atomic(spelled.c_str(), *kind, place, first, *order);
  return Value(recording.new_variable(old));
}

Value subscript(const Value& x, std::span<const TensorIndex> subscripts, const SourceLocation& location) {
  Recording& recording = Recording::require(location, "[]");
  Builder& builder = recording.device(location, "[]");
  Term term = recording.read(x.variable());
  return Value(recording.new_variable(builder.subscript(term, recording.subscripts(subscripts))));
}

std::vector<std::variant<Size, Value>> shape_of(const Value& x, const SourceLocation& location) {
  Recording& recording = Recording::require(location, "the shape of a value");
  Builder& builder = recording.at(location);
  std::vector<std::variant<Size, Value>> lengths;
  for (const Dim& dim : dims_of(recording.read(x.variable()))) {
    if (builder.dimensions.value(dim))
      lengths.emplace_back(recording.size(dim));
    else
      lengths.emplace_back(Value(recording.new_variable(builder.extent(dim))));
  }
  return lengths;
}

//===----------------------------------------------------------------------===//
// What the config says
//===----------------------------------------------------------------------===//

Size host_number(const Value& block, const SourceLocation& location) {
  Recording& recording = Recording::require(location, "a registered block size");
  recording.at(location);
  return Size(recording.host_number(block.variable()));
}

Size register_tunable(const std::string& name, std::span<const int64_t> choices, const SourceLocation& location) {
  Recording& recording = Recording::require(location, "tw::register_tunable");
  recording.host(location, "tw::register_tunable");
  return Size(recording.register_tunable(name, {choices.data(), choices.size()}, location));
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

Value copy(const Value& variable, const SourceLocation& location) {
  Recording& recording = Recording::require(location, "reading a variable");
  recording.at(location);
  return Value(recording.new_variable(recording.read(variable.variable())));
}

static DType dtype_of_number(Operand::Kind kind) {
  switch (kind) {
  case Operand::Kind::boolean: return DType::boolean;
  case Operand::Kind::real: return DType::float32;
  default: return DType::int64;
  }
}

void assign(Value& variable, const Operand& value, const SourceLocation& location) {
  Recording& recording = Recording::require(location, "assigning to a variable");
  recording.device(location, "assigning to a variable");
  if (value.kind() == Operand::Kind::value)
    variable = Value(value.handle());
  else
    variable = full({}, value, dtype_of_number(value.kind()), location);
}

} // namespace tilewright::detail
