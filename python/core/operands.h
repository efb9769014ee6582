// Handles of a recording as Python objects, and what of Python is taken where the C++ DSL takes operands, subscripts,
// shapes and dtypes. All conversions throw Error at the given line where an object is none of those.
#pragma once

#include "python/core/errors.h"

#include "tilewright/index_list.h"
#include "tilewright/ops.h"
#include "tilewright/tensor.h"
#include "tilewright/tile.h"
#include "tilewright/value.h"

#include <nanobind/nanobind.h>

#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace tilewright::python {

/// A device value that never changes. tw::Value is a variable, whose copies record; this is its handle alone.
struct DeviceValue {
  detail::Handle handle;

  DeviceValue(detail::Handle handle) : handle(handle) {}
  DeviceValue(const Value& value) : handle(value.variable()) {}
  Value value() const { return Value(handle); }
};

/// A name of the user's program; the recording knows it by the address of the handle in it.
struct Variable {
  Value value;
};

/// "begin : begin + length".
struct SliceFrom {
  nb::object begin, length;
};

/// Strides of the arguments of this thread's recording; a tensor of which none are noted is contiguous.
void note_strides(const Tensor& argument, std::span<const int64_t> strides);
void forget_strides();

Operand operand_of(nb::handle object, const SourceLocation& location);
std::vector<Operand> operands_of(nb::handle sequence, const SourceLocation& location);

/// A whole number on the host: an int or a Size.
Size size_of(nb::handle object, const SourceLocation& location);
/// Throws where it does not fit.
int int_of(nb::handle object, const SourceLocation& location);
DType dtype_of_name(nb::handle name, const SourceLocation& location);
nb::object name_of_dtype(DType dtype);

/// A sequence of tiles, sizes and block sizes.
Shape shape_of(nb::handle sequence, const SourceLocation& location);
/// None, an int or a sequence of ints.
Dims dims_of(nb::handle object, const SourceLocation& location);

/// Subscripts, and what they refer to.
class Subscripts {
public:
  Subscripts(nb::handle sequence, const SourceLocation& location);
  std::span<const TensorIndex> list() const { return list_; }

private:
  void add(nb::handle object, const SourceLocation& location);

  std::deque<Tile> tiles_;
  std::deque<Slice> slices_;
  std::vector<TensorIndex> list_;
};

/// "a tuple", for messages.
std::string class_name(nb::handle object);

/// Calls `use` with an initializer list of the vector's elements, of which there are at most 8.
template <class T, class Use> auto with_list(const std::vector<T>& v, Use&& use) {
  switch (v.size()) {
  case 0: return use(std::initializer_list<T>{});
  case 1: return use({v[0]});
  case 2: return use({v[0], v[1]});
  case 3: return use({v[0], v[1], v[2]});
  case 4: return use({v[0], v[1], v[2], v[3]});
  case 5: return use({v[0], v[1], v[2], v[3], v[4]});
  case 6: return use({v[0], v[1], v[2], v[3], v[4], v[5]});
  case 7: return use({v[0], v[1], v[2], v[3], v[4], v[5], v[6]});
  default: return use({v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]});
  }
}

void bind_operands(nb::module_& module);

} // namespace tilewright::python
