// Whether two arrays share an element's memory.
#include "tilewright/array.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace tilewright {

namespace {

// A choice of one of `count` multiples of `step` bytes: an index of one of the arrays, or a byte within an element.
struct Choice {
  int64_t step;
  int64_t count;
};

struct ByteRange {
  int64_t begin, end; // relative to the first element's address
};

ByteRange byte_range(const Array& array) {
  int64_t element = size_in_bytes(array.dtype());
  ByteRange range = {0, element};
  for (int d = 0; d < array.rank(); ++d) {
    int64_t reach = (array.sizes()[d] - 1) * array.strides()[d] * element;
    (reach < 0 ? range.begin : range.end) += reach;
  }
  return range;
}

// Appends what an address in the array, counted up from its lowest or down from its highest, is a sum of.
void add_choices(const Array& array, std::vector<Choice>& choices) {
  int64_t element = size_in_bytes(array.dtype());
  choices.push_back({1, element});
  for (int d = 0; d < array.rank(); ++d) {
    int64_t step = std::abs(array.strides()[d]) * element;
    if (array.sizes()[d] > 1 && step > 0) choices.push_back({step, array.sizes()[d]});
  }
}

// Whether choices can be made whose steps add up to `target`: a bounded search from the largest step down, which
// leaves out what neither the reach nor the greatest common divisor of the smaller steps allows.
class SumSearch {
public:
  explicit SumSearch(std::vector<Choice> choices) : choices_(std::move(choices)) {
    std::sort(choices_.begin(), choices_.end(), [](const Choice& a, const Choice& b) { return a.step > b.step; });
    reach_.assign(choices_.size() + 1, 0);
    divisor_.assign(choices_.size() + 1, 0);
    for (size_t i = choices_.size(); i-- > 0;) {
      reach_[i] = reach_[i + 1] + choices_[i].step * (choices_[i].count - 1);
      divisor_[i] = std::gcd(divisor_[i + 1], choices_[i].step);
    }
  }

  bool found(int64_t target, size_t from = 0) {
    if (target < 0 || target > reach_[from]) return false;
    if (target == 0) return true;
    if (target % divisor_[from] != 0) return false;
    const auto& [step, count] = choices_[from];
    int64_t most = std::min(count - 1, target / step);
    int64_t least = std::max<int64_t>(0, (target - reach_[from + 1] + step - 1) / step);
    for (int64_t i = most; i >= least; --i) {
      if (--steps_left_ < 0) return true; // not known
      if (found(target - i * step, from + 1)) return true;
    }
    return false;
  }

private:
  std::vector<Choice> choices_;
  std::vector<int64_t> reach_;   // the largest sum of the choices from i on
  std::vector<int64_t> divisor_; // of all sums of the choices from i on
  int64_t steps_left_ = 10000;
};

} // namespace

bool overlap(const Array& a, const Array& b) {
  if (!a.defined() || !b.defined() || a.numel() == 0 || b.numel() == 0) return false;
  ByteRange range_a = byte_range(a), range_b = byte_range(b);
  auto address_a = reinterpret_cast<intptr_t>(a.data()), address_b = reinterpret_cast<intptr_t>(b.data());
  int64_t low_a = address_a + range_a.begin, low_b = address_b + range_b.begin;
  int64_t high_a = address_a + range_a.end, high_b = address_b + range_b.end;
  if (high_a <= low_b || high_b <= low_a) return false;
  if (a.is_contiguous() && b.is_contiguous()) return true;
  // Both arrays' bytes are their lowest address plus a sum of choices. They share one if low_a + sum_a = low_b + sum_b.
  // Counting b's choices down from the highest address, that is sum_a + sum_b' = high_b - 1 - low_a.
  std::vector<Choice> choices;
  add_choices(a, choices);
  add_choices(b, choices);
  return SumSearch(std::move(choices)).found(high_b - 1 - low_a);
}

} // namespace tilewright
