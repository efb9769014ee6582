#include "driver/prepared_call.h"

#include "config/normalise.h"
#include "driver/arguments.h"
#include "driver/compile_context.h"
#include "driver/in_process_runner.h"
#include "driver/pipeline.h"
#include "driver/specialisation.h"
#include "driver/tune.h"
#include "support/error.h"
#include "support/log.h"

#include <algorithm>

namespace tilewright {

struct PreparedCall::State {
  BoundCall call;
  Backend backend;
  Specialisation specialisation;
  ProgramArguments arguments; // refers to the specialisation

  State(const BoundCall& bound, Backend backend)
      : call(bound), backend(backend), specialisation(specialise(call.core().definition(), call.call(), backend)),
        arguments(specialisation, call.call()) {}
};

PreparedCall::PreparedCall(const BoundCall& call, Backend backend) : state_(std::make_unique<State>(call, backend)) {}
PreparedCall::~PreparedCall() = default;

const std::string& PreparedCall::description() const { return state_->specialisation.description; }
const Specialisation& PreparedCall::specialisation() const { return state_->specialisation; }
const ConfigSpec& PreparedCall::spec() const { return state_->specialisation.spec; }

Config PreparedCall::complete(const Config& config) const {
  NormalisedConfig normalised = normalise(spec(), config, state_->specialisation.location);
  for (const std::string& warning : normalised.warnings)
    log_warning("tilewright: {}: {}", state_->specialisation.kernel, warning);
  return normalised.config;
}

std::optional<Config> PreparedCall::known_config() const {
  std::vector<Config> known = known_configs(state_->specialisation, 1);
  if (known.empty()) return std::nullopt;
  return known[0];
}

TuningResult PreparedCall::tune(AutotuneEffort effort, double budget_seconds) const {
  return tilewright::tune(state_->specialisation, state_->arguments, {effort, budget_seconds, /*quiet=*/false});
}

ReadyLaunch PreparedCall::ready(const Config& config) const {
  CompiledKernel kernel = compile_config(state_->specialisation.tile_ir, config);
  auto arguments = std::make_shared<ProgramArguments>(state_->arguments.copy());
  ReadyLaunch launch;
  for (size_t i = 0; i < state_->specialisation.host.returned.size(); ++i)
    launch.results.push_back(arguments->returned(i));
  if (launch.results.empty()) launch.results = arguments->written();
  launch.instruction_count = kernel.instruction_count;
  launch.run = [plan = std::move(kernel.plan), arguments] { tilewright::launch(plan, arguments->pointers()); };
  return launch;
}

void PreparedCall::compile(const Config& config) const { compile_config(state_->specialisation.tile_ir, config); }

std::span<const std::string> stage_names(Backend backend) {
  static const std::string cpu_names[] = {"tile", "program", "loops", "llvm", "asm"};
  static const std::string triton_names[] = {"tile", "program", "triton"};
  if (backend == Backend::Cpu) return cpu_names;
  return triton_names;
}

std::string PreparedCall::stage_text(std::string_view name, const Config& config) const {
  std::optional<Stage> stage = parse_stage(name);
  std::span<const std::string> known = stage_names(state_->backend);
  if (!stage || std::find(known.begin(), known.end(), name) == known.end()) fail("there is no stage \"{}\"", name);
  std::string text;
  with_kernel(state_->specialisation.tile_ir, [&](KernelOp kernel) {
    text = state_->backend == Backend::Cpu ? tilewright::stage_text(kernel, config, cpu::host_target(), *stage)
                                           : tilewright::stage_text(kernel, config, triton::GpuTarget(), *stage);
  });
  return text;
}

} // namespace tilewright
