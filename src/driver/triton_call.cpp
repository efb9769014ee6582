#include "driver/triton_call.h"

#include "config/normalise.h"
#include "driver/compile_context.h"
#include "driver/compiled_call.h"
#include "driver/pipeline.h"
#include "driver/tune.h"
#include "support/log.h"

namespace tilewright {

static Config choose_triton_config(const Specialisation& specialisation, const Settings& settings) {
  if (settings.config) {
    NormalisedConfig normalised = normalise(specialisation.spec, *settings.config, specialisation.location);
    for (const std::string& warning : normalised.warnings)
      log_warning("tilewright: {}: {}", specialisation.kernel, warning);
    return normalised.config;
  }
  if (std::vector<Config> known = known_configs(specialisation, 1); !known.empty()) return known[0];
  return default_config(specialisation.spec);
}

std::string triton_source(const Specialisation& specialisation, const Config& config) {
  std::string source;
  with_kernel(specialisation.tile_ir,
              [&](KernelOp kernel) { source = triton_source(kernel, config, triton::GpuTarget()); });
  return source;
}

std::shared_ptr<const TritonCall> write_triton_call(const KernelDefinition& definition, const detail::Call& call) {
  auto written = std::make_shared<TritonCall>();
  written->specialisation = specialise(definition, call, Backend::Triton);
  written->config = choose_triton_config(written->specialisation, *call.settings);
  written->source = triton_source(written->specialisation, written->config);
  return written;
}

} // namespace tilewright
