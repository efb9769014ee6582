// What the host does around a launch of a pinned kernel.
#pragma once

#include "runtime/size_formula.h"
#include "tilewright/array.h"
#include "tilewright/dtype.h"
#include "tilewright/error.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mlir {
class Type;
}

namespace tilewright {

class KernelOp; // ir/tile_dialect.h; those who only read a plan need nothing of LLVM

/// Sizes and numbers in it are over s0, s1, ..., the sizes of the arguments; constants where shapes are static.
struct HostPlan {
  /// What must hold of the sizes; else the call is refused, with a message that has a `{}` for each of `values`.
  struct Check {
    SizeCondition condition;
    std::string message;
    std::vector<SizeFormula> values;
    SourceLocation location;
  };
  /// A contiguous array. They are the program's last arguments, in this order.
  struct Allocation {
    DType dtype;
    std::vector<SizeFormula> sizes;
    std::optional<Number> fill; // of each element, before each launch; none: elements are not set
    std::vector<int64_t> sizes_for(std::span<const int64_t> symbols) const;
  };
  /// An array that the kernel gives back: one of its arguments, or an allocation.
  struct Returned {
    enum class Kind { Argument, Allocation } kind;
    size_t index; // among all arguments, or among the allocations
  };
  std::vector<Check> checks;
  std::vector<Allocation> allocations;
  std::vector<Returned> returned;
};

HostPlan evaluate_host(KernelOp pinned);

/// Throws Error where a check does not hold.
void run_checks(const HostPlan& plan, std::span<const int64_t> sizes);

/// The dtype of an array's elements.
DType dtype_of_element(mlir::Type element);

} // namespace tilewright
