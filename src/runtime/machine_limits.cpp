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
#include <emmintrin.h>
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

// `bytes` is a multiple of 64. Streaming stores do not read the lines that they write.
void streaming_copy(char* to, const char* from, int64_t bytes) {
#if defined(__x86_64__)
  auto* target = reinterpret_cast<__m128i*>(to);
  auto* source = reinterpret_cast<const __m128i*>(from);
  for (int64_t i = 0; i < bytes / 16; i += 4) {
    __m128i a = _mm_load_si128(source + i), b = _mm_load_si128(source + i + 1);
    __m128i c = _mm_load_si128(source + i + 2), d = _mm_load_si128(source + i + 3);
    _mm_stream_si128(target + i, a);
    _mm_stream_si128(target + i + 1, b);
    _mm_stream_si128(target + i + 2, c);
    _mm_stream_si128(target + i + 3, d);
  }
  _mm_sfence();
#else
  std::memcpy(to, from, size_t(bytes));
#endif
}

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
  double seconds =
      median_seconds([&] { for_each_piece([&](int64_t at) { streaming_copy(to + at, from + at, kPiece); }); });
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
