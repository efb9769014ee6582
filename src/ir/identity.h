// The identity of a kernel: what the tuning database and the caches know it by.
#pragma once

#include "ir/tile_dialect.h"

#include <string>

namespace tilewright {

/// The kernel's text without locations: equal for kernels that compute the same, however their lines are placed.
std::string canonical_text(KernelOp kernel);

/// A stable hash of canonical_text, 16 hexadecimal digits. Before pinning it names the family of a kernel over all
/// sizes, afterwards the kernel at its sizes.
std::string identity_hash(KernelOp kernel);

} // namespace tilewright
