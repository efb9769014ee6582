// Arrays as text, laid out as PyTorch lays out tensors.
#include "runtime/convert_element.h"
#include "runtime/visit_dtype.h"
#include "support/error.h"
#include "tilewright/array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace tilewright {

namespace {

// PyTorch's defaults (torch.set_printoptions).
constexpr int kPrecision = 4;
constexpr int64_t kSummariseAbove = 1000;
constexpr int64_t kEdgeItems = 3;
constexpr int kLineWidth = 80;

constexpr int64_t kEllipsis = -1;

// The indices of a dimension that are printed, with kEllipsis for those left out.
std::vector<int64_t> shown_indices(int64_t size, bool summarise) {
  std::vector<int64_t> indices;
  bool cut = summarise && size > 2 * kEdgeItems;
  for (int64_t i = 0; i < (cut ? kEdgeItems : size); ++i) indices.push_back(i);
  if (!cut) return indices;
  indices.push_back(kEllipsis);
  for (int64_t i = size - kEdgeItems; i < size; ++i) indices.push_back(i);
  return indices;
}

template <class Visit> void for_each_shown(const Array& array, bool summarise, Visit&& visit) {
  if (array.rank() == 0) return visit(array);
  for (int64_t i : shown_indices(array.sizes()[0], summarise))
    if (i != kEllipsis) for_each_shown(array[i], summarise, visit);
}

// How all elements of one array are written: chosen from the values that are shown, so that columns line up.
class ElementFormat {
public:
  ElementFormat(const Array& array, bool summarise) : is_floating_(is_floating_point(array.dtype())) {
    if (is_floating_) choose_notation(array, summarise);
    for_each_shown(array, summarise, [&](const Array& element) {
      // Infinities, NaN and zeros do not widen the columns of other numbers.
      if (!is_floating_ || is_nonzero_finite(element.item<double>())) width_ = std::max(width_, text(element).size());
    });
  }

  std::string operator()(const Array& element) const { return fmt::format("{:>{}}", text(element), width_); }
  int width() const { return int(width_); }

private:
  static bool is_nonzero_finite(double value) { return std::isfinite(value) && value != 0; }

  void choose_notation(const Array& array, bool summarise) {
    double smallest = std::numeric_limits<double>::infinity(), largest = 0;
    for_each_shown(array, summarise, [&](const Array& element) {
      double value = element.item<double>();
      if (!is_nonzero_finite(value)) return;
      whole_ &= value == std::trunc(value);
      smallest = std::min(smallest, std::abs(value));
      largest = std::max(largest, std::abs(value));
    });
    if (largest == 0) return;
    scientific_ = largest / smallest > 1000 || largest > 1e8 || (!whole_ && smallest < 1e-4);
  }

  std::string text(const Array& element) const {
    if (element.dtype() == boolean) return element.item<bool>() ? "True" : "False";
    if (!is_floating_) return fmt::format("{}", element.item<int64_t>());
    double value = element.item<double>();
    if (!std::isfinite(value)) return fmt::format("{}", value);
    if (scientific_) return fmt::format("{:.{}e}", value, kPrecision);
    return whole_ ? fmt::format("{:.0f}.", value) : fmt::format("{:.{}f}", value, kPrecision);
  }

  bool is_floating_;
  bool whole_ = true;
  bool scientific_ = false;
  size_t width_ = 1;
};

class ArrayPrinter {
public:
  ArrayPrinter(const Array& array, bool summarise) : summarise_(summarise), format_(array, summarise) {}

  // `indent` is the column of the opening bracket.
  std::string print(const Array& array, int indent) const {
    if (array.rank() == 0) return format_(array);
    return array.rank() == 1 ? print_row(array, indent) : print_planes(array, indent);
  }

private:
  std::string print_row(const Array& row, int indent) const {
    size_t per_line = std::max(1, (kLineWidth - indent) / (format_.width() + 2));
    std::string result = "[";
    size_t count = 0;
    for (int64_t i : shown_indices(row.sizes()[0], summarise_)) {
      if (count > 0) result += count % per_line == 0 ? fmt::format(",\n{:{}}", "", indent + 1) : ", ";
      result += i == kEllipsis ? " ..." : format_(row[i]);
      ++count;
    }
    return result + "]";
  }

  std::string print_planes(const Array& array, int indent) const {
    std::string separator = fmt::format(",{:\n<{}}{:{}}", "", array.rank() - 1, "", indent + 1);
    std::string result = "[";
    bool first = true;
    for (int64_t i : shown_indices(array.sizes()[0], summarise_)) {
      if (!first) result += separator;
      first = false;
      result += i == kEllipsis ? "..." : print(array[i], indent + 1);
    }
    return result + "]";
  }

  bool summarise_;
  ElementFormat format_;
};

} // namespace

std::string Array::to_string() const {
  if (!defined()) return "array(undefined)";
  const std::string prefix = "array(";
  std::string result = prefix;
  if (numel() == 0) {
    result += "[]";
    if (rank() != 1) result += fmt::format(", size=({})", fmt::join(sizes_, ", "));
  } else {
    result += ArrayPrinter(*this, numel() > kSummariseAbove).print(*this, int(prefix.size()));
  }
  // Left out where the elements' own look tells the type.
  bool is_default = dtype_ == float32 || (numel() > 0 && (dtype_ == int64 || dtype_ == boolean));
  if (!is_default) result += fmt::format(", dtype={}", name(dtype_));
  return result + ")";
}

std::ostream& operator<<(std::ostream& stream, const Array& array) { return stream << array.to_string(); }

} // namespace tilewright
