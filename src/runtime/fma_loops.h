// Loops of nothing but fused multiply-adds, to measure a core's peak.
#pragma once

#include <cstdint>

namespace tilewright {

// Runs `iterations` and returns the number of floating-point operations done.
using FmaLoop = int64_t (*)(int64_t iterations);

struct FmaLoops {
  FmaLoop float32;
  FmaLoop float64;
};

// Those for the widest vectors that this CPU has: AVX-512, AVX2 with FMA, or what the compiler makes of plain code.
FmaLoops widest_fma_loops();

} // namespace tilewright
