#include "driver/triton_options.h"

namespace tilewright {

BackendLimits limits_of(const triton::GpuTarget& target) {
  BackendLimits limits;
  limits.backend = "triton";
  limits.worker_count = target.multiprocessors;
  limits.vector_lanes = 4; // 16 bytes of a thread
  // What a program reads and writes at once lies in registers, or for a dot in shared memory, several times for the
  // stages of a loop.
  limits.l1_bytes = target.registers;
  limits.l2_bytes = target.shared_memory_bytes / 2;
  limits.dot_tile_rows = 64;
  limits.dot_tile_columns = 64;
  limits.min_dot_block = 16;
  limits.dots_have_batches = false;
  limits.dot_rows = 128;
  limits.dot_columns = 128;
  limits.dot_sum = 64;
  limits.programs_per_worker = 1;
  // Of float32, 128 in each of 1024 threads.
  limits.max_block_elements = int64_t(1) << 17;
  // A little of shared memory is for barriers and reductions. A thread has 255 registers: 128 for one value leave room
  // for what is made of it; beside 192 of accumulators, operands come from shared memory.
  limits.warp_threads = 32;
  limits.shared_bytes = target.shared_memory_bytes - 1024;
  limits.value_registers = 128;
  limits.dot_registers = 192;
  limits.has_starts = true;
  limits.pads_extents = true;
  limits.loops_are_annotated = true;
  limits.pid_types = {"flat", "persistent_interleaved", "persistent_blocked", "xyz"};
  limits.options = {
      "block_sizes",       "loop_orders",  "flatten_loops",          "reduction_loops",        "pid_type",
      "num_sm_multiplier", "l2_groupings", "range_unroll_factors",   "range_num_stages",       "range_flattens",
      "static_ranges",     "indexing",     "load_eviction_policies", "store_eviction_policies"};
  // Their accumulators are in tensor memory, and their warps can be split.
  if (target.compute_capability >= 100)
    limits.options.insert(limits.options.end(), {"range_multi_buffers", "range_warp_specializes"});
  limits.access_kinds = {"pointer", "block_ptr"};
  if (target.compute_capability >= 90) limits.access_kinds.emplace_back("tensor_descriptor");
  limits.own_options = {
      {.name = "num_warps",
       .summary = "the warps of a program",
       .choices = {1, 2, 4, 8, 16, 32},
       .default_value = 4,
       .ordered = true},
      {.name = "num_stages",
       .summary = "in how many stages loops are pipelined",
       .choices = {1, 2, 3, 4, 5, 6},
       .default_value = 3,
       .ordered = true,
       .kernels = BackendOption::Kernels::WithLoop},
      {.name = "maxnreg",
       .summary = "the most registers of a thread; null: the compiler decides",
       .choices = {128, 168, 232, nullptr},
       .default_value = nullptr,
       .ordered = true,
       .only_with = "num_warps",
       .only_values = {1, 2, 4, 8},
       .only_why = "with more warps a multiprocessor has no such number of registers",
       .kernels = BackendOption::Kernels::WithDot},
      {.name = "maxnreg",
       .summary = "the most registers of a thread; null: the compiler decides",
       .choices = {32, 64, 128, nullptr},
       .default_value = nullptr,
       .ordered = true,
       .only_with = "num_warps",
       .only_values = {1, 2, 4, 8, 16},
       .only_why = "with more warps a multiprocessor has no such number of registers",
       .kernels = BackendOption::Kernels::WithoutDot},
  };
  return limits;
}

triton::LaunchOptions launch_options(const Config& config) {
  triton::LaunchOptions options;
  auto number = [&](const char* name) -> std::optional<int64_t> {
    const ConfigValue* value = config.find(name);
    return value && !value->is_null() ? std::optional(value->as_int()) : std::nullopt;
  };
  options.num_warps = number("num_warps");
  options.num_stages = number("num_stages");
  options.max_registers = number("maxnreg");
  return options;
}

} // namespace tilewright
