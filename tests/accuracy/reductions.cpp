#include "reductions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tilewright::accuracy {
namespace {

using Row = std::vector<Real>;

// The sum and the sum of the magnitudes.
struct Sum {
  Real total = 0, magnitudes = 0;
  void add(Real term) {
    total += term;
    magnitudes += std::fabs(term);
  }
};

Sum sum_of(const Row& row) {
  Sum sum;
  for (Real x : row) sum.add(x);
  return sum;
}

void one(Row& results, Row& scales, Real result, Real scale) {
  results = {result};
  scales = {scale};
}

Real largest_of(const Row& row) {
  Real largest = -HUGE_VALL;
  for (Real x : row) largest = std::isnan(x) || x > largest ? x : largest;
  return largest;
}

// Without one degree of freedom, as PyTorch's default is.
Real variance_of(const Row& row) {
  Real mean = sum_of(row).total / row.size();
  Sum squares;
  for (Real x : row) squares.add((x - mean) * (x - mean));
  return squares.total / (row.size() - 1);
}

void softmax(const Row& row, Row& results, Row& scales) {
  Real largest = largest_of(row), total = 0;
  for (Real x : row) total += std::exp(x - largest);
  for (Real x : row) results.push_back(std::exp(x - largest) / total);
  scales = results;
}

void log_softmax(const Row& row, Row& results, Row& scales) {
  Real largest = largest_of(row), total = 0;
  for (Real x : row) total += std::exp(x - largest);
  for (Real x : row) {
    results.push_back(x - largest - std::log(total));
    scales.push_back(std::fabs(x - largest) + std::log(total));
  }
}

} // namespace

const std::vector<RowCase>& row_cases() {
  static const std::vector<RowCase> cases{
      {"sum", false,
       [](const Row& row, Row& results, Row& scales) {
         one(results, scales, sum_of(row).total, sum_of(row).magnitudes);
       }},
      {"mean", false,
       [](const Row& row, Row& results, Row& scales) {
         Sum sum = sum_of(row);
         one(results, scales, sum.total / row.size(), sum.magnitudes / row.size());
       }},
      {"amax", false,
       [](const Row& row, Row& results, Row& scales) { one(results, scales, largest_of(row), largest_of(row)); }},
      {"logsumexp", false,
       [](const Row& row, Row& results, Row& scales) {
         Real largest = largest_of(row), total = 0, shift = std::isinf(largest) ? 0 : largest;
         for (Real x : row) total += std::exp(x - shift);
         one(results, scales, std::log(total) + shift, std::fabs(std::log(total)) + std::fabs(shift));
       }},
      {"softmax", true, softmax},
      {"log_softmax", true, log_softmax},
      {"cumsum", true,
       [](const Row& row, Row& results, Row& scales) {
         Sum sum;
         for (Real x : row) {
           sum.add(x);
           results.push_back(sum.total);
           scales.push_back(sum.magnitudes);
         }
       }},
      {"var", false,
       [](const Row& row, Row& results, Row& scales) { one(results, scales, variance_of(row), variance_of(row)); }},
      {"std", false,
       [](const Row& row, Row& results, Row& scales) {
         one(results, scales, std::sqrt(variance_of(row)), std::sqrt(variance_of(row)));
       }},
      {"norm", false,
       [](const Row& row, Row& results, Row& scales) {
         Sum squares;
         for (Real x : row) squares.add(x * x);
         one(results, scales, std::sqrt(squares.total), std::sqrt(squares.total));
       }},
      {"matmul", false, nullptr}, // of several columns: the test knows
  };
  return cases;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static uint64_t mixed(uint64_t seed) { // Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014
  uint64_t z = seed * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

namespace {
struct Format {
  int bits, mantissa;
  int bias() const { return (1 << (bits - mantissa - 2)) - 1; }
};
} // namespace

static Format format_of(DType dtype) {
  switch (dtype) {
  case DType::float16: return {16, 10};
  case DType::bfloat16: return {16, 7};
  case DType::float32: return {32, 23};
  default: return {64, 52};
  }
}

// A number with random digits, between 2^low and 2^high in magnitude (below the smallest normal one: subnormal).
static uint64_t element(DType dtype, uint64_t seed, int low, int high, bool positive) {
  Format format = format_of(dtype);
  uint64_t random = mixed(seed), digits = mixed(seed ^ 0x5bd1e995) & ((uint64_t{1} << format.mantissa) - 1);
  int64_t exponent =
      std::clamp<int64_t>(low + static_cast<int64_t>(random % (high - low)) + format.bias(), 0, 2 * format.bias());
  uint64_t sign = !positive && (random >> 40 & 1) ? uint64_t{1} << (format.bits - 1) : 0;
  return sign | static_cast<uint64_t>(exponent) << format.mantissa | digits;
}

std::vector<std::vector<uint64_t>> rows(DType dtype, int64_t length) {
  Format format = format_of(dtype);
  const int most = format.bias(), least = -format.bias();
  struct Kind {
    int low, high;
    bool positive;
  };
  const Kind kinds[] = {
      {-3, 3, false},
      {-3, 3, true},
      {most - 14, most - 12, false}, // as large as sums of a thousand of them allow
      {least, least + 4, false},
      {least - 1, least, false},
      {-6, 10, false},
  };
  const uint64_t infinity = ((uint64_t{1} << (format.bits - format.mantissa - 1)) - 1) << format.mantissa;
  const uint64_t negative = uint64_t{1} << (format.bits - 1), nan = infinity | uint64_t{1} << (format.mantissa - 1);
  std::vector<std::vector<uint64_t>> all;
  auto add = [&](auto&& at) {
    std::vector<uint64_t>& row = all.emplace_back();
    for (int64_t i = 0; i < length; ++i) row.push_back(at(i, all.size() * 4096 + i));
  };
  for (const Kind& kind : kinds)
    for (int repeat = 0; repeat < 3; ++repeat)
      add([&](int64_t, uint64_t seed) { return element(dtype, seed, kind.low, kind.high, kind.positive); });
  const uint64_t tenth = element(dtype, 12345, -4, -3, true);
  add([&](int64_t, uint64_t) { return tenth; });
  for (std::vector<uint64_t> special :
       {std::vector{infinity}, {infinity | negative}, {infinity, infinity | negative}, {nan}, {infinity, nan}})
    add([&](int64_t i, uint64_t seed) {
      // Some in the middle, the last ones first.
      size_t which = static_cast<size_t>(length / 2 + static_cast<int64_t>(special.size()) - 1 - i);
      return which < special.size() ? special[which] : element(dtype, seed, -3, 3, false);
    });
  return all;
}

// Three of each of the first kinds.
std::string_view kind_of_row(size_t row, size_t& kind) {
  static constexpr std::string_view names[kKinds] = {
      "ordinary",          "positive",        "huge",  "tiny",
      "subnormal",         "mixed",           "equal", "infinite",
      "negative infinite", "both infinities", "NaN",   "infinite and NaN"};
  kind = row < 18 ? row / 3 : row - 12;
  return names[kind];
}

Real column_element(int64_t row, int64_t column, DType dtype) {
  return number(element(dtype, static_cast<uint64_t>(row * kColumns + column + 77), -3, 3, false), dtype);
}

double error_in_ulps_of(Real result, Real exact, Real scale, DType dtype) {
  Format format = format_of(dtype);
  const int smallest = 1 - format.bias();
  int exponent = scale == 0 ? smallest : std::clamp(std::ilogb(scale), smallest, format.bias());
  Real error = std::ldexp(std::fabs(result - exact), format.mantissa - exponent);
  return static_cast<double>(std::min(error, 1e300L));
}

} // namespace tilewright::accuracy
