#include "driver/register_passes.h"

#include "backends/cpu/passes.h"
#include "schedule/passes.h"

#include "mlir/Transforms/Passes.h"

namespace tilewright {

void register_passes() {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerLoopInvariantCodeMotionPass();
  register_schedule_passes();
  cpu::register_passes();
}

} // namespace tilewright
