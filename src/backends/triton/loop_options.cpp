#include "backends/triton/loop_options.h"

#include "schedule/annotate_loops.h"

using namespace mlir;

namespace tilewright::triton {

LoopOptions loop_options(scf::ForOp loop) {
  LoopOptions options;
  auto number = [&](StringRef name) -> std::optional<int64_t> {
    auto attribute = loop->getAttrOfType<IntegerAttr>(name);
    return attribute ? std::optional(attribute.getInt()) : std::nullopt;
  };
  options.num_stages = number(kLoopStages);
  options.unroll_factor = number(kLoopUnroll);
  options.is_static = loop->hasAttr(kLoopStatic);
  options.flatten = loop->hasAttr(kLoopFlatten);
  options.disallow_acc_multi_buffer = loop->hasAttr(kLoopSingleBuffer);
  options.warp_specialize = loop->hasAttr(kLoopWarpSpecialize);
  return options;
}

} // namespace tilewright::triton
