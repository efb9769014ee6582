// A case's reference on the elements of its inputs.
#pragma once

#include "cases.h"

#include <cmath>

namespace tilewright::accuracy {

/// Integers and bools are converted to float32 first where the result is floating point.
inline Real reference_at(const Case& test, const Inputs& inputs, size_t element, DType dtype) {
  Real operands[3] = {};
  for (int row = 0; row < test.operands; ++row) {
    operands[row] = number(inputs.rows[row][element], dtype);
    if (!is_floating_point(dtype)) operands[row] = static_cast<float>(operands[row]);
  }
  return test.reference(operands, test.numbers.data());
}

/// Of a result, or of a reference that is still to be rounded: n for NaN, + and - for infinities, 0 for the rest.
inline char kind_of(Real value, DType dtype) {
  if (std::isnan(value)) return 'n';
  if (!overflows(value, dtype)) return '0';
  return value > 0 ? '+' : '-';
}

} // namespace tilewright::accuracy
