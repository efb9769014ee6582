#include "driver/triton_call.h"

#include "driver/compile_context.h"
#include "driver/compiled_call.h"
#include "driver/config_warnings.h"
#include "driver/pipeline.h"
#include "driver/tune.h"
#include "driver/variants.h"
#include "support/log.h"

namespace tilewright {

static Variants::Choice choose_triton_config(Variants& variants, const Settings& settings) {
  if (settings.config) {
    Variants::Choice choice = variants.complete(*settings.config);
    warn_of_config(choice.specialisation->kernel, choice.warnings);
    return choice;
  }
  if (std::vector<Config> known = known_configs(variants.base(), 1); !known.empty()) return variants.fit(known[0]);
  return variants.fit(default_config(variants.base().spec));
}

std::string triton_source(const std::string& tile_ir, const Config& config) {
  std::string source;
  with_kernel(tile_ir, [&](KernelOp kernel) { source = triton_source(kernel, config, triton::GpuTarget()); });
  return source;
}

std::shared_ptr<const TritonCall> write_triton_call(const KernelDefinition& definition, const detail::Call& call) {
  auto written = std::make_shared<TritonCall>();
  Variants variants(definition, call, Backend::Triton);
  Variants::Choice choice = choose_triton_config(variants, *call.settings);
  written->specialisation = *choice.specialisation;
  written->config = choice.config;
  written->source = triton_source(written->specialisation.tile_ir, written->config);
  return written;
}

} // namespace tilewright
