#include "cases.h"

#include "references.h"

#include <fmt/format.h>

#include <bit>

namespace tilewright::accuracy {

using std::isfinite, std::isinf, std::isnan, std::signbit;

namespace {

// Numbers that differ from a line's defaults, and are exact in every dtype.
double other(double number) { return number < 0 ? 0.125 : number / 2 + 0.375; }

std::string key_of(std::string_view name, const std::vector<double>& numbers) {
  std::string key(name);
  for (size_t i = 0; i < numbers.size(); ++i) key += fmt::format("{}{}", i ? ", " : "(", numbers[i]);
  return key + ")";
}

class Cases {
public:
  Cases() {
#define TILEWRIGHT_UNARY(name, dtypes, result, build, reference, meaning)                                              \
  add(#name, 1, #dtypes, #result, {}, [](const Real* o, const double*) -> Real {                                       \
    [[maybe_unused]] Real x = o[0];                                                                                    \
    return reference;                                                                                                  \
  });
#define TILEWRIGHT_UNARY_1(name, p, p_default, dtypes, result, build, reference, meaning)                              \
  add(#name, 1, #dtypes, #result, {p_default}, [](const Real* o, const double* n) -> Real {                            \
    [[maybe_unused]] Real x = o[0], p = n[0];                                                                          \
    return reference;                                                                                                  \
  });
#define TILEWRIGHT_UNARY_2(name, p, p_default, q, q_default, dtypes, result, build, reference, meaning)                \
  add(#name, 1, #dtypes, #result, {p_default, q_default}, [](const Real* o, const double* n) -> Real {                 \
    [[maybe_unused]] Real x = o[0], p = n[0], q = n[1];                                                                \
    return reference;                                                                                                  \
  });
#define TILEWRIGHT_BINARY(name, dtypes, result, build, reference, meaning)                                             \
  add(#name, 2, #dtypes, #result, {}, [](const Real* o, const double*) -> Real {                                       \
    [[maybe_unused]] Real a = o[0], b = o[1];                                                                          \
    return reference;                                                                                                  \
  });
#define TILEWRIGHT_TERNARY(name, dtypes, result, build, reference, meaning)                                            \
  add(#name, 3, #dtypes, #result, {}, [](const Real* o, const double*) -> Real {                                       \
    [[maybe_unused]] Real a = o[0], b = o[1], c = o[2];                                                                \
    return reference;                                                                                                  \
  });
#define TILEWRIGHT_TERNARY_1(name, p, p_default, dtypes, result, build, reference, meaning)                            \
  add(#name, 3, #dtypes, #result, {p_default}, [](const Real* o, const double* n) -> Real {                            \
    [[maybe_unused]] Real a = o[0], b = o[1], c = o[2], p = n[0];                                                      \
    return reference;                                                                                                  \
  });
#define TILEWRIGHT_VARIANT(name, spelling, operands, dtypes, result, build, reference, meaning)                        \
  add(#name, operands, #dtypes, #result, {}, [](const Real* o, const double*) -> Real {                                \
    [[maybe_unused]] Real x = o[0], a = o[0], b = o[1];                                                                \
    return reference;                                                                                                  \
  });
#include "tilewright/operations.inc"
  }

  std::vector<Case> all;

private:
  void add(std::string_view name, int operands, std::string_view dtypes, std::string_view result,
           std::vector<double> numbers, Real (*reference)(const Real*, const double*)) {
    all.push_back({name, std::string(name), operands, numbers, dtypes, result, reference});
    if (numbers.empty()) return;
    for (double& number : numbers) number = other(number);
    all.push_back({name, key_of(name, numbers), operands, numbers, dtypes, result, reference});
  }
};

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
class SplitMix {
public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

private:
  uint64_t state_;
};

struct Format {
  int bits, mantissa; // of the type, and of its stored significand
  int bias() const { return (1 << (bits - mantissa - 2)) - 1; }
  int largest_exponent() const { return bias(); }
  int smallest_exponent() const { return 1 - bias(); }
  uint64_t infinity() const { return ((uint64_t{1} << (bits - mantissa - 1)) - 1) << mantissa; }
  uint64_t sign() const { return uint64_t{1} << (bits - 1); }
};

Format format_of(DType dtype) {
  switch (dtype) {
  case DType::float16: return {16, 10};
  case DType::bfloat16: return {16, 7};
  case DType::float32: return {32, 23};
  default: return {64, 52};
  }
}

// The bits of the nearest number, ties to even.
uint64_t bits_of(Real value, const Format& format) {
  if (value == 0 || std::isinf(value) || std::isnan(value)) {
    uint64_t sign = std::signbit(value) ? format.sign() : 0;
    if (std::isnan(value)) return format.infinity() | (uint64_t{1} << (format.mantissa - 1)) | sign;
    return sign | (std::isinf(value) ? format.infinity() : 0);
  }
  int exponent = std::max(std::ilogb(value), format.smallest_exponent());
  // In units of the last place; a carry into the next power of two is one into the exponent's bits.
  auto units = static_cast<uint64_t>(std::nearbyint(std::ldexp(std::fabs(value), format.mantissa - exponent)));
  uint64_t bits = units + (static_cast<uint64_t>(exponent + format.bias() - 1) << format.mantissa);
  return std::min(bits, format.infinity()) | (std::signbit(value) ? format.sign() : 0);
}

uint64_t ordinary_number(SplitMix& random, const Format& format) {
  uint64_t bits = random.next();
  uint64_t exponent = format.bias() - 7 + (random.next() >> 8) % 12;
  uint64_t mantissa = bits & ((uint64_t{1} << format.mantissa) - 1);
  return (exponent << format.mantissa) | mantissa | (bits & (uint64_t{1} << 63) ? format.sign() : 0);
}

uint64_t any_number(SplitMix& random, const Format& format) {
  for (;;) {
    uint64_t bits = random.next() >> (64 - format.bits);
    if ((bits & ~format.sign()) < format.infinity()) return bits;
  }
}

// Both signs of each; the first `few` are the most telling ones.
std::vector<uint64_t> special_numbers(const Format& format, bool few) {
  Real unit = std::ldexp(Real(1), -format.mantissa);
  Real smallest = std::ldexp(unit, format.smallest_exponent());
  Real largest = std::ldexp(2 - unit, format.largest_exponent());
  std::vector<Real> numbers{0, 1, HUGE_VALL, NAN, smallest, largest, 0.5L};
  if (!few)
    for (Real more : {2.0L,
                      3.0L,
                      10.0L,
                      20.0L,
                      100.0L,
                      1 + unit,
                      1 - unit / 2,
                      1.5L,
                      2.5L,
                      0.25L,
                      smallest * 3,
                      std::ldexp(Real(1), format.smallest_exponent()),
                      std::ldexp(Real(1), format.smallest_exponent()) - smallest,
                      largest / 2,
                      reference::pi(),
                      reference::pi() / 2,
                      22.0L,
                      88.0L,
                      89.0L,
                      103.0L,
                      709.0L,
                      745.0L,
                      1e4L,
                      1e10L})
      numbers.push_back(more);
  std::vector<uint64_t> result;
  for (Real number : numbers) {
    result.push_back(bits_of(number, format));
    if (!std::isnan(number)) result.push_back(result.back() | format.sign());
  }
  return result;
}

// Every combination of these, an operand each row.
void add_combinations(Inputs& inputs, const std::vector<std::vector<uint64_t>>& values) {
  size_t count = 1;
  for (const auto& list : values) count *= list.size();
  for (size_t i = 0; i < count; ++i) {
    size_t rest = i;
    for (size_t row = 0; row < values.size(); ++row) {
      inputs.rows[row].push_back(values[row][rest % values[row].size()]);
      rest /= values[row].size();
    }
  }
}

Inputs floating_inputs(DType dtype, int operands) {
  Format format = format_of(dtype);
  SplitMix random(20 + operands);
  Inputs result;
  result.rows.resize(operands);
  for (int i = 0; i < 1500; ++i)
    for (auto& row : result.rows) row.push_back(ordinary_number(random, format));
  result.ordinary = 1500;
  for (int i = 0; i < 1500; ++i)
    for (auto& row : result.rows) row.push_back(any_number(random, format));
  // Operands that differ by a few units in the last place, or not at all.
  if (operands > 1)
    for (int i = 0; i < 200; ++i) {
      uint64_t first = ordinary_number(random, format);
      for (auto& row : result.rows) row.push_back(&row == &result.rows[0] ? first : first + random.next() % 4);
    }
  add_combinations(result, std::vector(operands, special_numbers(format, /*few=*/operands == 3)));
  return result;
}

Inputs integer_inputs(DType dtype, int operands, bool divides) {
  int bits = static_cast<int>(size_in_bytes(dtype)) * 8;
  int64_t largest = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
  std::vector<int64_t> few{0, 1, -1, 2, -7, 5, largest, -largest - 1};
  std::vector<int64_t> many = few;
  for (int64_t more : {-2, 3, -3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, -100, 127, -128}) many.push_back(more);
  many.push_back(largest - 1);
  many.push_back(largest / 3);
  if (dtype == DType::boolean) many = few = {0, 1};
  std::vector<std::vector<uint64_t>> values(operands);
  for (int row = 0; row < operands; ++row)
    for (int64_t value : operands == 3 ? few : many) {
      if (divides && row == 1 && (value == 0 || value == -1)) continue;
      values[row].push_back(bits == 64 ? value : value & ((uint64_t{1} << bits) - 1));
    }
  Inputs result;
  result.rows.resize(operands);
  add_combinations(result, values);
  result.ordinary = result.size();
  return result;
}

} // namespace

const std::vector<Case>& cases() {
  static const Cases cases;
  return cases.all;
}

Inputs inputs(DType dtype, int operands, bool divides) {
  return is_floating_point(dtype) ? floating_inputs(dtype, operands) : integer_inputs(dtype, operands, divides);
}

bool divides(const Case& test) {
  for (std::string_view name : {"div_floor", "div_trunc", "floor_divide", "remainder", "fmod"})
    if (test.name == name) return true;
  return false;
}

Real number(uint64_t bits, DType dtype) {
  if (dtype == DType::boolean) return bits & 1;
  if (dtype == DType::uint8) return bits & 0xff;
  if (!is_floating_point(dtype)) {
    int unused = 64 - static_cast<int>(size_in_bytes(dtype)) * 8;
    return static_cast<int64_t>(bits << unused) >> unused;
  }
  Format format = format_of(dtype);
  uint64_t mantissa = bits & ((uint64_t{1} << format.mantissa) - 1);
  uint64_t magnitude = bits & ~format.sign() & (format.sign() | (format.sign() - 1));
  Real value;
  if (magnitude >= format.infinity())
    value = mantissa ? std::numeric_limits<Real>::quiet_NaN() : HUGE_VALL;
  else if (int exponent = static_cast<int>(magnitude >> format.mantissa); exponent == 0)
    value = std::ldexp(Real(mantissa), format.smallest_exponent() - format.mantissa);
  else
    value = std::ldexp(Real(mantissa | (uint64_t{1} << format.mantissa)), exponent - format.bias() - format.mantissa);
  return bits & format.sign() ? -value : value;
}

bool overflows(Real reference, DType dtype) {
  Format format = format_of(dtype);
  return (bits_of(reference, format) & ~format.sign()) == format.infinity();
}

double error_in_ulps(Real result, Real reference, DType dtype) {
  Format format = format_of(dtype);
  Real past = std::ldexp(Real(1), format.largest_exponent() + 1);
  auto bounded = [&](Real x) { return std::min(std::max(x, -past), past); };
  result = bounded(result), reference = bounded(reference);
  int exponent = reference == 0 ? format.smallest_exponent() : std::ilogb(reference);
  exponent = std::min(std::max(exponent, format.smallest_exponent()), format.largest_exponent());
  Real error = std::ldexp(std::fabs(result - reference), format.mantissa - exponent);
  return static_cast<double>(std::min(error, 1e300L));
}

std::string hash_of(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

} // namespace tilewright::accuracy
