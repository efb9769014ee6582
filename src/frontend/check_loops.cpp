#include "frontend/tidy.h"
#include "ir/context.h"
#include "support/error.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tilewright {

namespace {

/// What the outermost loops since the last barrier do to one array: the first access of each kind.
struct Touched {
  Operation *reader = nullptr, *writer = nullptr;
};
using TouchedArrays = llvm::MapVector<Value, Touched>;

} // namespace

static TouchedArrays touched_by(ForOp loop) {
  TouchedArrays arrays;
  loop->walk([&](Operation* op) {
    AccessOp access(op);
    if (!access) return;
    Touched& touched = arrays[access.array()];
    if (access.reads() && !touched.reader) touched.reader = op;
    if (access.writes() && !touched.writer) touched.writer = op;
  });
  return arrays;
}

static std::string name_of(KernelOp kernel, Value array) {
  if (auto argument = dyn_cast<BlockArgument>(array)) return kernel.argument_name(argument.getArgNumber()).str();
  return fmt::format("the tensor allocated on line {}", source_location(array.getLoc()).line);
}

// Bounds are read while programs run.
static void check_host_reads(KernelOp kernel) {
  for (LoadOp load : kernel.block().getOps<LoadOp>())
    for (ForOp loop : kernel.block().getOps<ForOp>()) {
      TouchedArrays touched = touched_by(loop);
      auto found = touched.find(load.getArray());
      if (found == touched.end() || !found->second.writer) continue;
      fail(source_location(load.getLoc()),
           "a bound of the outermost tile loop is read from {}, which is written on line {}; pass a clone() of it for "
           "the bounds",
           name_of(kernel, load.getArray()), source_location(found->second.writer->getLoc()).line);
    }
}

void check_loops_are_independent(KernelOp kernel) {
  check_host_reads(kernel);
  TouchedArrays before;
  for (Operation& op : kernel.block()) {
    if (isa<BarrierOp>(op)) before.clear();
    auto loop = dyn_cast<ForOp>(op);
    if (!loop) continue;
    TouchedArrays now = touched_by(loop);
    for (auto& [array, touched] : now) {
      Touched& earlier = before[array];
      Operation* here = earlier.writer ? (touched.reader ? touched.reader : touched.writer) : touched.writer;
      Operation* there = earlier.writer ? earlier.writer : earlier.reader;
      if (here && there)
        fail(source_location(here->getLoc()),
             "{} is {} here and {} on line {}, in another outermost tile loop, and no order holds between the two; put "
             "tw::barrier() between them",
             name_of(kernel, array), here == touched.writer ? "written" : "read",
             there == earlier.writer ? "written" : "read", source_location(there->getLoc()).line);
      if (!earlier.reader) earlier.reader = touched.reader;
      if (!earlier.writer) earlier.writer = touched.writer;
    }
  }
}

} // namespace tilewright
