#include "schedule/annotate_loops.h"

#include "schedule/unroll_loops.h"

using namespace mlir;

namespace tilewright {

template <typename T> static T entry(const std::vector<T>& list, size_t number, T otherwise) {
  return number < list.size() ? static_cast<T>(list[number]) : otherwise;
}

void annotate_loops(ProgramOp program, const LoopAnnotations& annotations) {
  Builder builder(program.getContext());
  program.walk([&](scf::ForOp loop) {
    auto number = dyn_cast_or_null<IntegerAttr>(loop->removeAttr(kLoopNumber));
    if (!number) return;
    const size_t i = number.getInt();
    if (entry(annotations.statics, i, false)) return loop->setAttr(kLoopStatic, builder.getUnitAttr());
    if (int64_t stages = entry<int64_t>(annotations.stages, i, 0); stages > 0)
      loop->setAttr(kLoopStages, builder.getI64IntegerAttr(stages));
    if (int64_t factor = entry<int64_t>(annotations.unroll_factors, i, 1); factor > 1)
      loop->setAttr(kLoopUnroll, builder.getI64IntegerAttr(factor));
    if (entry(annotations.single_buffers, i, false)) loop->setAttr(kLoopSingleBuffer, builder.getUnitAttr());
    if (entry(annotations.warp_specializes, i, false)) loop->setAttr(kLoopWarpSpecialize, builder.getUnitAttr());
    auto outer = dyn_cast<scf::ForOp>(loop->getParentOp());
    if (outer && entry(annotations.flattens, i, false)) outer->setAttr(kLoopFlatten, builder.getUnitAttr());
  });
}

} // namespace tilewright
