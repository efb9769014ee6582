// Results against a registered kernel's reference, which is computed in double precision.
#pragma once

#include "tilewright/registry.h"

#include <span>
#include <vector>

namespace tilewright {

/// What the kernel's reference makes of the arguments. Throws Error where the kernel has none.
std::vector<Array> reference_results(const RegisteredKernel& kernel, std::span<const AnyArgument> arguments);

struct ResultCheck {
  double error = 0;   // the largest difference, relative to the reference's largest value
  double allowed = 0; // how much of that can be rounding
  bool right() const { return error <= allowed; }
};

/// Of several results, the one that is the furthest out. `dtype` is what T stands for. Throws Error where the number or
/// the sizes of the results differ, which is a mistake in the kernel or its reference.
ResultCheck check_results(const RegisteredKernel& kernel, DType dtype, std::span<const AnyArgument> arguments,
                          std::span<const Array> results, std::span<const Array> reference);

/// How far the right result of a kernel may be from the exact one: values rounded to the dtypes of its arguments and
/// results a few times, and sums, which are made in float32 or float64, whose rounding errors grow with the square root
/// of the number of terms (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 2.6). None for
/// integers.
double rounding_allowance(DType arguments, DType result, int64_t terms);

} // namespace tilewright
