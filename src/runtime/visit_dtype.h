// From a DType at run time to the C++ type that holds its elements.
#pragma once

#include "tilewright/dtype.h"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace tilewright {

// Calls visitor(std::type_identity<T>()) with the element type of `dtype`, and returns what it returns.
template <class Visitor> decltype(auto) visit_dtype(DType dtype, Visitor&& visitor) {
  switch (dtype) {
  case DType::boolean: return visitor(std::type_identity<bool>());
  case DType::int8: return visitor(std::type_identity<int8_t>());
  case DType::uint8: return visitor(std::type_identity<uint8_t>());
  case DType::int16: return visitor(std::type_identity<int16_t>());
  case DType::int32: return visitor(std::type_identity<int32_t>());
  case DType::int64: return visitor(std::type_identity<int64_t>());
  case DType::float16: return visitor(std::type_identity<Half>());
  case DType::bfloat16: return visitor(std::type_identity<BFloat16>());
  case DType::float32: return visitor(std::type_identity<float>());
  case DType::float64: return visitor(std::type_identity<double>());
  case DType::float8_e4m3fn: return visitor(std::type_identity<Float8E4M3FN>());
  case DType::float8_e5m2: return visitor(std::type_identity<Float8E5M2>());
  }
  std::unreachable();
}

} // namespace tilewright
