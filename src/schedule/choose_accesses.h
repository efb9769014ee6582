// Writes on each load and store how it is done: the options `indexing`, `load_eviction_policies` and
// `store_eviction_policies`. What they mean is a backend's business.
//
//   tile.load %x[%t]    ->    tile.load %x[%t] {access = #tile<access block_ptr>, eviction = #tile<eviction first>}
//
// Runs first, while the accesses are those of the source; a pass that rewrites one takes what it says along.
#pragma once

#include "ir/tile_dialect.h"

#include <string>

namespace tilewright {

/// `indexing` has one of pointer, block_ptr and tensor_descriptor for each of loads_and_stores(kernel), the others one
/// of "", first and last for each load and for each store. Where a list ends early, the backend decides.
mlir::LogicalResult choose_accesses(KernelOp kernel, llvm::ArrayRef<std::string> indexing,
                                    llvm::ArrayRef<std::string> load_evictions,
                                    llvm::ArrayRef<std::string> store_evictions);

} // namespace tilewright
