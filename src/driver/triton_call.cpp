#include "driver/triton_call.h"

#include "driver/compile_context.h"
#include "driver/compiled_call.h"
#include "driver/gpu_target.h"
#include "driver/pipeline.h"
#include "driver/tune.h"
#include "driver/variants.h"

namespace tilewright {

std::string triton_source(const std::string& tile_ir, const Config& config) {
  std::string source;
  with_kernel(tile_ir, [&](KernelOp kernel) { source = triton_source(kernel, config, gpu_target()); });
  return source;
}

std::shared_ptr<const TritonCall> write_triton_call(const KernelDefinition& definition, const detail::Call& call,
                                                    const TritonSearch& search) {
  auto written = std::make_shared<TritonCall>();
  Variants variants(definition, call, Backend::Triton);
  std::function<Config(const TuneRequest&)> search_here;
  if (search)
    search_here = [&](TuneRequest request) {
      request.job_for = [&](const Config& config) {
        Variants::Choice choice = variants.fit(config);
        return CandidateJob{choice.specialisation->tile_ir, variants.base().key.shapes, choice.config};
      };
      return search(variants.base(), request);
    };
  Variants::Choice choice = choose_config(variants, *call.settings, search_here);
  written->specialisation = *choice.specialisation;
  written->config = choice.config;
  written->source = triton_source(written->specialisation.tile_ir, written->config);
  return written;
}

} // namespace tilewright
