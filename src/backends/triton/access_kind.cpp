#include "backends/triton/access_kind.h"

#include "backends/triton/lane_limit.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::triton {

static Access wanted_kind(Operation* op) {
  if (auto load = dyn_cast<LoadOp>(op)) return load.getAccess().value_or(Access::Pointer);
  if (auto store = dyn_cast<StoreOp>(op)) return store.getAccess().value_or(Access::Pointer);
  return Access::Pointer;
}

static bool fits_block_pointer(AccessOp access) {
  auto block = dyn_cast<RankedTensorType>(access.block());
  // Truth values have pointers of their own kind, which block pointers do not know.
  if (!block || block.getNumElements() == 1 || access.mask() || element_type(block).isInteger(1)) return false;
  for (const SubscriptUse& use : access.subscripts())
    if (use.is_gather() || (use.valid && !limit_of_block(use, block.getDimSize(use.block_dim)))) return false;
  return true;
}

// What the Tensor Memory Accelerator asks for (CUDA driver API, cuTensorMapEncodeTiled).
static bool fits_tensor_descriptor(AccessOp access) {
  constexpr int64_t kBytes = 16, kMostDims = 5, kMostLanes = 256;
  ArrayType array = access.array_type();
  auto block = cast<RankedTensorType>(access.block());
  if (array.rank() > kMostDims || array.known_alignment() < kBytes || element_type(block).isInteger(1)) return false;
  const int64_t bytes = array.element_bytes();
  SmallVector<int64_t> sizes = array.sizes();
  for (auto [dim, use] : llvm::enumerate(access.subscripts())) {
    const bool is_last = dim + 1 == static_cast<size_t>(array.rank());
    const int64_t lanes = use.block_dim < 0 ? 1 : block.getDimSize(use.block_dim);
    if (is_last ? array.stride(dim) != 1 : array.stride(dim) <= 0 || array.stride(dim) * bytes % kBytes != 0)
      return false;
    if (lanes > kMostLanes || (is_last && lanes * bytes < kBytes)) return false;
    // Where the array ends is all that a descriptor knows.
    if (use.valid && limit_of_block(use, lanes) != sizes[dim]) return false;
  }
  return true;
}

Access access_kind(AccessOp access) {
  Access wanted = wanted_kind(access.operation());
  if (wanted == Access::Pointer || !fits_block_pointer(access)) return Access::Pointer;
  if (wanted == Access::TensorDescriptor && !fits_tensor_descriptor(access)) return Access::Pointer;
  return wanted;
}

} // namespace tilewright::triton
