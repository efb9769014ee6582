// A hash of bytes that is the same in every process, on every machine and in every version: for keys that are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tilewright {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  friend bool operator==(const Hash128&, const Hash128&) = default;
};

// XXH3's 128-bit hash with seed 0, whose values its specification fixes. Not for use against an adversary.
Hash128 stable_hash(std::string_view bytes);

// 32 lower-case hexadecimal digits, the high half first.
std::string to_hex(const Hash128& hash);

} // namespace tilewright

template <> struct std::hash<tilewright::Hash128> {
  size_t operator()(const tilewright::Hash128& hash) const noexcept { return hash.low; }
};
