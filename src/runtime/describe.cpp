#include "runtime/describe.h"

#include <fmt/format.h>

namespace tilewright {

std::string describe(std::span<const int64_t> values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

} // namespace tilewright
