// Changes IR text so that much of what results still parses: words are exchanged for others of their kind, and whole
// lines are moved, repeated and left out.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace tilewright::fuzz {

std::string mutate_ir(std::string_view text, std::mt19937& random);

/// A line or a few of `other`, put into `text`.
std::string cross_ir(std::string_view text, std::string_view other, std::mt19937& random);

} // namespace tilewright::fuzz
