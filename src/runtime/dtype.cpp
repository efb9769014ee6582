#include "tilewright/dtype.h"

#include <algorithm>
#include <utility>

namespace tilewright {

std::optional<DType> dtype_from_name(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name(DType(i)) == text) return DType(i);
  constexpr std::pair<std::string_view, DType> others[] = {{"short", int16},  {"int", int32},     {"long", int64},
                                                           {"half", float16}, {"float", float32}, {"double", float64}};
  for (const auto& [other, dtype] : others)
    if (other == text) return dtype;
  return std::nullopt;
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (is_float8(a)) a = DType::float32;
  if (is_float8(b)) b = DType::float32;
  if (a > b) std::swap(a, b);
  // The enumeration goes from narrow to wide, bool below integers below floating point, so the larger one wins, but
  // for the two pairs of which neither holds the other.
  if (a == DType::int8 && b == DType::uint8) return DType::int16;
  if (a == DType::float16 && b == DType::bfloat16) return DType::float32;
  return b;
}

} // namespace tilewright
