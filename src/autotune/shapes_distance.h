// How far apart two calls of one kernel are, for taking the config of the nearest known one.
#pragma once

#include <string_view>

namespace tilewright {

/// Compares two texts such as "float32[1024, 333]:(333, 1)": 0 if they are equal; each number in which they differ adds
/// by how many doublings it does; different dtypes, ranks or anything else that is no number make them far apart (at
/// least kFarApart), though still ordered.
double shapes_distance(std::string_view a, std::string_view b);

constexpr double kFarApart = 1000;

} // namespace tilewright
