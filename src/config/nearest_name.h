// "Did you mean": the known name that a mistyped one was most likely meant to be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tilewright {

/// The name with the fewest edits to `name`, if they are few for its length. The first of equals.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known);

} // namespace tilewright
