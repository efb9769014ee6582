// Arrays of known values.
#include "runtime/convert_element.h"
#include "runtime/visit_dtype.h"
#include "support/error.h"
#include "tilewright/array.h"

#include <cmath>

namespace tilewright {

Array Array::zeros(const IndexList& sizes, DType dtype, SourceLocation location) {
  return full(sizes, 0, dtype, location);
}

Array Array::ones(const IndexList& sizes, DType dtype, SourceLocation location) {
  return full(sizes, 1, dtype, location);
}

Array Array::full(const IndexList& sizes, Number value, DType dtype, SourceLocation location) {
  return empty(sizes, dtype, location).fill(value, location);
}

Array Array::arange(int64_t end, DType dtype, SourceLocation location) {
  if (end < 0) fail(location, "arange({}): the end is before 0", end);
  Array result = empty({end}, dtype, location);
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    T* elements = static_cast<T*>(result.data_);
    for (int64_t i = 0; i < end; ++i) elements[i] = convert_element<T>(i);
  });
  return result;
}

Array Array::arange(double begin, double end, double step, DType dtype, SourceLocation location) {
  double count = std::ceil((end - begin) / step);
  if (!(step != 0 && count >= 0 && count < 0x1p62))
    fail(location, "arange({}, {}, {}): the step does not lead from the begin to the end", begin, end, step);
  Array result = empty({int64_t(count)}, dtype, location);
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    T* elements = static_cast<T*>(result.data_);
    for (int64_t i = 0; i < int64_t(count); ++i) elements[i] = convert_element<T>(begin + double(i) * step);
  });
  return result;
}

} // namespace tilewright
