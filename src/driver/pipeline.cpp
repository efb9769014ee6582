#include "driver/pipeline.h"

#include "backends/cpu/expand_math.h"
#include "backends/cpu/loops_to_llvm.h"
#include "backends/cpu/lower_to_loops.h"
#include "backends/cpu/overlap_stores.h"
#include "backends/triton/emit_source.h"
#include "driver/source_comments.h"
#include "ir/context.h"
#include "ir/programs_per_worker.h"
#include "runtime/launch_plan.h"
#include "schedule/bucket_dims.h"
#include "schedule/expand_program_ids.h"
#include "schedule/host_plan.h"
#include "schedule/schedule.h"
#include "schedule/simplify.h"
#include "support/error.h"
#include "tilewright/device.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilewright {

std::optional<Stage> parse_stage(std::string_view name) {
  if (name == "tile") return Stage::Tile;
  if (name == "program") return Stage::Program;
  if (name == "loops") return Stage::Loops;
  if (name == "llvm") return Stage::Llvm;
  if (name == "asm") return Stage::Asm;
  if (name == "triton") return Stage::Triton;
  return std::nullopt;
}

void prepare_kernel(KernelOp kernel, ArrayRef<ArrayLayout> layouts, ArrayRef<int64_t> sizes,
                    std::vector<Guard>& guards) {
  check_diagnostics(kernel.getContext(), [&] {
    if (failed(pin_sizes(kernel, layouts)) || failed(simplify_kernel(kernel))) return failure();
    if (failed(bucket_dims(kernel, sizes, guards))) return failure();
    return verify(kernel);
  });
}

static std::vector<SizedPhase> sized_phases(ProgramOp program) {
  std::vector<SizedPhase> phases;
  for (Attribute phase : program.getTiles() ? program.getTiles()->getValue() : ArrayRef<Attribute>()) {
    SizedPhase& made = phases.emplace_back();
    for (Attribute loop : cast<ArrayAttr>(phase)) {
      auto tiles = cast<TilesAttr>(loop);
      std::vector<SizedPhase::Dimension>& dimensions = made.loops.emplace_back();
      for (auto [length, block] : llvm::zip(tiles.getLengths(), tiles.getBlocks()))
        dimensions.push_back({formula_of(length.dim()), block});
    }
  }
  return phases;
}

template <typename Target>
static OwningOpRef<ModuleOp> make_program(KernelOp kernel, const Config& config, const Target& target) {
  return schedule(kernel, config, limits_of(target));
}

static OwningOpRef<ModuleOp> make_loops(ProgramOp program, const cpu::CpuTarget& target) {
  OwningOpRef<ModuleOp> loops;
  check_diagnostics(program.getContext(), [&]() -> LogicalResult {
    expand_program_ids(program);
    FailureOr<OwningOpRef<ModuleOp>> lowered = cpu::lower_to_loops(program, target);
    if (failed(lowered)) return failure();
    loops = std::move(*lowered);
    PassManager passes(loops->getContext());
    passes.enableVerifier(false); // all is verified next
    passes.addPass(createCSEPass());
    passes.addPass(cpu::create_expand_math_pass(target));
    passes.addPass(cpu::create_overlap_stores_pass(target));
    if (failed(passes.run(*loops))) return failure();
    return verify(*loops);
  });
  return loops;
}

static func::FuncOp function_of(ModuleOp loops) { return *loops.getOps<func::FuncOp>().begin(); }

CompiledKernel compile_kernel(KernelOp kernel, const Config& config, const cpu::CpuTarget& machine) {
  const cpu::CpuTarget target = target_with(machine, config);
  OwningOpRef<ModuleOp> module = make_program(kernel, config, machine);
  ProgramOp program = program_of(*module);
  std::optional<uint64_t> programs = program.getPrograms();
  const bool persistent = program.is_persistent();
  std::vector<SizedPhase> sized = sized_phases(program);
  const int64_t per_worker = programs_per_worker(program);
  OwningOpRef<ModuleOp> loops = make_loops(program, target);
  cpu::EmittedKernel emitted = cpu::emit_llvm(function_of(*loops), target);
  std::shared_ptr<const cpu::CompiledCode> code = cpu::compile(std::move(emitted), target);

  CompiledKernel compiled;
  compiled.instruction_count = code->instruction_count();
  compiled.plan.function = code->function();
  compiled.plan.scratch_bytes = code->scratch_bytes();
  compiled.plan.persistent = persistent;
  compiled.plan.program_count = persistent ? kMaxThreads * per_worker : programs.value_or(0);
  compiled.plan.sized_phases = std::move(sized);
  if (auto phases = program.getPhases()) compiled.plan.phases.assign(phases->begin(), phases->end());
  compiled.plan.programs_per_worker = static_cast<int>(per_worker);
  compiled.plan.max_workers = max_workers_of(config);
  compiled.plan.code = std::const_pointer_cast<cpu::CompiledCode>(code);
  return compiled;
}

std::string triton_source(KernelOp kernel, const Config& config, const triton::GpuTarget& target) {
  OwningOpRef<ModuleOp> module = make_program(kernel, config, target);
  SourceLines lines;
  return triton::emit_source(program_of(*module), evaluate_host(kernel), launch_options(config),
                             [&](StringRef file, unsigned number) { return lines.line(file, number); });
}

std::string stage_text(KernelOp kernel, const Config& config, const triton::GpuTarget& target, Stage stage) {
  if (stage == Stage::Tile) return with_source_comments(kernel);
  if (stage == Stage::Triton) return triton_source(kernel, config, target);
  OwningOpRef<ModuleOp> module = make_program(kernel, config, target);
  return with_source_comments(program_of(*module));
}

std::string stage_text(KernelOp kernel, const Config& config, const cpu::CpuTarget& machine, Stage stage) {
  if (stage == Stage::Tile) return with_source_comments(kernel);
  const cpu::CpuTarget target = target_with(machine, config);
  OwningOpRef<ModuleOp> module = make_program(kernel, config, machine);
  if (stage == Stage::Program) return with_source_comments(program_of(*module));
  OwningOpRef<ModuleOp> loops = make_loops(program_of(*module), target);
  if (stage == Stage::Loops) return with_source_comments(function_of(*loops));
  cpu::EmittedKernel emitted = cpu::emit_llvm(function_of(*loops), target, cpu::SourceLines::Keep);
  if (stage == Stage::Llvm) return with_source_text(cpu::llvm_text(std::move(emitted), target));
  return with_source_text(cpu::assembly_text(std::move(emitted), target));
}

} // namespace tilewright
