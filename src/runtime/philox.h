// Philox 4x32-10, the counter-based random number generator of all backends: four 32-bit words for each counter.
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3 and table 2.
#pragma once

#include <array>
#include <cstdint>

namespace tilewright {

// Of a round: what two of the counter's words are multiplied by, and what is added to the key.
inline constexpr uint32_t kPhiloxMultipliers[] = {0xD2511F53, 0xCD9E8D57};
inline constexpr uint32_t kPhiloxKeySteps[] = {0x9E3779B9, 0xBB67AE85};

// The words for a 128-bit counter and a 64-bit key, low words first.
constexpr std::array<uint32_t, 4> philox4x32_10(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(kPhiloxMultipliers[0]) * counter[0];
    uint64_t product1 = uint64_t(kPhiloxMultipliers[1]) * counter[2];
    counter = {uint32_t(product1 >> 32) ^ counter[1] ^ key[0], uint32_t(product1),
               uint32_t(product0 >> 32) ^ counter[3] ^ key[1], uint32_t(product0)};
    key[0] += kPhiloxKeySteps[0];
    key[1] += kPhiloxKeySteps[1];
  }
  return counter;
}

// An element's words: the counter is its logical index, the key the seed, low words first.
constexpr std::array<uint32_t, 4> philox_of_index(uint64_t index, uint64_t seed) {
  return philox4x32_10({uint32_t(index), uint32_t(index >> 32), 0, 0}, {uint32_t(seed), uint32_t(seed >> 32)});
}

} // namespace tilewright
