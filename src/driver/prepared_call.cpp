#include "driver/prepared_call.h"

#include "config/normalise.h"
#include "driver/arguments.h"
#include "driver/compile_context.h"
#include "driver/config_warnings.h"
#include "driver/gpu_target.h"
#include "driver/in_process_runner.h"
#include "driver/pipeline.h"
#include "driver/tune.h"
#include "driver/variants.h"
#include "support/error.h"
#include "support/log.h"

#include <algorithm>

namespace tilewright {

struct PreparedCall::State {
  BoundCall call;
  Backend backend;
  Variants variants; // refer to the call

  State(const BoundCall& bound, Backend backend)
      : call(bound), backend(backend), variants(call.core().definition(), call.call(), backend) {
    ProgramArguments check(variants.base(), call.call());
  }
};

PreparedCall::PreparedCall(const BoundCall& call, Backend backend) : state_(std::make_unique<State>(call, backend)) {}
PreparedCall::~PreparedCall() = default;

const std::string& PreparedCall::description() const { return state_->variants.base().description; }
const Specialisation& PreparedCall::specialisation() const { return state_->variants.base(); }
const ConfigSpec& PreparedCall::spec() const { return state_->variants.base().spec; }

Config PreparedCall::complete(const Config& config) const {
  Variants::Choice choice = state_->variants.complete(config);
  warn_of_config(choice.specialisation->kernel, choice.warnings);
  return choice.config;
}

std::optional<Config> PreparedCall::known_config() const {
  std::vector<Config> known = known_configs(state_->variants.base(), 1);
  if (known.empty()) return std::nullopt;
  return known[0];
}

CandidateJob PreparedCall::candidate(const Config& config) const {
  Variants::Choice choice = state_->variants.fit(config);
  return {choice.specialisation->tile_ir, state_->variants.base().key.shapes, choice.config};
}

TuningResult PreparedCall::tune(AutotuneEffort effort, double budget_seconds) const {
  return tilewright::tune(state_->variants, state_->call.call(), {effort, budget_seconds, /*quiet=*/false});
}

ReadyLaunch PreparedCall::ready(const Config& config) const {
  Variants::Choice choice = state_->variants.fit(config);
  CompiledKernel kernel = compile_config(choice.specialisation->tile_ir, choice.config);
  ProgramArguments of_call(*choice.specialisation, state_->call.call());
  auto arguments = std::make_shared<ProgramArguments>(of_call.copy());
  ReadyLaunch launch;
  for (size_t i = 0; i < choice.specialisation->host.returned.size(); ++i)
    launch.results.push_back(arguments->returned(i));
  if (launch.results.empty()) launch.results = arguments->written();
  launch.instruction_count = kernel.instruction_count;
  launch.run = [plan = plan_for_sizes(std::move(kernel.plan), arguments->sizes()), arguments,
                kept = choice.specialisation] { tilewright::launch(plan, arguments->pointers()); };
  return launch;
}

void PreparedCall::compile(const Config& config) const {
  Variants::Choice choice = state_->variants.fit(config);
  compile_config(choice.specialisation->tile_ir, choice.config);
}

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
  Variants::Choice choice = state_->variants.fit(config);
  with_kernel(choice.specialisation->tile_ir, [&](KernelOp kernel) {
    text = state_->backend == Backend::Cpu ? tilewright::stage_text(kernel, choice.config, cpu::host_target(), *stage)
                                           : tilewright::stage_text(kernel, choice.config, gpu_target(), *stage);
  });
  return text;
}

} // namespace tilewright
