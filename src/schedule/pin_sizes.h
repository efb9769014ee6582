// Pins a kernel to the layouts of its arguments: the first pass. Where shapes are static, all of them are numbers.
//
//   !tile.array<f32, [s0, s1]>  ->  !tile.array<f32, [1024, 512], strides [512, 1], align 16>
//
// Before: sizes of arguments are symbols s. After: they are numbers everywhere, so are the lengths of whole dimensions
// (the attribute `whole`); r and b symbols stay in the types of values. Allocations are contiguous and aligned to a
// cache line. The host part is folded, so that bounds of the outermost loop are constants. Checks are settled: one that
// fails is an error with its message, others are gone.
//
// Sizes and strides that are known at run time only stay what they are:
//
//   !tile.array<f32, [s0, s1]>  ->  !tile.array<f32, [s0, s1], strides [?, 1], align 16>
//
// So do bounds, lengths of whole dimensions, strides of allocations, and checks that depend on them; the host does
// those at each launch (host_plan.h).
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <vector>

namespace tilewright {

/// How an array argument lies in memory. Strides count elements. kDynamic (of mlir::ShapedType) stands for a size or a
/// stride that is known at run time only. `alignment` is what may be assumed of the data
/// pointer, in bytes; 0: no more than the element's own size.
struct ArrayLayout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t alignment = 0;
};

/// What the runtime gives to allocations, in bytes.
inline constexpr int64_t kAllocationAlignment = 64;

/// The strides of a dense row-major array; kDynamic from where one depends on such a size.
std::vector<int64_t> contiguous_strides(llvm::ArrayRef<int64_t> sizes);

/// One layout for each array argument, in order. Reports errors on the user's lines.
mlir::LogicalResult pin_sizes(KernelOp kernel, llvm::ArrayRef<ArrayLayout> layouts);

} // namespace tilewright
