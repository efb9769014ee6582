// What the accuracy of pointwise operations is tested on: every line of tilewright/operations.inc, with its default
// numbers and with others, over inputs that are the same on every machine.
#pragma once

#include "tilewright/dtype.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::accuracy {

using Real = long double;

struct Case {
  std::string_view name; // of the line
  std::string key;       // the name, and the numbers if they are not the defaults: "elu(0.75)"
  int operands;
  std::vector<double> numbers; // all of the parameters
  std::string_view dtypes;     // the columns
  std::string_view result;
  // In exact arithmetic: of as many operands.
  Real (*reference)(const Real* operands, const double* numbers);
};

const std::vector<Case>& cases();

/// The dtypes that operations are tested with.
inline constexpr DType kTestedDTypes[] = {DType::float32, DType::float64, DType::bfloat16, DType::float16,
                                          DType::int8,    DType::uint8,   DType::int16,    DType::int32,
                                          DType::int64,   DType::boolean};

/// The operands of a test: rows of equally many elements, the bits of each in the low bytes.
struct Inputs {
  std::vector<std::vector<uint64_t>> rows;
  size_t ordinary = 0; // so many are of moderate size; the rest may be anything

  size_t size() const { return rows[0].size(); }
};

/// For floating point: numbers of magnitudes from 2^-7 to 2^5, then of all magnitudes, infinite and NaN. For integers
/// and bool: small ones and the largest, in all combinations; `divides` keeps 0 and -1 out of the second operand, which
/// PyTorch refuses there.
Inputs inputs(DType dtype, int operands, bool divides);

/// Whether PyTorch refuses 0 as the second of two integer operands.
bool divides(const Case& test);

/// An element as a number, and back to the nearest.
Real number(uint64_t bits, DType dtype);

/// By how many units in the last place of `dtype` a result is off; a number past the largest counts as 2^(largest
/// exponent + 1). Neither is NaN.
double error_in_ulps(Real result, Real reference, DType dtype);

/// The reference rounded to `dtype` is infinite.
bool overflows(Real reference, DType dtype);

/// FNV-1a of the bytes of results that must be exact.
std::string hash_of(std::span<const std::byte> bytes);

} // namespace tilewright::accuracy
