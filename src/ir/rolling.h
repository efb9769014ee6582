// Rolling a whole dimension into loops: whether it can be done, and what then happens in which order.
//
// A value that has the dimension (a wide value) then exists one block at a time only. So each loop computes again the
// wide values it needs, from their loads on; what lives from one loop to the next is narrow: results of reductions over
// the dimension, and values without it. The ops that end the wide part are the sinks: reductions over the dimension and
// stores of wide values.
//
// In each body (a block of ops) with sinks, sinks and narrow ops are put into stages. Narrow ops of stage 0 run first,
// then one loop with the sinks of stage 0, then narrow ops of stage 1, and so on. A stage is the least that keeps every
// order that can be observed: uses after definitions, and accesses to one array in the order of the source where one of
// them is a store. Two accesses of the same elements by the same block may share a loop, which keeps their order.
// Where no stages do that, as when a value would have to be loaded again after its array was stored to, the dimension
// cannot be rolled.
#pragma once

#include "ir/tile_dialect.h"

#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>

namespace tilewright {

/// Whether an op gives or takes a value with the whole dimension `whole`; loops do not count by what is inside them.
bool is_wide(mlir::Operation* op, uint32_t whole);

/// Whether an op of the wide part ends it.
bool is_sink(mlir::Operation* op, uint32_t whole);

/// The wide ops that `sink` needs computed: its operands', theirs, and so on, in every body around it.
llvm::SetVector<mlir::Operation*> wide_slice(mlir::Operation* sink, uint32_t whole);

class RollingPlan {
public:
  /// Nothing where the dimension cannot be rolled; `reason` then says why.
  static std::optional<RollingPlan> of(KernelOp kernel, uint32_t whole, std::string& reason);

  /// A sink or a narrow op, and its stage.
  struct Step {
    mlir::Operation* op;
    bool sink;
    unsigned stage;
  };
  struct Body {
    mlir::Block* block;
    llvm::SmallVector<Step> steps; // in the order of the source; without the terminator
    unsigned stage_count() const;
  };
  llvm::ArrayRef<Body> bodies() const { return bodies_; }

private:
  llvm::SmallVector<Body> bodies_;
};

/// The whole dimensions that a config may roll, each or all: those that a reduction runs over or of run-time length,
/// that nothing needs whole. In order of their numbers, which is that of the entries of `reduction_loops`.
llvm::SmallVector<uint32_t> rollable_dims(KernelOp kernel);

/// The order in which to roll several: where a reduction over one leaves the other, the other first, so that its loops
/// enclose.
llvm::SmallVector<uint32_t> rolling_order(KernelOp kernel, llvm::ArrayRef<uint32_t> dims);

} // namespace tilewright
