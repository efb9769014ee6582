#include "config/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tilewright {
namespace {

/// Levenshtein's distance: insertions, deletions and replacements of one letter.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]; // of the row above
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

} // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known) {
  std::optional<std::string> nearest;
  size_t fewest = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known)
    if (size_t edits = edit_distance(name, candidate); edits < fewest) {
      fewest = edits;
      nearest = candidate;
    }
  return nearest;
}

} // namespace tilewright
