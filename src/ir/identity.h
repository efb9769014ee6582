// The identity of a kernel: what the tuning database and the caches know it by.
#pragma once

#include "ir/tile_dialect.h"

#include <string>

namespace tilewright {

/// The kernel's text without locations: equal for kernels that compute the same, however their lines are placed.
std::string canonical_text(KernelOp kernel);

/// A stable hash of canonical_text, 16 hexadecimal digits: of a pinned kernel, the kernel at its sizes.
std::string identity_hash(KernelOp kernel);

/// Before pinning: names the kernel over all sizes. Where the host part computed with numbers of the config
/// (ir/host_choices.h), what it computed stands in the kernel as constants, [cdiv(m, block), n] as [7, s1]; the
/// constants of such a kernel are no part of its family.
std::string family_hash(KernelOp kernel);

} // namespace tilewright
