// tw::Tensor, stores, and tw::empty.
#include "frontend/dsl_dynamic.h"
#include "frontend/recording.h"

#include "support/error.h"

namespace tilewright {

using detail::Handle;
using detail::Recording;

static const Recording::TensorEntry& entry_of(const Tensor& tensor, const SourceLocation& location) {
  Recording& recording = Recording::require(location, "a tw::Tensor");
  recording.at(location);
  return recording.tensor(tensor.handle());
}

Tensor::Tensor(const Array& captured, SourceLocation location) {
  Recording& recording = Recording::require(location, "a captured tw::Array as a tw::Tensor");
  recording.at(location);
  handle_ = recording.hidden_argument(captured);
}

int Tensor::rank(SourceLocation location) const { return static_cast<int>(entry_of(*this, location).dims.size()); }
DType Tensor::dtype(SourceLocation location) const { return entry_of(*this, location).dtype; }

Size Tensor::size(int dim, SourceLocation location) const {
  const auto& dims = entry_of(*this, location).dims;
  int rank = static_cast<int>(dims.size());
  if (dim < -rank || dim >= rank)
    fail(location, "there is no dimension {} in a tensor of rank {}; they go from {} to {}", dim, rank, -rank,
         rank - 1);
  return Recording::current()->size(dims[dim < 0 ? dim + rank : dim]);
}

void Tensor::check_rank(size_t expected, const SourceLocation& location) const {
  int found = rank(location);
  if (static_cast<size_t>(found) != expected)
    fail(location, "sizes<{}>() of a tensor of rank {}; pass an array of {} dimension{}, or write sizes<{}>()",
         expected, found, expected, expected == 1 ? "" : "s", found);
}

// One integer of an argument may be a bound of an outermost loop; nothing else is read on the host.
static Handle read_bound(Recording& recording, const Handle& tensor, const Place& place,
                         const SourceLocation& location) {
  bool is_bound =
      place.dims.empty() && llvm::isa<mlir::BlockArgument>(place.array) && is_integral(recording.tensor(tensor).dtype);
  if (!is_bound) recording.device(location, "reading or writing a tensor");
  return recording.new_host_read(recording.at(location).load(place), location);
}

Value detail::load_bound(const Tensor& x, std::span<const TensorIndex> subscripts, const SourceLocation& location) {
  Recording& recording = Recording::require(location, "reading a tensor");
  if (!recording.before_loops()) return load(x, subscripts, {}, location);
  recording.at(location);
  return Value(read_bound(recording, x.handle(), recording.place(x.handle(), subscripts), location));
}

TensorAccess Tensor::access(std::initializer_list<TensorIndex> list) const {
  const SourceLocation& location = list.begin()->location();
  Recording& recording = Recording::require(location, "x[...]");
  const bool on_host = recording.before_loops();
  Builder& builder = on_host ? recording.at(location) : recording.device(location, "reading or writing a tensor");
  Place place = recording.place(handle_, {list.begin(), list.size()});
  if (on_host) {
    Handle read = read_bound(recording, handle_, place, location);
    return TensorAccess(Value(read), recording.new_place(std::move(place)));
  }
  mlir::Value loaded = builder.load(place);
  return TensorAccess(Value(recording.new_variable(loaded)), recording.new_place(std::move(place)));
}

void TensorAccess::store(const Operand& value) const {
  Recording& recording = Recording::require(value.location(), "a store");
  const SourceLocation& where = value.location().known() ? value.location() : recording.place_location(place_);
  Builder& builder = recording.device(where, "a store");
  recording.check_place(place_);
  Term stored = recording.term(value);
  builder.store(recording.place(place_), stored);
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

SizeList::SizeList(std::initializer_list<Size> sizes) {
  if (sizes.size() > kMost) fail("a tensor has at most {} dimensions, found {}", kMost, sizes.size());
  for (const Size& size : sizes) sizes_[count_++] = size;
}

static Tensor allocate(const char* what, llvm::ArrayRef<Dim> dims, DType dtype, const SourceLocation& location) {
  Recording& recording = Recording::require(location, what);
  Builder& builder = recording.host(location, what);
  llvm::SmallVector<DimAttr> attributes;
  for (const Dim& dim : dims) {
    if (!builder.dimensions.holds(Guard::Kind::LessEqual, Dim(0), dim))
      builder.fail("{} with a size of {}", what, *builder.dimensions.value(dim));
    // Whether a size is 1 is part of the kernel's identity.
    bool is_one = builder.dimensions.holds(Guard::Kind::Equal, dim, Dim(1));
    attributes.push_back(DimAttr::get(builder.context(), is_one ? Dim(1) : dim));
  }
  auto type = ArrayType::get(array_element_of(dtype, builder.context()), attributes);
  return Tensor(recording.new_tensor(builder.ir.create<EmptyOp>(builder.location(), type, mlir::TypedAttr()), dtype));
}

Tensor Tensor::fill(const Operand& value, SourceLocation location) const {
  Recording& recording = Recording::require(location, "fill()");
  Builder& builder = recording.host(location, "fill()");
  const Recording::TensorEntry& entry = recording.tensor(handle_);
  auto allocation = entry.array.getDefiningOp<EmptyOp>();
  if (!allocation)
    builder.fail(
        "fill() is for tensors that tw::empty made; an argument is stored to in a tile loop, as in x[tile] = 0");
  Term number = recording.term(value);
  if (!number.is_literal())
    builder.fail("fill() takes a number known while recording, found {}; store other values in a tile loop",
                 builder.describe(number));
  mlir::Type element = mlir::cast<ArrayType>(entry.array.getType()).getElementType();
  if (llvm::isa<mlir::FloatType>(element))
    allocation.setFillAttr(builder.ir.getFloatAttr(element, number.as_double()));
  else if (number.kind == Term::Kind::real)
    builder.fail("fill({}) of a tensor of {}", number.real, name(entry.dtype));
  else
    allocation.setFillAttr(
        builder.ir.getIntegerAttr(element, element.isInteger(1) ? number.integer != 0 : number.integer));
  return *this;
}

Tensor empty(const SizeList& sizes, DType dtype, SourceLocation location) {
  Recording& recording = Recording::require(location, "tw::empty");
  recording.at(location);
  llvm::SmallVector<Dim> dims;
  for (int i = 0; i < sizes.size(); ++i) dims.push_back(recording.dim(sizes[i]));
  return allocate("tw::empty", dims, dtype, location);
}

Tensor empty_like(const Tensor& tensor, SourceLocation location) {
  return empty_like(tensor, tensor.dtype(location), location);
}
Tensor empty_like(const Tensor& tensor, DType dtype, SourceLocation location) {
  auto dims = entry_of(tensor, location).dims;
  return allocate("tw::empty_like", dims, dtype, location);
}

} // namespace tilewright
