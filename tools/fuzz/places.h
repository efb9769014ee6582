// Where a generated statement reads or writes: the subscripts of a tensor, its extents, and the dimensions of a value
// that lies there.
#pragma once

#include "fuzz/generator.h"

namespace tilewright::fuzz {

/// Subscripts a dimension of the value: by the tile, perhaps moved, or by the whole dimension or a slice; the tensor is
/// as long as that takes. A `lasting` place names no values, so that it can be named again later.
void add_axis(Generator& g, Place& place, const Axis& axis, bool lasting = false);

/// Adds a dimension that the value does not have: indexed by the scalar of a grid, or by a number.
void add_scalar(Generator& g, Place& place);

/// Where any program can read or change values of these dimensions. Nothing where that is no place.
std::optional<Place> shared_place(Generator& g, const std::vector<Axis>& axes);

/// Where a value of these dimensions can go so that programs do not meet: all variables of the outermost loop are among
/// the subscripts. `own` becomes all of the program's part: whole dimensions for what inner loops walk.
bool find_own_place(Generator& g, const std::vector<Axis>& axes, Place& place, Place& own);

/// A new argument for such places.
FuzzTensor new_argument(Generator& g, DType dtype, const std::vector<int>& extents);

/// The value with its numbers in [0, count), for an index. Of integers.
std::optional<ValueId> as_index(Generator& g, ValueId value, int64_t count);
std::optional<ValueId> some_scalar_index(Generator& g, int64_t count);

} // namespace tilewright::fuzz
