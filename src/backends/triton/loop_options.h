// How a loop is to be run: attributes that schedule/annotate_loops.h writes on it, as tl.range's arguments.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <optional>

namespace tilewright::triton {

struct LoopOptions {
  bool is_static = false; // unrolled wholly
  std::optional<int64_t> num_stages, unroll_factor;
  bool flatten = false, disallow_acc_multi_buffer = false, warp_specialize = false;
};

LoopOptions loop_options(mlir::scf::ForOp loop);

} // namespace tilewright::triton
