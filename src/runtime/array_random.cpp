// Arrays of random numbers. This file is compiled without contraction of multiplications and additions, and uses no
// function of the C library but sqrt, so that its results are the same on every machine.
#include "runtime/convert_element.h"
#include "runtime/normal_series.h"
#include "runtime/philox.h"
#include "runtime/thread_pool.h"
#include "runtime/visit_dtype.h"
#include "support/error.h"
#include "tilewright/array.h"
#include "tilewright/device.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace tilewright {

namespace {

// Calls element(index) for every index below count and stores what it returns.
template <class T, class Element> void generate(const Array& array, Element&& element) {
  constexpr int64_t kGrain = 4096;
  T* elements = static_cast<T*>(array.data());
  int64_t count = array.numel();
  parallel_for((count + kGrain - 1) / kGrain, kMaxThreads, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin * kGrain; i < std::min(end * kGrain, count); ++i) elements[i] = element(i);
  });
}

uint64_t word64(uint32_t high, uint32_t low) { return uint64_t(high) << 32 | low; }

// As many of the uppermost random bits as T has significant ones, as a fraction: every result is exact and below 1.
template <class T> T uniform(const std::array<uint32_t, 4>& words) {
  if constexpr (std::is_same_v<T, double>) {
    return double(word64(words[0], words[1]) >> 11) * 0x1p-53;
  } else {
    constexpr int digits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, Half> ? 11 : 8;
    return T(float(words[0] >> (32 - digits)) * (1.0f / float(1 << digits)));
  }
}

// The value at x of the polynomial with these coefficients, the constant first.
template <size_t N> double polynomial(const std::array<double, N>& coefficients, double x) {
  double value = coefficients[N - 1];
  for (size_t i = N - 1; i-- > 0;) value = value * x + coefficients[i];
  return value;
}

// The natural logarithm of u in [2^-53, 1], to about 1e-15 of its value.
double logarithm(double u) {
  // u = m 2^e with m in [sqrt(1/2), sqrt(2)); then log m = 2 atanh s for s = (m - 1) / (m + 1), |s| < 0.172.
  uint64_t bits = std::bit_cast<uint64_t>(u);
  int exponent = int(bits >> 52) - 1022;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3fe0000000000000); // [1/2, 1)
  bool small = m < std::numbers::sqrt2 / 2;
  m = small ? 2 * m : m;
  exponent -= small;
  double s = (m - 1) / (m + 1);
  double square = s * s;
  return exponent * std::numbers::ln2 + 2 * (s + s * square * polynomial(kAtanhTail, square));
}

// cos(2 pi u) for u in [0, 1), to about 1e-16.
double cosine_of_turns(double u) {
  // The nearest quarter turn, and what is left: an angle of at most pi / 4.
  int quarter = int(4 * u + 0.5);
  double angle = (u - 0.25 * quarter) * (2 * std::numbers::pi);
  double square = angle * angle;
  double sine = angle * polynomial(kSineOverX, square);
  double value = quarter & 1 ? sine : polynomial(kCosine, square);
  return quarter == 1 || quarter == 2 ? -value : value;
}

// Box and Muller's transform of two uniform numbers (Annals of Mathematical Statistics 29, 1958).
double normal(const std::array<uint32_t, 4>& words) {
  double u = double((word64(words[0], words[1]) >> 11) + 1) * 0x1p-53; // (0, 1]
  double v = double(word64(words[2], words[3]) >> 11) * 0x1p-53;       // [0, 1)
  return std::sqrt(-2 * logarithm(u)) * cosine_of_turns(v);
}

template <class Visitor>
void visit_floating(const char* function, DType dtype, const SourceLocation& location, Visitor&& visitor) {
  if (!is_floating_point(dtype)) fail(location, "{} makes floating-point numbers, not {}", function, name(dtype));
  visit_dtype(dtype, [&]<class T>(std::type_identity<T> type) {
    if constexpr (!std::integral<T>) visitor(type);
  });
}

// The largest integer up to which a type holds all integers.
int64_t largest_exact_integer(DType dtype) {
  return visit_dtype(dtype, []<class T>(std::type_identity<T>) -> int64_t {
    if constexpr (std::integral<T>) return std::numeric_limits<T>::max();
    if constexpr (std::is_same_v<T, Half>) return 1 << 11;
    if constexpr (std::is_same_v<T, BFloat16>) return 1 << 8;
    if constexpr (std::is_same_v<T, Float8E4M3FN>) return 1 << 4;
    if constexpr (std::is_same_v<T, Float8E5M2>) return 1 << 3;
    return int64_t(1) << std::numeric_limits<T>::digits;
  });
}

int64_t smallest_exact_integer(DType dtype) {
  if (dtype == DType::boolean || dtype == DType::uint8) return 0;
  return is_floating_point(dtype) ? -largest_exact_integer(dtype) : -largest_exact_integer(dtype) - 1;
}

} // namespace

Array Array::rand(const IndexList& sizes, uint64_t seed, DType dtype, SourceLocation location) {
  Array result = empty(sizes, dtype, location);
  visit_floating("rand", dtype, location, [&]<class T>(std::type_identity<T>) {
    generate<T>(result, [=](int64_t i) { return uniform<T>(philox_of_index(i, seed)); });
  });
  return result;
}

Array Array::randn(const IndexList& sizes, uint64_t seed, DType dtype, SourceLocation location) {
  Array result = empty(sizes, dtype, location);
  visit_floating("randn", dtype, location, [&]<class T>(std::type_identity<T>) {
    generate<T>(result, [=](int64_t i) { return T(normal(philox_of_index(i, seed))); });
  });
  return result;
}

Array Array::randint(int64_t low, int64_t high, const IndexList& sizes, uint64_t seed, DType dtype,
                     SourceLocation location) {
  if (low >= high) fail(location, "randint({}, {}): the range is empty", low, high);
  if (low < smallest_exact_integer(dtype) || high - 1 > largest_exact_integer(dtype))
    fail(location, "randint({}, {}): {} does not hold all of these numbers", low, high, name(dtype));
  Array result = empty(sizes, dtype, location);
  uint64_t range = uint64_t(high) - uint64_t(low);
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    generate<T>(result, [=](int64_t i) {
      auto words = philox_of_index(i, seed);
      // The upper word of the product is below the range, and uniform but for range / 2^64.
      uint64_t value = uint64_t((unsigned __int128)word64(words[0], words[1]) * range >> 64);
      return convert_element<T>(int64_t(uint64_t(low) + value));
    });
  });
  return result;
}

} // namespace tilewright
