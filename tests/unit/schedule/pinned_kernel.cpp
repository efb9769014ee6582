#include "schedule/pinned_kernel.h"

#include "config/derive_config_spec.h"
#include "config/normalise.h"
#include "ir/context.h"
#include "schedule/pin_sizes.h"
#include "schedule/schedule.h"
#include "schedule/simplify.h"

#include "mlir/IR/Verifier.h"

namespace tilewright {

PinnedKernel::PinnedKernel(std::string_view text, const std::vector<std::vector<int64_t>>& shapes)
    : context_(make_context()), module_(parse_module(write_out(text), context_.get())) {
  std::vector<ArrayLayout> layouts;
  for (const std::vector<int64_t>& sizes : shapes) layouts.push_back({sizes, contiguous_strides(sizes), 64});
  check_diagnostics(context_.get(), [&] {
    return mlir::success(succeeded(pin_sizes(kernel(), layouts)) && succeeded(simplify_kernel(kernel())) &&
                         succeeded(mlir::verify(*module_)));
  });
}

KernelOp PinnedKernel::kernel() { return *module_->getOps<KernelOp>().begin(); }

ConfigSpec PinnedKernel::spec() { return derive_config_spec(kernel(), test_limits()); }

std::string PinnedKernel::program_text(const Config& changes) {
  Config config = default_config(spec());
  for (const ConfigOption& option : changes.options()) config.set(option.name, option.value);
  return to_text(*schedule(kernel(), normalise(spec(), config).config, test_limits()));
}

BackendLimits test_limits() {
  BackendLimits limits;
  limits.backend = "cpu";
  limits.worker_count = 2;
  limits.vector_lanes = 8;
  limits.l1_bytes = 32 << 10;
  limits.l2_bytes = 1 << 20;
  limits.dot_tile_rows = 6;
  limits.dot_tile_columns = 16;
  limits.max_block_elements = 1 << 20;
  limits.pid_types = {"flat", "xyz", "persistent_blocked", "persistent_interleaved"};
  limits.options = {"block_sizes",   "loop_orders",       "flatten_loops",          "reduction_loops",
                    "pid_type",      "num_sm_multiplier", "l2_groupings",           "range_unroll_factors",
                    "static_ranges", "indexing",          "load_eviction_policies", "store_eviction_policies"};
  limits.access_kinds = {"block_ptr", "pointer", "tensor_descriptor"};
  limits.accesses_share_vectors = true;
  return limits;
}

} // namespace tilewright
