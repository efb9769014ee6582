// How error messages and prints write lists of integers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tilewright {

// "[2, 3]".
std::string describe(std::span<const int64_t> values);

} // namespace tilewright
