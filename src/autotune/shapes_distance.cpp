#include "autotune/shapes_distance.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

namespace tilewright {
namespace {

struct Shapes {
  std::string words; // all that is no number, with a mark where one stood
  std::vector<double> numbers;
};

/// Digits that follow a letter belong to a word: float32 is no number.
Shapes parse(std::string_view text) {
  Shapes shapes;
  for (size_t i = 0; i < text.size();) {
    const auto is_digit = [&](size_t at) {
      return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
    };
    const bool in_word = !shapes.words.empty() && std::isalnum(static_cast<unsigned char>(shapes.words.back()));
    if (!is_digit(i) || in_word) {
      shapes.words += text[i++];
      continue;
    }
    double number = 0;
    for (; is_digit(i); ++i) number = number * 10 + (text[i] - '0');
    shapes.numbers.push_back(number);
    shapes.words += '#';
  }
  return shapes;
}

} // namespace

double shapes_distance(std::string_view a, std::string_view b) {
  const Shapes left = parse(a), right = parse(b);
  double distance = left.words == right.words ? 0 : kFarApart;
  const size_t common = std::min(left.numbers.size(), right.numbers.size());
  for (size_t i = 0; i < common; ++i) // one more each, for there are sizes and strides of 0
    distance += std::abs(std::log2((left.numbers[i] + 1) / (right.numbers[i] + 1)));
  const size_t missing = std::max(left.numbers.size(), right.numbers.size()) - common;
  return distance + kFarApart * static_cast<double>(missing);
}

} // namespace tilewright
