#include "runtime/kernel_abi.h"

#include <cmath>

namespace tilewright {

std::string_view name(RuntimeFunction function) {
  static constexpr std::string_view names[kUnaryRuntimeFunctions + kBinaryRuntimeFunctions] = {
      "sin",  "cos",   "tan", "asin", "acos",  "atan",  "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
      "exp2", "expm1", "log", "log2", "log10", "log1p", "erf",  "erfc", "cbrt", "pow",   "atan2", "fmod"};
  return names[static_cast<int>(function)];
}

const RuntimeTable& runtime_table() {
  static constexpr RuntimeTable table = {
      {std::sin,  std::cos,   std::tan,   std::asin,  std::acos, std::atan, std::sinh,  std::cosh,
       std::tanh, std::asinh, std::acosh, std::atanh, std::exp,  std::exp2, std::expm1, std::log,
       std::log2, std::log10, std::log1p, std::erf,   std::erfc, std::cbrt},
      {std::sin,  std::cos,   std::tan,   std::asin,  std::acos, std::atan, std::sinh,  std::cosh,
       std::tanh, std::asinh, std::acosh, std::atanh, std::exp,  std::exp2, std::expm1, std::log,
       std::log2, std::log10, std::log1p, std::erf,   std::erfc, std::cbrt},
      {std::pow, std::atan2, std::fmod},
      {std::pow, std::atan2, std::fmod},
  };
  return table;
}

} // namespace tilewright
