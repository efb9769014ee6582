#include "driver/specialisation.h"

#include "config/derive_config_spec.h"
#include "driver/arguments.h"
#include "driver/compile_context.h"
#include "driver/pipeline.h"
#include "frontend/traced_kernel.h"
#include "ir/context.h"
#include "ir/host_choices.h"
#include "ir/identity.h"
#include "ir/run_time_numbers.h"
#include "support/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <map>
#include <set>

namespace tilewright {

// Changes whenever code is made differently, so that times measured with older code are not trusted.
static constexpr const char* kCompilerVersion = "tilewright 0.1 llvm 19";

static bool is_stored_to(mlir::Value array) {
  for (mlir::Operation* user : array.getUsers())
    if (AccessOp access(user); access && access.array() == array && access.writes()) return true;
  return false;
}

// "float32[1024, 512]:(512, 1)@16", as shapes_distance.h compares it.
static std::string describe_layout(const Array& array, int64_t alignment) {
  return fmt::format("{}[{}]:({})@{}", name(array.dtype()), fmt::join(array.sizes(), ", "),
                     fmt::join(array.strides(), ", "), alignment);
}

static std::vector<Specialisation::Asked> asked_by(KernelOp kernel) {
  std::vector<Specialisation::Asked> asked;
  HostChoices choices = host_choices(kernel);
  for (const RegisteredBlock& block : choices.blocks)
    if (block.value) asked.push_back({"block_sizes", block.block, *block.value, std::nullopt});
  for (const Tunable& tunable : choices.tunables)
    asked.push_back({tunable.name, std::nullopt, tunable.value, tunable.choices[0]});
  return asked;
}

bool holds_for(const Specialisation& specialisation, const Config& config) {
  return llvm::all_of(specialisation.asked, [&](const Specialisation::Asked& asked) {
    const ConfigValue* value = config.find(asked.option);
    if (value && asked.entry) {
      const bool has_entry = value->is_list() && *asked.entry < value->as_list().size();
      value = has_entry ? &value->as_list()[*asked.entry] : nullptr;
    }
    if (value) return value->is_int() && value->as_int() == asked.value;
    return !asked.if_missing || *asked.if_missing == asked.value;
  });
}

bool has_static_shapes(const Settings& settings) {
  if (settings.static_shapes) return *settings.static_shapes;
  static const bool from_environment = [] {
    const char* text = std::getenv("TILEWRIGHT_STATIC_SHAPES");
    if (!text) return true;
    std::string_view value = text;
    if (value == "1" || value == "true") return true;
    if (value == "0" || value == "false") return false;
    fail("TILEWRIGHT_STATIC_SHAPES is \"{}\"; it is 0, 1, false or true", value);
  }();
  return from_environment;
}

// "1024", or "*" where a size is known at run time only.
static std::vector<std::string> described_sizes(const ArrayLayout& layout) {
  std::vector<std::string> texts;
  for (int64_t size : layout.sizes)
    texts.push_back(mlir::ShapedType::isDynamic(size) ? std::string("*") : fmt::format("{}", size));
  return texts;
}

// The sizes that the guards say are numbers: one by one, or equal to one that is.
static std::set<Symbol> pinned_sizes(llvm::ArrayRef<Guard> guards) {
  std::map<Symbol, int64_t> pinned;
  auto known = [&](Symbol symbol) -> std::optional<Dim> {
    auto found = pinned.find(symbol);
    return found == pinned.end() ? std::nullopt : std::optional(Dim(found->second));
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (const Guard& guard : guards) {
      Guard rest{guard.kind, guard.left.substitute(known), guard.right.substitute(known), guard.result};
      if (std::optional<std::pair<Symbol, int64_t>> size = rest.pinned_size()) changes |= pinned.insert(*size).second;
    }
  }
  std::set<Symbol> symbols;
  for (const auto& [symbol, number] : pinned) symbols.insert(symbol);
  return symbols;
}

// The layout that a specialisation for run-time sizes knows of an array.
static void forget_sizes(ArrayLayout& layout, size_t first_symbol, const std::set<Symbol>& pinned) {
  for (size_t dim = 0; dim < layout.sizes.size(); ++dim) {
    if (layout.sizes[dim] == 1) continue;
    if (layout.strides[dim] != 1) layout.strides[dim] = mlir::ShapedType::kDynamic;
    if (!pinned.contains(Symbol::size(first_symbol + dim))) layout.sizes[dim] = mlir::ShapedType::kDynamic;
  }
}

// The guards for a specialisation's calls, which have no captured arrays: the sizes of these, from symbol `first` on,
// are what they are.
static std::vector<SizeCondition> conditions_of(llvm::ArrayRef<Guard> guards, size_t first,
                                                const std::vector<Array>& captured) {
  llvm::SmallVector<int64_t> sizes;
  for (const Array& array : captured) sizes.append(array.sizes().begin(), array.sizes().end());
  auto known = [&](Symbol symbol) -> std::optional<Dim> {
    if (symbol.index < first) return std::nullopt;
    return Dim(sizes[symbol.index - first]);
  };
  std::vector<SizeCondition> conditions;
  for (const Guard& guard : guards)
    conditions.push_back(
        condition_of({guard.kind, guard.left.substitute(known), guard.right.substitute(known), guard.result}));
  return conditions;
}

Specialisation specialise(const KernelDefinition& definition, const detail::Call& call, Backend backend,
                          const Config* config) {
  Specialisation result;
  std::unique_ptr<mlir::MLIRContext> context = make_context();
  TracedKernel traced = trace(definition, call, context.get(), config);
  KernelOp kernel = traced.kernel;
  result.kernel = definition.name;
  result.location = definition.location;
  result.captured = std::move(traced.captured);
  result.recording = traced.recording;
  result.key.family_hash = family_hash(kernel);

  const bool static_shapes = has_static_shapes(*call.settings);
  if (!static_shapes && backend == Backend::Triton)
    fail(definition.location, "kernel {}: the Triton backend has static shapes only; leave static_shapes as it is",
         definition.name);
  llvm::SmallVector<int64_t> sizes;
  append_sizes(call.arguments, sizes);
  const std::set<Symbol> pinned = pinned_sizes(traced.guards);
  size_t symbols = 0;
  std::vector<ArrayLayout> layouts;
  std::vector<std::string> shapes, described;
  for (auto [i, index] : llvm::enumerate(traced.parameters)) {
    const bool is_captured = index >= call.arguments.size();
    Specialisation::Parameter parameter{index, kernel.argument_name(i).str(), false, float32, false};
    if (is_captured || call.arguments[index].kind == detail::Argument::Kind::array) {
      const Array& array = result.array_of(parameter, call);
      parameter.is_array = true;
      parameter.dtype = array.dtype();
      parameter.is_written = is_stored_to(kernel.getBody().getArgument(i));
      layouts.push_back({{array.sizes().begin(), array.sizes().end()},
                         {array.strides().begin(), array.strides().end()},
                         assumed_alignment(array)});
      shapes.push_back(describe_layout(array, assumed_alignment(array)));
      if (!static_shapes && !is_captured) forget_sizes(layouts.back(), symbols, pinned);
      symbols += array.rank();
      described.push_back(fmt::format("{}[{}]", name(array.dtype()), fmt::join(described_sizes(layouts.back()), ", ")));
    } else {
      parameter.dtype = call.arguments[index].dtype;
      described.push_back(std::string(name(parameter.dtype)));
    }
    if (!parameter.name.empty()) described.back() = parameter.name + ": " + described.back();
    result.parameters.push_back(std::move(parameter));
  }
  result.description = fmt::format("{}({})", definition.name, fmt::join(described, ", "));

  std::vector<Guard> guards;
  if (!static_shapes) guards = std::move(traced.guards);
  prepare_kernel(kernel, layouts, sizes, guards);
  result.guards = conditions_of(guards, sizes.size(), result.captured);
  result.host = evaluate_host(kernel);
  result.asked = asked_by(kernel);
  llvm::SmallVector<mlir::Type> arguments(kernel.getArgumentTypes());
  for (EmptyOp empty : kernel.block().getOps<EmptyOp>()) arguments.push_back(empty.getType());
  llvm::SmallVector<RunTimeNumber> numbers = run_time_numbers(arguments);
  result.run_time_numbers.assign(numbers.begin(), numbers.end());
  result.spec = derive_config_spec(kernel, limits_of(backend));
  result.key.full_hash = identity_hash(kernel);
  result.key.shapes = fmt::format("{}", fmt::join(shapes, "; "));
  result.key.hardware = hardware_of(backend);
  result.key.compiler = kCompilerVersion;
  result.tile_ir = serialise_kernel(kernel);
  return result;
}

} // namespace tilewright
