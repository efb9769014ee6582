#include "runtime/machine_limits.h"

#include "runtime/aligned_memory.h"
#include "runtime/cpu_info.h"
#include "runtime/fma_loops.h"
#include "runtime/thread_pool.h"
#include "tilewright/device.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright {

namespace {

constexpr int kRuns = 7;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The median time of `run`, after one run that does not count: it wakes the threads and lets the clock rise.
template <class Run> double median_seconds(Run&& run) {
  run();
  double seconds[kRuns];
  for (double& each : seconds) {
    auto start = std::chrono::steady_clock::now();
    run();
    each = seconds_since(start);
  }
  std::nth_element(seconds, seconds + kRuns / 2, seconds + kRuns);
  return seconds[kRuns / 2];
}

// About 3 ms a run, in pieces small enough that no thread waits long for the others at the end.
double fma_gflops(FmaLoop loop) {
  constexpr int64_t kIterations = 2000;
  auto start = std::chrono::steady_clock::now();
  int64_t piece_operations = loop(kIterations);
  int64_t pieces_per_thread = std::max<int64_t>(1, int64_t(3e-3 / seconds_since(start)));
  int64_t pieces = pieces_per_thread * num_threads();
  double seconds = median_seconds([&] {
    parallel_for(pieces, kMaxThreads, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) loop(kIterations);
    });
  });
  return double(pieces) * double(piece_operations) / seconds * 1e-9;
}

// Copies a multiple of 64 bytes between aligned blocks.
using Copy = void (*)(char* to, const char* from, int64_t bytes);

#if defined(__x86_64__)

// Streaming stores do not read the lines that they write.
void sse2_streaming_copy(char* to, const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) {
    auto* source = reinterpret_cast<const __m128i*>(from + i);
    auto* target = reinterpret_cast<__m128i*>(to + i);
    __m128i a = _mm_load_si128(source), b = _mm_load_si128(source + 1);
    __m128i c = _mm_load_si128(source + 2), d = _mm_load_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();
}

// Some 5% faster than narrower vectors where there is memory bandwidth to spare; wider ones are no faster.
__attribute__((target("avx2"))) void avx2_streaming_copy(char* to, const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) {
    auto* source = reinterpret_cast<const __m256i*>(from + i);
    auto* target = reinterpret_cast<__m256i*>(to + i);
    __m256i a = _mm256_load_si256(source), b = _mm256_load_si256(source + 1);
    _mm256_stream_si256(target, a);
    _mm256_stream_si256(target + 1, b);
  }
  _mm_sfence();
}

Copy fastest_copy() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") ? avx2_streaming_copy : sse2_streaming_copy;
}

#else

Copy fastest_copy() {
  return [](char* to, const char* from, int64_t bytes) { std::memcpy(to, from, size_t(bytes)); };
}

#endif

double copy_gbps() {
  constexpr int64_t kPiece = 256 << 10;
  // Twice the last cache, so that little of it is found there again, within what can be copied often in short time.
  int64_t bytes = std::clamp<int64_t>(2 * cpu_info().last_cache_bytes(), 64 << 20, 128 << 20) / kPiece * kPiece;
  AlignedMemory source(bytes), target(bytes);
  auto* from = static_cast<char*>(source.data());
  auto* to = static_cast<char*>(target.data());
  auto for_each_piece = [&](auto&& work) {
    parallel_for(bytes / kPiece, kMaxThreads, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) work(i * kPiece);
    });
  };
  // Written, since memory that never was is one shared page of zeros.
  for_each_piece([&](int64_t at) { std::memset(from + at, 1, kPiece); });
  Copy copy = fastest_copy();
  double seconds = median_seconds([&] { for_each_piece([&](int64_t at) { copy(to + at, from + at, kPiece); }); });
  return 2 * double(bytes) / seconds * 1e-9;
}

} // namespace

MachineLimits measure_machine_limits() {
  FmaLoops loops = widest_fma_loops();
  MachineLimits limits;
  limits.threads = num_threads();
  limits.float32_gflops = fma_gflops(loops.float32);
  limits.float64_gflops = fma_gflops(loops.float64);
  limits.copy_gbps = copy_gbps();
  return limits;
}

} // namespace tilewright
