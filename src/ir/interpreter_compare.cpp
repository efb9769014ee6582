#include "ir/interpreter_compare.h"

#include "support/error.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tilewright {

// Distance of 1 to the next number.
static double unit_of(DType dtype) {
  switch (dtype) {
  case float16: return 0x1p-10;
  case bfloat16: return 0x1p-7;
  case float32: return 0x1p-23;
  case float64: return 0x1p-52;
  default: return 0;
  }
}

static std::string index_text(const IndexList& sizes, int64_t element) {
  std::vector<int64_t> index(sizes.size());
  for (int dim = sizes.size() - 1; dim >= 0; --dim) {
    index[dim] = element % sizes[dim];
    element /= sizes[dim];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

// The first element that differs.
static std::string describe_integer_difference(const Array& result, const Array& expected) {
  std::vector<int64_t> found = result.to_vector<int64_t>(), wanted = expected.to_vector<int64_t>();
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i] != wanted[i])
      return fmt::format("element {} is {}, expected {}", index_text(expected.sizes(), i), found[i], wanted[i]);
  return "";
}

std::string describe_difference(const Array& result, const Array& expected, int64_t reduction_length) {
  if (result.sizes() != expected.sizes() || result.dtype() != expected.dtype())
    fail("results of different sizes or element types cannot be compared");
  DType dtype = expected.dtype();
  if (!is_floating_point(dtype)) return describe_integer_difference(result, expected);

  std::vector<double> found = result.to_vector<double>(), wanted = expected.to_vector<double>();
  double largest = 0;
  for (double number : wanted)
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  double relative = 4 * unit_of(dtype);
  double absolute = double(reduction_length) * unit_of(dtype == float64 ? float64 : float32) * largest;

  double worst = 0;
  std::string message;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] == wanted[i] || (std::isnan(found[i]) && std::isnan(wanted[i]))) continue;
    double allowed = relative * std::abs(wanted[i]) + absolute;
    double excess = std::abs(found[i] - wanted[i]) / allowed;
    if (!std::isfinite(found[i]) || !std::isfinite(wanted[i])) excess = HUGE_VAL;
    if (excess <= 1 || excess <= worst) continue;
    worst = excess;
    message = fmt::format("element {} is {:.9g}, expected {:.9g}; allowed is a difference of {:.3g}",
                          index_text(expected.sizes(), i), found[i], wanted[i], allowed);
  }
  return message;
}

} // namespace tilewright
