#include "schedule/schedule.h"

#include "ir/context.h"
#include "ir/host_choices.h"
#include "schedule/annotate_loops.h"
#include "schedule/choose_accesses.h"
#include "schedule/count_lanes.h"
#include "schedule/cut_blocks.h"
#include "schedule/flatten_loops.h"
#include "schedule/lower_tiles.h"
#include "schedule/map_programs.h"
#include "schedule/order_loops.h"
#include "schedule/pad_extents.h"
#include "schedule/prove_bounds.h"
#include "schedule/roll_reductions.h"
#include "schedule/simplify.h"
#include "schedule/unroll_loops.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tilewright {
namespace {

/// What a config says to the passes. Options that the kernel does not have mean their neutral value.
struct Choices {
  SmallVector<int64_t> block_sizes;
  std::vector<std::vector<int64_t>> loop_orders;
  std::vector<std::optional<int64_t>> reduction_loops;
  std::string pid_type = "flat";
  std::vector<int64_t> l2_groupings;
  int64_t programs_per_worker = 1;
  std::vector<bool> flattened;
  std::vector<int64_t> unroll_factors;
  std::vector<bool> static_ranges;
  LoopAnnotations annotations;
  std::vector<std::string> indexing, load_evictions, store_evictions;

  explicit Choices(const Config& config) {
    if (config.has("block_sizes")) block_sizes.assign(llvm::to_vector(config.get_ints("block_sizes")));
    if (config.has("loop_orders")) loop_orders = config.get_int_lists("loop_orders");
    if (config.has("reduction_loops")) reduction_loops = config.get_optional_ints("reduction_loops");
    if (config.has("pid_type")) pid_type = config.get_string("pid_type");
    if (config.has("l2_groupings")) l2_groupings = config.get_ints("l2_groupings");
    if (config.has("range_unroll_factors")) unroll_factors = config.get_ints("range_unroll_factors");
    if (config.has("flatten_loops")) flattened = config.get_bools("flatten_loops");
    if (config.has("static_ranges")) static_ranges = config.get_bools("static_ranges");
    if (config.has("range_num_stages")) annotations.stages = config.get_ints("range_num_stages");
    if (config.has("range_flattens")) annotations.flattens = config.get_bools("range_flattens");
    if (config.has("range_multi_buffers")) {
      annotations.single_buffers = config.get_bools("range_multi_buffers");
      annotations.single_buffers.flip();
    }
    if (config.has("range_warp_specializes")) annotations.warp_specializes = config.get_bools("range_warp_specializes");
    if (config.has("indexing")) indexing = config.get_strings("indexing");
    if (config.has("load_eviction_policies")) load_evictions = config.get_strings("load_eviction_policies");
    if (config.has("store_eviction_policies")) store_evictions = config.get_strings("store_eviction_policies");
    if (config.has("num_sm_multiplier")) programs_per_worker = config.get_int("num_sm_multiplier");
  }
};

} // namespace

// What a recording asked of the config, it holds for alone.
static LogicalResult check_choices(KernelOp kernel, const Config& config) {
  HostChoices recorded = host_choices(kernel);
  std::vector<int64_t> sizes;
  if (config.has("block_sizes")) sizes = config.get_ints("block_sizes");
  for (const RegisteredBlock& block : recorded.blocks)
    if (block.value && (block.block >= sizes.size() || sizes[block.block] != *block.value))
      return kernel.emitError() << "was recorded for a block size " << block.block << " of " << *block.value
                                << ", which the config does not have";
  for (const Tunable& tunable : recorded.tunables)
    if (config.has(tunable.name) && config.get_int(tunable.name) != tunable.value)
      return kernel.emitError() << "was recorded for a '" << tunable.name << "' of " << tunable.value
                                << ", which the config does not have";
  return success();
}

static FailureOr<ProgramOp> run_passes(KernelOp kernel, Choices choices, const BackendLimits& limits,
                                       OpBuilder& builder) {
  std::optional<PidType> pid_type = pid_type_from_name(choices.pid_type);
  if (!pid_type) return kernel.emitError() << "there is no pid_type '" << choices.pid_type << "'";

  // Tile IR.
  number_loops(kernel);
  if (failed(set_groups(kernel, choices.l2_groupings))) return failure();
  if (failed(choose_accesses(kernel, choices.indexing, choices.load_evictions, choices.store_evictions)))
    return failure();
  if (failed(order_loops(kernel, choices.loop_orders))) return failure();
  if (failed(flatten_loops(kernel, choices.flattened, choices.block_sizes))) return failure();
  if (failed(count_lanes(kernel))) return failure();
  if (failed(roll_reductions(kernel, choices.reduction_loops, choices.block_sizes))) return failure();

  // Program IR.
  SmallVector<int64_t> blocks = cut_blocks(kernel, choices.block_sizes, limits.pads_extents, limits.min_dot_block);
  FailureOr<ProgramOp> program = lower_tiles(kernel, blocks, builder);
  if (failed(program)) return failure();
  prove_bounds(*program);
  if (!limits.loops_are_annotated) {
    FailureOr<bool> unrolled = unroll_loops(*program, choices.unroll_factors, choices.static_ranges);
    if (failed(unrolled)) return failure();
    if (*unrolled) prove_bounds(*program); // the unrolled part of a ragged range has full tiles only
  }
  const ProgramMapping mapping{*pid_type, /*group=*/1, choices.programs_per_worker,
                               /*strided=*/limits.loops_are_annotated};
  if (failed(map_programs(*program, mapping))) return failure();
  if (limits.loops_are_annotated) {
    choices.annotations.unroll_factors = choices.unroll_factors;
    choices.annotations.statics = choices.static_ranges;
    annotate_loops(*program, choices.annotations);
  }
  if (limits.pads_extents && failed(pad_extents(*program))) return failure();
  if (failed(simplify_program(*program))) return failure();
  if (failed(verify(*program))) return failure();
  return program;
}

OwningOpRef<ModuleOp> schedule(KernelOp pinned, const Config& config, const BackendLimits& limits) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(pinned.getLoc());
  Choices choices(config);
  check_diagnostics(pinned.getContext(), [&] {
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    auto kernel = cast<KernelOp>(builder.clone(*pinned));
    if (failed(check_choices(kernel, config))) return failure();
    FailureOr<ProgramOp> program = run_passes(kernel, std::move(choices), limits, builder);
    kernel.erase();
    return success(succeeded(program));
  });
  return module;
}

ProgramOp program_of(ModuleOp module) { return *module.getOps<ProgramOp>().begin(); }

} // namespace tilewright
