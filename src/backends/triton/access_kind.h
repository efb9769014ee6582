// How a load or a store reaches memory in the text: what the config asks for, where Triton can do it.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright::triton {

/// - tensor_descriptor: neighbours of the last dimension are neighbours in memory and fill 16 bytes or more; the other
///   strides are multiples of 16 bytes; at most 5 dimensions of at most 256 lanes each; bounds are the array's own.
/// - block_ptr: there is a block of more than one element, and it has no gather and no mask of the user's.
/// - pointer: always. An access that cannot be done as the config says is done by pointers, as are atomic ones.
Access access_kind(AccessOp access);

} // namespace tilewright::triton
