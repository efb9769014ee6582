// Which dimensions of a reshape merge or split, and which stay as they are.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright {

/// Dimensions [from, from_end) of the source hold the same elements as [to, to_end) of the result.
struct ReshapeGroup {
  unsigned from, from_end, to, to_end;
};

/// The finest such groups, in order; their products are equal. Dimensions of 1 go with a neighbour or form groups of
/// their own.
llvm::SmallVector<ReshapeGroup> reshape_groups(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to);

/// The one dimension of each side that is not 1, where the group has one on each: its lanes stay what they are.
std::optional<std::pair<unsigned, unsigned>> kept_dim(const ReshapeGroup& group, llvm::ArrayRef<Dim> from,
                                                      llvm::ArrayRef<Dim> to);

} // namespace tilewright
