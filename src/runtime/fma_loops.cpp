#include "runtime/fma_loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright {

namespace {

// The factor and the addend draw every value towards 1, so that none grows, vanishes or slows the CPU down.
constexpr double kFactor = 0.75;
constexpr double kAddend = 0.25;

template <class T> int64_t plain_loop(int64_t iterations) {
  constexpr int kValues = 64;
  T values[kValues] = {};
  for (int64_t n = 0; n < iterations; ++n)
    for (T& value : values) value = value * T(kFactor) + T(kAddend);
  asm volatile("" : : "r"(values) : "memory"); // somebody might want the result
  return iterations * kValues * 2;
}

#if defined(__x86_64__)

// A loop over `chains` independent vectors: more than a core has under way at once (a latency of 4 times 2 units on
// today's), few enough to stay in registers. A macro, since a function's target attribute does not reach what a
// template would inline.
#define TILEWRIGHT_FMA_LOOP(function, features, Element, Vector, broadcast, fmadd, chains)                             \
  __attribute__((target(features))) int64_t function(int64_t iterations) {                                             \
    Vector factor = broadcast(Element(kFactor)), addend = broadcast(Element(kAddend));                                 \
    Vector values[chains];                                                                                             \
    _Pragma("GCC unroll 32") for (int i = 0; i < chains; ++i) values[i] = broadcast(Element(i));                       \
    for (int64_t n = 0; n < iterations; ++n) {                                                                         \
      _Pragma("GCC unroll 32") for (int i = 0; i < chains; ++i) values[i] = fmadd(values[i], factor, addend);          \
    }                                                                                                                  \
    _Pragma("GCC unroll 32") for (int i = 0; i < chains; ++i) asm volatile("" : : "v"(values[i]));                     \
    return iterations * chains * int64_t(sizeof(Vector) / sizeof(Element)) * 2;                                        \
  }

TILEWRIGHT_FMA_LOOP(avx512_float32, "avx512f", float, __m512, _mm512_set1_ps, _mm512_fmadd_ps, 24)
TILEWRIGHT_FMA_LOOP(avx512_float64, "avx512f", double, __m512d, _mm512_set1_pd, _mm512_fmadd_pd, 24)
TILEWRIGHT_FMA_LOOP(avx2_float32, "avx2,fma", float, __m256, _mm256_set1_ps, _mm256_fmadd_ps, 12)
TILEWRIGHT_FMA_LOOP(avx2_float64, "avx2,fma", double, __m256d, _mm256_set1_pd, _mm256_fmadd_pd, 12)

#undef TILEWRIGHT_FMA_LOOP

#endif

} // namespace

FmaLoops widest_fma_loops() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return {avx512_float32, avx512_float64};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {avx2_float32, avx2_float64};
#endif
  return {plain_loop<float>, plain_loop<double>};
}

} // namespace tilewright
