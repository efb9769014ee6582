// Comparing a backend's results with the interpreter's.
#pragma once

#include "tilewright/array.h"

#include <string>

namespace tilewright {

/// Nothing where `result` agrees with what the interpreter gave; else a line that says where it differs most and by how
/// much, for a test to print.
///
/// Integers and bool agree where they are equal. Floating-point numbers may differ by four units in the last place of
/// their type, for intermediate results that one side kept unrounded, plus what summing `reduction_length` numbers as
/// large as the largest expected one can lose in the type that sums are accumulated in: float64 for float64, else
/// float32. Infinities agree with themselves and NaN with NaN. Throws Error where sizes or element types differ.
std::string describe_difference(const Array& result, const Array& expected, int64_t reduction_length = 1);

} // namespace tilewright
