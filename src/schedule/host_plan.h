// What the host does around a launch of a pinned kernel.
#pragma once

#include "tilewright/array.h"
#include "tilewright/dtype.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mlir {
class Type;
}

namespace tilewright {

class KernelOp; // ir/tile_dialect.h; those who only read a plan need nothing of LLVM

struct HostPlan {
  /// A contiguous array. They are the program's last arguments, in this order.
  struct Allocation {
    DType dtype;
    std::vector<int64_t> sizes;
    std::optional<Number> fill; // of each element, before each launch; none: elements are not set
  };
  /// An array that the kernel gives back: one of its arguments, or an allocation.
  struct Returned {
    enum class Kind { Argument, Allocation } kind;
    size_t index; // among all arguments, or among the allocations
  };
  std::vector<Allocation> allocations;
  std::vector<Returned> returned;
};

HostPlan evaluate_host(KernelOp pinned);

/// The dtype of an array's elements.
DType dtype_of_element(mlir::Type element);

} // namespace tilewright
