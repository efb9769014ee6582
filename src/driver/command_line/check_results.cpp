#include "driver/command_line/check_results.h"

#include "support/error.h"

#include <algorithm>
#include <cmath>

namespace tilewright {

static double unit_roundoff(DType dtype) {
  switch (dtype) {
  case DType::bfloat16: return 0x1p-8;
  case DType::float16: return 0x1p-11;
  case DType::float32: return 0x1p-24;
  case DType::float64: return 0x1p-53;
  default: return 0;
  }
}

double rounding_allowance(DType arguments, DType result, int64_t terms) {
  if (!is_floating_point(result)) return 0;
  double rounding = std::max(unit_roundoff(arguments), unit_roundoff(result));
  bool all_double = result == float64 && (arguments == float64 || !is_floating_point(arguments));
  double sum = unit_roundoff(all_double ? float64 : float32);
  return 16 * rounding + 32 * sum * std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1)));
}

std::vector<Array> reference_results(const RegisteredKernel& kernel, std::span<const AnyArgument> arguments) {
  if (!kernel.reference) fail("kernel {} is registered without a reference to check its results with", kernel.name);
  std::vector<ArgumentSpec> specs = kernel.specs();
  std::vector<AnyArgument> exact;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_array()) {
      exact.push_back(arguments[i]);
      continue;
    }
    const Array& array = arguments[i].array();
    bool is_double = !specs[i].dtype || is_floating_point(array.dtype());
    // A copy, always: a reference may compute in place.
    exact.emplace_back(is_double ? array.to(float64).clone() : array.clone());
  }
  return kernel.reference(exact);
}

// The longest dimension stands for the number of terms of the kernel's sums.
static int64_t longest_dimension(std::span<const AnyArgument> arguments, std::span<const Array> results) {
  int64_t longest = 1;
  auto take = [&](const Array& array) {
    for (int64_t size : array.sizes()) longest = std::max(longest, size);
  };
  for (const AnyArgument& argument : arguments)
    if (argument.is_array()) take(argument.array());
  for (const Array& result : results) take(result);
  return longest;
}

ResultCheck check_results(const RegisteredKernel& kernel, DType dtype, std::span<const AnyArgument> arguments,
                          std::span<const Array> results, std::span<const Array> reference) {
  if (results.size() != reference.size())
    fail("kernel {} has {} results, and its reference {}", kernel.name, results.size(), reference.size());
  int64_t terms = longest_dimension(arguments, results);
  ResultCheck worst;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].sizes() != reference[i].sizes())
      fail("result {} of kernel {} has other sizes than the reference's", i, kernel.name);
    ResultCheck check;
    check.allowed = rounding_allowance(dtype, results[i].dtype(), terms);
    if (results[i].numel() > 0) check.error = max_relative_error(results[i], reference[i]);
    bool is_worse = worst.right() != check.right() ? !check.right() : check.error > worst.error;
    if (i == 0 || is_worse) worst = check;
  }
  return worst;
}

} // namespace tilewright
