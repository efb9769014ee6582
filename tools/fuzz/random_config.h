// Random configs for the fuzzer.
#pragma once

#include "fuzz/fuzz_kernel.h"

#include "config/config_spec.h"
#include "config/random.h"
#include "tilewright/config.h"

namespace tilewright::fuzz {

/// A complete legal config: what searches propose, and at times block sizes that none would, such as 3 or 13. The work
/// of the interpreter grows with blocks, so those that are much larger than their extents are rare. Where `may_flatten`
/// is false, loops keep their dimensions.
Config random_config(const ConfigSpec& spec, Random& random, bool may_flatten);

/// Whether a kernel's results depend on which elements go together in a tile of the outermost loop, as those of a sum
/// over one do. Tile IR says which, for block sizes; a config that flattens loops has other tiles.
bool depends_on_tiles(const FuzzKernel& kernel);

} // namespace tilewright::fuzz
