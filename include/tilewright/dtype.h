// Element types, named as in PyTorch: tilewright::float32, tilewright::bfloat16, and so on; bool is
// tilewright::boolean.
#pragma once

#include "tilewright/float8.h"
#include "tilewright/half.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tilewright {

enum class DType : uint8_t {
  boolean, // one byte, 0 or 1
  int8,
  uint8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  float8_e4m3fn,
  float8_e5m2,
};
using enum DType;

inline constexpr int kDTypeCount = 12;

// "float32"; "bool" for boolean.
constexpr std::string_view name(DType dtype) {
  constexpr std::string_view names[kDTypeCount] = {"bool",    "int8",    "uint8",         "int16",
                                                   "int32",   "int64",   "float16",       "bfloat16",
                                                   "float32", "float64", "float8_e4m3fn", "float8_e5m2"};
  return names[static_cast<int>(dtype)];
}

// The inverse of name(); also takes PyTorch's other names: short, int, long, half, float, double.
std::optional<DType> dtype_from_name(std::string_view name);

constexpr int64_t size_in_bytes(DType dtype) {
  constexpr int64_t sizes[kDTypeCount] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1};
  return sizes[static_cast<int>(dtype)];
}

constexpr bool is_floating_point(DType dtype) { return dtype >= DType::float16; }
// Kinds of storage: what is computed from them is float32.
constexpr bool is_float8(DType dtype) { return dtype >= DType::float8_e4m3fn; }
// Integers; bool is not one.
constexpr bool is_integral(DType dtype) { return DType::int8 <= dtype && dtype <= DType::int64; }
constexpr bool is_signed(DType dtype) { return dtype != DType::boolean && dtype != DType::uint8; }

// The smallest type that holds both kinds of value, by PyTorch's rules for two tensors (torch.promote_types). An 8-bit
// float with another dtype, which PyTorch refuses, counts as float32.
DType promote_types(DType a, DType b);

namespace detail {

template <class T> struct DTypeOf {};
template <> struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
           (std::is_signed_v<T> || sizeof(T) == 1))
struct DTypeOf<T> {
  static constexpr DType value = sizeof(T) == 1   ? (std::is_signed_v<T> ? DType::int8 : DType::uint8)
                                 : sizeof(T) == 2 ? DType::int16
                                 : sizeof(T) == 4 ? DType::int32
                                                  : DType::int64;
};
template <> struct DTypeOf<Half> {
  static constexpr DType value = DType::float16;
};
template <> struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <> struct DTypeOf<Float8E4M3FN> {
  static constexpr DType value = DType::float8_e4m3fn;
};
template <> struct DTypeOf<Float8E5M2> {
  static constexpr DType value = DType::float8_e5m2;
};
template <> struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <> struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};

} // namespace detail

// The C++ types that are elements of arrays: bool, the signed integers, uint8_t, Half, BFloat16, Float8E4M3FN,
// Float8E5M2, float, double.
template <class T>
concept ElementType = requires { detail::DTypeOf<std::remove_const_t<T>>::value; };

template <ElementType T> inline constexpr DType dtype_of = detail::DTypeOf<std::remove_const_t<T>>::value;

} // namespace tilewright
