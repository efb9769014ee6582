// Random numbers that are the same with every standard library: the engine's output is fixed by the standard, that of
// the library's distributions is not.
#pragma once

#include <cstdint>
#include <random>

namespace tilewright {

class Random {
public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, count); count >= 1.
  uint64_t below(uint64_t count) {
    const uint64_t excess = (UINT64_MAX % count + 1) % count; // values at the top that would favour small results
    uint64_t value = engine_();
    while (value > UINT64_MAX - excess) value = engine_();
    return value % count;
  }

  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  bool chance(double probability) { return unit() < probability; }

private:
  std::mt19937_64 engine_;
};

} // namespace tilewright
