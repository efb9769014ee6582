#include "frontend/tidy.h"
#include "ir/context.h"
#include "ir/validity.h"
#include "support/error.h"

using namespace mlir;

namespace tilewright {

static bool mixes(const Validity& validity, TogetherOp together, unsigned dim) {
  bool ends_with_a_tile = false, is_whole = false;
  for (Value value : together.getValues()) {
    ends_with_a_tile |= validity.of(value)[dim].kind == LaneValidity::Kind::Tiles;
    is_whole |= validity.of(value)[dim].kind == LaneValidity::Kind::Whole;
  }
  return ends_with_a_tile && is_whole;
}

void check_together(KernelOp kernel) {
  SmallVector<TogetherOp> all;
  kernel.walk([&](TogetherOp together) { all.push_back(together); });
  if (all.empty()) return;
  std::optional<Validity> validity;
  check_diagnostics(kernel.getContext(), [&] {
    FailureOr<Validity> found = Validity::of(kernel);
    if (succeeded(found)) validity = std::move(*found);
    return success(succeeded(found));
  });
  for (TogetherOp together : all) {
    for (unsigned dim = 0; dim < dims_of(together.getValues()[0]).size(); ++dim)
      if (mixes(*validity, together, dim))
        fail(source_location(together.getLoc()),
             "{} takes a value that ends with a tile and one that does not, along dimension {}; use tw::where to say "
             "what "
             "the missing lanes are",
             together.getFunction().str(), dim);
    together.erase();
  }
}

} // namespace tilewright
