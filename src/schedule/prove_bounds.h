// Takes away the bounds that are proven whole, so that sizes which blocks divide have no masks.
//
// A tile's lanes are `min(block, end - begin)`. They are proven to be `block` where the least value that `end - begin`
// can take is no less: by the ranges of program ids, of the coordinates of tile.map_program and of loop variables; or
// where a loop walks from a lower to an upper bound whose difference is, for certain, a multiple of its step. Bounds
// are compared as linear forms, so a tile inside a tile and `tile(0, other.end)` are seen through. Then:
//   - the minimum becomes the number `block`;
//   - bounds of loads, stores, reductions and dots that are no less than the dimension are dropped.
//
// Runs before programs are made persistent: it reads coordinates from the flat mapping.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright {

void prove_bounds(ProgramOp program);

} // namespace tilewright
