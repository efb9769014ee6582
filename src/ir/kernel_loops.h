// The loops of a kernel in tile IR, and what can be said of them without a config. A config's lists have their entries
// in the order of these functions' results, which is that of the source.
#pragma once

#include "ir/tile_dialect.h"

#include <optional>

namespace tilewright {

/// The outermost loops, whose iterations are the programs.
llvm::SmallVector<ForOp> parallel_loops(KernelOp kernel);

/// Whether an outermost loop has a bound that is data: only persistent programs can find out how many tiles it has.
bool has_data_bounds(ForOp parallel);

/// The first of them.
ForOp parallel_loop(KernelOp kernel);

/// Whether all programs before a barrier end before one after it begins.
bool has_barrier(KernelOp kernel);

/// The loops inside the parallel ones, which run in order.
llvm::SmallVector<ForOp> sequential_loops(KernelOp kernel);

/// The loops of two and more dimensions that may walk them in any order: the parallel ones, and those sequential ones
/// of which the order cannot be seen (order_is_free).
llvm::SmallVector<ForOp> permutable_loops(KernelOp kernel);

/// Whether a sequential loop computes the same, up to rounding, in whichever order it runs: what it carries is added,
/// multiplied, ... up, and what it stores is not read in it, nor stored twice.
bool order_is_free(ForOp loop);

/// The number of block ids b0, b1, ... that the kernel speaks of.
unsigned block_id_count(KernelOp kernel);

/// One dimension of a loop.
struct LoopDim {
  ForOp loop;
  unsigned dim;

  /// The number of indices walked, where both bounds are constants; not negative.
  std::optional<int64_t> length() const;
  /// Whether a bound of an outermost loop is an element of an argument.
  bool is_data() const;
  /// Upper less lower bound, where both are host numbers.
  std::optional<Dim> host_length() const;
  /// The outer tile that is walked from its begin to its end; null where the bounds are something else.
  mlir::Value outer_tile() const;
};

/// The dimensions of loops that are walked in blocks of `block`, outer ones first.
llvm::SmallVector<LoopDim> loop_dims_of_block(KernelOp kernel, uint32_t block);

/// The dimension of the loop that a tile is the variable of.
LoopDim loop_dim_of(mlir::Value tile);

/// The tile of this extent whose loop encloses `op`, or of a slice that ends early before it, if there is just one.
/// What is combined with it over its whole extent ends where it ends.
mlir::Value enclosing_tile(mlir::Operation* op, const Dim& extent);

} // namespace tilewright
