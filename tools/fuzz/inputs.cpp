#include "fuzz/inputs.h"

#include "config/random.h"

#include <cmath>
#include <limits>

namespace tilewright::fuzz {

// One array in four has positive elements only, and one negative: what starts a maximum from 0, say, shows on these.
static Array elements(const IndexList& sizes, DType dtype, Contents contents, uint64_t seed) {
  bool positive = seed % 4 == 1 || !is_signed(dtype), negative = seed % 4 == 3 && !positive;
  if (!is_floating_point(dtype) || contents == Contents::whole_numbers) {
    if (dtype == boolean) return Array::randint(0, 2, sizes, seed, dtype);
    return Array::randint(positive ? 1 : negative ? -5 : -4, positive ? 6 : negative ? 0 : 5, sizes, seed, dtype);
  }
  Array array = Array::rand(sizes, seed, float64);
  double* data = array.data<double>();
  for (int64_t i = 0; i < array.numel(); ++i)
    data[i] = positive ? 2 * data[i] + 0.05 : negative ? -2 * data[i] - 0.05 : 4 * data[i] - 2;
  if (contents == Contents::special) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double specials[] = {nan, nan, HUGE_VAL, -HUGE_VAL, 0.0, -0.0, 1e-40, 60000};
    Random random(seed);
    for (int64_t i = 0; i < array.numel(); ++i)
      if (random.chance(0.1)) data[i] = specials[random.below(std::size(specials))];
  }
  return array.to(dtype);
}

// Room for an array with these sizes and strides.
static Array placed(const IndexList& sizes, const IndexList& strides, DType dtype, bool aligned) {
  int64_t reach = 0;
  for (int dim = 0; dim < sizes.size(); ++dim) reach += std::max<int64_t>(sizes[dim] - 1, 0) * strides[dim];
  Array memory = Array::zeros({reach + 2}, dtype);
  auto* first = static_cast<std::byte*>(memory.data()) + (aligned ? 0 : size_in_bytes(dtype));
  return Array::from_pointer(first, sizes, strides, dtype, std::make_shared<Array>(memory));
}

Array input(const IndexList& sizes, DType dtype, Layout layout, Contents contents, bool aligned, uint64_t seed) {
  IndexList strides;
  for (int dim = 0; dim < sizes.size(); ++dim) strides.push_back(0);
  // In which order dimensions follow each other in memory, the last one first; and how far apart neighbours are.
  int64_t step = layout == Layout::strided ? 2 : 1;
  for (int i = 0; i < sizes.size(); ++i) {
    int dim = layout == Layout::transposed ? i : sizes.size() - 1 - i;
    strides[dim] = step;
    step *= std::max<int64_t>(sizes[dim], 1);
    if (layout == Layout::strided) ++step;
  }
  IndexList own = sizes;
  if (layout == Layout::expanded && sizes.size() > 0) { // the first or the last dimension repeats one element
    int dim = seed % 2 ? 0 : sizes.size() - 1;
    strides[dim] = 0;
    own[dim] = sizes[dim] == 0 ? 0 : 1;
  }
  Array array = placed(sizes, strides, dtype, aligned);
  Array one_of_each = Array::from_pointer(array.data(), own, strides, dtype);
  one_of_each.copy_from(elements(own, dtype, contents, seed));
  return array;
}

std::vector<Array> inputs_of(const FuzzKernel& kernel) {
  std::vector<Array> arrays;
  for (size_t t = 0; t < kernel.tensors.size(); ++t) {
    const FuzzTensor& tensor = kernel.tensors[t];
    if (tensor.allocated) continue;
    IndexList sizes;
    for (int extent : tensor.extents) sizes.push_back(kernel.extents.at(extent));
    arrays.push_back(input(sizes, tensor.dtype, tensor.layout, tensor.contents, tensor.aligned, kernel.seed + t));
  }
  return arrays;
}

} // namespace tilewright::fuzz
