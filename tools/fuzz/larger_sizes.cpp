#include "fuzz/larger_sizes.h"

#include "config/random.h"

#include <algorithm>
#include <set>

namespace tilewright::fuzz {

// Extents that this one gives, and it.
static std::set<int> followers(const FuzzKernel& kernel, int extent) {
  std::set<int> all{extent};
  for (const DerivedExtent& each : kernel.derived) // those that others give come after these
    if (all.contains(each.a) || all.contains(each.b)) all.insert(each.extent);
  return all;
}

std::optional<FuzzKernel> with_larger_sizes(const FuzzKernel& kernel) {
  std::set<int> of_arguments, of_allocations;
  for (const FuzzTensor& tensor : kernel.tensors)
    (tensor.allocated ? of_allocations : of_arguments).insert(tensor.extents.begin(), tensor.extents.end());
  auto may_grow = [&](int extent) {
    if (kernel.extents[extent] == 1 || is_derived(kernel, extent) || !of_arguments.contains(extent)) return false;
    std::set<int> others = followers(kernel, extent);
    return std::all_of(others.begin(), others.end(),
                       [&](int other) { return of_arguments.contains(other) || !of_allocations.contains(other); });
  };
  Random random(kernel.seed);
  FuzzKernel larger = kernel;
  bool grown = false;
  for (int extent : of_arguments) {
    if (!may_grow(extent) || random.chance(0.2)) continue;
    larger.extents[extent] += random.chance(0.3) ? 16 + static_cast<int64_t>(random.below(17)) // past a bucket
                                                 : 1 + static_cast<int64_t>(random.below(6));
    if (larger.extents[extent] == 1) ++larger.extents[extent]; // from 0
    grown = true;
  }
  if (!grown) return std::nullopt;
  update_extents(larger);
  return larger;
}

} // namespace tilewright::fuzz
