#include "config/access_choices.h"

#include "ir/kernel_accesses.h"
#include "ir/kernel_loops.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {
namespace {

/// How one access lies in memory.
struct Shape {
  SmallVector<Dim> dims;   // of the block, but for those of one element
  std::optional<Dim> unit; // the one whose neighbours are neighbours in memory
  bool gathers = false;
  bool walks = false;
};

Shape shape_of(Operation* op) {
  AccessOp access(op);
  ArrayType array = access.array_type();
  SmallVector<int64_t> sizes = array.sizes();
  SmallVector<Dim> block = dims_of(access.block());
  Shape shape;
  for (const Dim& dim : block)
    if (!dim.is_one()) shape.dims.push_back(dim);
  for (auto [dim, use] : llvm::enumerate(access.subscripts())) {
    if (use.is_gather()) shape.gathers = true;
    if (use.kind != Subscript::Tile && use.kind != Subscript::Whole) continue;
    if (block[use.block_dim].is_one()) continue;
    if (array.stride(dim) == 1 && sizes[dim] != 1) shape.unit = block[use.block_dim];
    shape.walks |= use.kind == Subscript::Tile;
  }
  return shape;
}

// Whether a loop over the lanes of both would have to choose whose neighbours it walks along.
bool disagree(const Shape& a, const Shape& b) {
  return a.unit && b.unit && *a.unit != *b.unit && llvm::is_contained(a.dims, *b.unit) &&
         llvm::is_contained(b.dims, *a.unit);
}

// Whether what is loaded is read more often than once: by several ops, by a loop inside, or by a dot.
bool is_used_again(LoadOp load) {
  llvm::SetVector<Operation*> users(load->user_begin(), load->user_end());
  if (users.size() != 1) return true;
  Operation* user = users.front();
  if (auto transpose = dyn_cast<TransposeOp>(user); transpose && transpose->hasOneUse())
    user = *transpose->user_begin();
  return isa<DotOp>(user) || user->getBlock() != load->getBlock();
}

// Whether each dimension's bound is a number: then an access of a whole block knows where it ends.
bool ends_are_known(AccessOp access) {
  for (const SubscriptUse& use : access.subscripts()) {
    if (use.kind != Subscript::Tile) continue;
    auto variable = dyn_cast<BlockArgument>(use.operand);
    auto loop = variable ? dyn_cast<ForOp>(variable.getOwner()->getParentOp()) : ForOp();
    if (!loop || !LoopDim{loop, variable.getArgNumber()}.length()) return false;
  }
  return true;
}

// What a tensor map can say (CUDA driver API, cuTensorMapEncodeTiled), whatever the blocks are.
bool fits_descriptor(AccessOp access, const Shape& shape) {
  constexpr int64_t kBytes = 16, kMostDims = 5;
  ArrayType array = access.array_type();
  if (array.rank() > kMostDims || array.known_alignment() < kBytes || array.getElementType().isInteger(1)) return false;
  for (int64_t dim = 0; dim < array.rank(); ++dim) {
    const bool is_last = dim + 1 == array.rank();
    if (is_last ? array.stride(dim) != 1
                : array.stride(dim) <= 0 || array.stride(dim) * array.element_bytes() % kBytes != 0)
      return false;
  }
  return shape.unit.has_value();
}

class AccessChooser {
public:
  AccessChooser(KernelOp kernel, const BackendLimits& limits) : limits_(limits), ops_(loads_and_stores(kernel)) {
    for (Operation* op : ops_) shapes_.push_back(shape_of(op));
  }

  SmallVector<AccessChoice> run() const {
    SmallVector<AccessChoice> choices;
    for (auto [op, shape] : llvm::zip(ops_, shapes_)) {
      AccessChoice choice{op, {}, shape.walks && !shape.dims.empty() && !shape.gathers};
      for (const std::string& kind : limits_.access_kinds)
        if (makes_difference(kind, op, shape)) choice.kinds.push_back(kind);
      if (choice.kinds.empty()) choice.kinds.push_back("pointer");
      choices.push_back(std::move(choice));
    }
    return choices;
  }

private:
  bool makes_difference(StringRef kind, Operation* op, const Shape& shape) const {
    if (shape.dims.empty() || shape.gathers) return kind == "pointer";
    if (!limits_.accesses_share_vectors) {
      if (kind == "pointer") return true;
      AccessOp access(op);
      // Triton's block pointers know no truth values.
      if (access.mask() || !ends_are_known(access) || access.array_type().getElementType().isInteger(1)) return false;
      return kind != "tensor_descriptor" || fits_descriptor(access, shape);
    }
    bool disputed = llvm::any_of(shapes_, [&](const Shape& other) { return disagree(shape, other); });
    if (kind == "block_ptr") return shape.unit.has_value();
    if (kind == "pointer") return !shape.unit || disputed;
    auto load = dyn_cast<LoadOp>(op);
    return disputed || (load && is_used_again(load)); // a copy is for what is read again, or turned round
  }

  const BackendLimits& limits_;
  SmallVector<Operation*> ops_;
  SmallVector<Shape> shapes_;
};

} // namespace

SmallVector<AccessChoice> access_choices(KernelOp pinned, const BackendLimits& limits) {
  return AccessChooser(pinned, limits).run();
}

} // namespace tilewright
