#include "support/hash.h"

#include <fmt/core.h>

// Compiled into this file, so that the runtime needs no shared library for it.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilewright {

Hash128 stable_hash(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::string to_hex(const Hash128& hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

} // namespace tilewright
