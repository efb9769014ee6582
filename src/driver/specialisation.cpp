#include "driver/specialisation.h"

#include "config/derive_config_spec.h"
#include "driver/compile_context.h"
#include "driver/pipeline.h"
#include "frontend/traced_kernel.h"
#include "ir/context.h"
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

Specialisation specialise(const KernelDefinition& definition, const detail::Call& call, Backend backend) {
  Specialisation result;
  std::unique_ptr<mlir::MLIRContext> context = make_context();
  TracedKernel traced = trace(definition, call, context.get());
  KernelOp kernel = traced.kernel;
  result.kernel = definition.name;
  result.location = definition.location;
  result.key.family_hash = identity_hash(kernel);

  std::vector<ArrayLayout> layouts;
  std::vector<std::string> shapes, described;
  for (auto [i, index] : llvm::enumerate(traced.parameters)) {
    const detail::Argument& given = call.arguments[index];
    Specialisation::Parameter parameter{index, kernel.argument_name(i).str(), false, given.dtype, false};
    if (given.kind == detail::Argument::Kind::array) {
      const Array& array = given.array();
      parameter.is_array = true;
      parameter.dtype = array.dtype();
      parameter.is_written = is_stored_to(kernel.getBody().getArgument(i));
      layouts.push_back({{array.sizes().begin(), array.sizes().end()},
                         {array.strides().begin(), array.strides().end()},
                         assumed_alignment(array)});
      shapes.push_back(describe_layout(array, assumed_alignment(array)));
      described.push_back(fmt::format("{}[{}]", name(array.dtype()), fmt::join(array.sizes(), ", ")));
    } else {
      described.push_back(std::string(name(given.dtype)));
    }
    if (!parameter.name.empty()) described.back() = parameter.name + ": " + described.back();
    result.parameters.push_back(std::move(parameter));
  }
  result.description = fmt::format("{}({})", definition.name, fmt::join(described, ", "));

  prepare_kernel(kernel, layouts);
  result.host = evaluate_host(kernel);
  result.spec = derive_config_spec(kernel, limits_of(backend));
  result.key.full_hash = identity_hash(kernel);
  result.key.shapes = fmt::format("{}", fmt::join(shapes, "; "));
  result.key.hardware = hardware_of(backend);
  result.key.compiler = kCompilerVersion;
  result.tile_ir = serialise_kernel(kernel);
  return result;
}

} // namespace tilewright
