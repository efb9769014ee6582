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
#include <memory>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright {

namespace {

constexpr int kRuns = 7;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Billions of operations or bytes a second: the median of some runs, after one that does not count, which wakes the
// threads and lets the clock rise.
double median_rate(const LimitWork& work) {
  work.run();
  double seconds[kRuns];
  for (double& each : seconds) {
    auto start = std::chrono::steady_clock::now();
    work.run();
    each = seconds_since(start);
  }
  std::nth_element(seconds, seconds + kRuns / 2, seconds + kRuns);
  return work.amount / seconds[kRuns / 2] * 1e-9;
}

// About 3 ms a run, in pieces small enough that no thread waits long for the others at the end.
LimitWork fma_work(FmaLoop loop) {
  constexpr int64_t kIterations = 2000;
  loop(kIterations); // wakes the wide vector units
  auto start = std::chrono::steady_clock::now();
  int64_t piece_operations = loop(kIterations);
  int64_t pieces_per_thread = std::max<int64_t>(1, int64_t(3e-3 / seconds_since(start)));
  int64_t pieces = pieces_per_thread * num_threads();
  auto run = [loop, pieces] {
    parallel_for(pieces, kMaxThreads, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) loop(kIterations);
    });
  };
  return {run, double(pieces) * double(piece_operations)};
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

// Two blocks of memory, of which one is copied to the other.
class CopiedBlocks {
public:
  explicit CopiedBlocks(int64_t bytes) : bytes_(bytes), source_(bytes), target_(bytes) {
    // Written, since memory that never was is one shared page of zeros.
    for_each_piece([&](int64_t at) { std::memset(from() + at, 1, kPiece); });
    copy();
  }

  static constexpr int64_t kPiece = 256 << 10; // the size is a multiple of it

  void copy() {
    for_each_piece([&](int64_t at) { copy_(to() + at, from() + at, kPiece); });
  }

private:
  char* from() { return static_cast<char*>(source_.data()); }
  char* to() { return static_cast<char*>(target_.data()); }

  template <class Work> void for_each_piece(Work&& work) {
    parallel_for(bytes_ / kPiece, kMaxThreads, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) work(i * kPiece);
    });
  }

  int64_t bytes_;
  AlignedMemory source_, target_;
  Copy copy_ = fastest_copy();
};

} // namespace

LimitWork float32_work() { return fma_work(widest_fma_loops().float32); }
LimitWork float64_work() { return fma_work(widest_fma_loops().float64); }

LimitWork copy_work() {
  constexpr int64_t kPiece = CopiedBlocks::kPiece;
  // Twice the last cache, so that little of it is found there again, within what can be copied often in short time.
  int64_t bytes = std::clamp<int64_t>(2 * cpu_info().last_cache_bytes(), 64 << 20, 128 << 20) / kPiece * kPiece;
  auto blocks = std::make_shared<CopiedBlocks>(bytes);
  return {[blocks] { blocks->copy(); }, 2 * double(bytes)};
}

MachineLimits measure_machine_limits() {
  MachineLimits limits;
  limits.threads = num_threads();
  limits.float32_gflops = median_rate(float32_work());
  limits.float64_gflops = median_rate(float64_work());
  limits.copy_gbps = median_rate(copy_work());
  return limits;
}

} // namespace tilewright
