#include "driver/specialisation.h"

#include "config/derive_config_spec.h"
#include "driver/compile_context.h"
#include "driver/pipeline.h"
#include "frontend/traced_kernel.h"
#include "ir/context.h"
#include "ir/host_choices.h"
#include "ir/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  result.key.family_hash = identity_hash(kernel);

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
      described.push_back(fmt::format("{}[{}]", name(array.dtype()), fmt::join(array.sizes(), ", ")));
    } else {
      parameter.dtype = call.arguments[index].dtype;
      described.push_back(std::string(name(parameter.dtype)));
    }
    if (!parameter.name.empty()) described.back() = parameter.name + ": " + described.back();
    result.parameters.push_back(std::move(parameter));
  }
  result.description = fmt::format("{}({})", definition.name, fmt::join(described, ", "));

  prepare_kernel(kernel, layouts);
  result.host = evaluate_host(kernel);
  result.asked = asked_by(kernel);
  result.spec = derive_config_spec(kernel, limits_of(backend));
  result.key.full_hash = identity_hash(kernel);
  result.key.shapes = fmt::format("{}", fmt::join(shapes, "; "));
  result.key.hardware = hardware_of(backend);
  result.key.compiler = kCompilerVersion;
  result.tile_ir = serialise_kernel(kernel);
  return result;
}

} // namespace tilewright
