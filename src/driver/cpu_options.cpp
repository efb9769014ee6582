#include "driver/cpu_options.h"

#include "tilewright/device.h"

namespace tilewright {

static BackendOption num_threads_option() {
  BackendOption option{
      .name = "num_threads", .summary = "how many threads a launch may use; null: all", .ordered = true};
  for (int64_t count = 1; count < num_threads(); count *= 2) option.choices.emplace_back(count);
  option.choices.emplace_back(nullptr);
  return option;
}

static BackendOption vector_width_option(const cpu::CpuTarget& target) {
  // LLVM takes twice as long to select the shuffles of a transposed operand in narrow vectors, and a dot has its
  // register tile to choose.
  BackendOption option{.name = "vector_width",
                       .summary = "the bits of a vector",
                       .ordered = true,
                       .kernels = BackendOption::Kernels::WithoutDot};
  for (int bits : target.vector_widths()) option.choices.emplace_back(bits);
  option.default_value = target.vector_bits;
  return option;
}

static ConfigValue value_of(cpu::RegisterTile tile) { return {tile.rows, tile.vectors}; }

static BackendOption register_tile_option(const cpu::CpuTarget& target) {
  BackendOption option{.name = "register_tile",
                       .summary = "the accumulators of a dot that are in registers at once, rows by vectors",
                       .kernels = BackendOption::Kernels::WithDot};
  for (cpu::RegisterTile tile : target.dot_tiles()) option.choices.push_back(value_of(tile));
  option.default_value = value_of(target.dot_tile());
  return option;
}

BackendLimits limits_of(const cpu::CpuTarget& target) {
  BackendLimits limits;
  limits.backend = "cpu";
  limits.worker_count = num_threads();
  limits.vector_lanes = target.lanes(32);
  limits.l1_bytes = target.l1_bytes;
  limits.l2_bytes = target.l2_bytes;
  limits.l3_bytes = target.l3_bytes;
  limits.dot_tile_rows = target.dot_tile().rows;
  limits.dot_tile_columns = target.dot_tile().vectors * target.lanes(32);
  limits.max_block_elements = int64_t(1) << 22;
  // Threads count off the programs of a range whatever their axes are, so xyz would be flat.
  limits.pid_types = {"flat", "persistent_blocked", "persistent_interleaved"};
  limits.options = {"block_sizes",   "loop_orders",       "flatten_loops",          "reduction_loops",
                    "pid_type",      "num_sm_multiplier", "l2_groupings",           "range_unroll_factors",
                    "static_ranges", "indexing",          "load_eviction_policies", "store_eviction_policies"};
  limits.access_kinds = {"block_ptr", "pointer", "tensor_descriptor"};
  limits.accesses_share_vectors = true;
  limits.own_options = {num_threads_option(), vector_width_option(target), register_tile_option(target)};
  return limits;
}

cpu::CpuTarget target_with(const cpu::CpuTarget& target, const Config& config) {
  cpu::CpuTarget chosen = target;
  if (config.has("register_tile")) {
    std::vector<int64_t> tile = config.get_ints("register_tile");
    chosen.chosen_dot_tile = {static_cast<int>(tile[0]), static_cast<int>(tile[1])};
  }
  if (config.has("vector_width")) chosen.vector_bits = static_cast<int>(config.get_int("vector_width"));
  return chosen;
}

int max_workers_of(const Config& config) {
  const ConfigValue* count = config.find("num_threads");
  return count && !count->is_null() ? static_cast<int>(count->as_int()) : kMaxThreads;
}

} // namespace tilewright
