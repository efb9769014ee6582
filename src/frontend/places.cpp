// Subscripts of tensors: what a list of them comes to.
#include "frontend/builder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright {

using Kind = SubscriptTerm::Kind;

static void add_subscript(Place& place, Subscript kind, Value index = {}) {
  place.kinds.push_back(static_cast<int32_t>(kind));
  if (index) place.indices.push_back(index);
}

// Wholes in place of `...`, so that there is one subscript for each dimension of the array, besides new axes.
static SmallVector<SubscriptTerm> complete(const Builder& builder, ArrayRef<SubscriptTerm> subscripts, int64_t rank) {
  auto takes_dimension = [](const SubscriptTerm& s) { return s.kind != Kind::new_axis && s.kind != Kind::ellipsis; };
  int64_t given = llvm::count_if(subscripts, takes_dimension);
  if (given > rank) builder.fail("{} subscripts for a tensor of rank {}: it takes one for each dimension", given, rank);
  if (llvm::count_if(subscripts, [](const SubscriptTerm& s) { return s.kind == Kind::ellipsis; }) > 1)
    builder.fail("tw::ellipsis may stand once among the subscripts");
  SmallVector<SubscriptTerm> all;
  for (const SubscriptTerm& subscript : subscripts) {
    if (subscript.kind == Kind::ellipsis)
      all.append(rank - given, SubscriptTerm{Kind::whole});
    else
      all.push_back(subscript);
  }
  int64_t known = llvm::count_if(all, takes_dimension);
  all.append(rank - known, SubscriptTerm{Kind::whole});
  return all;
}

// Of a bound as Python reads it: negative ones count from the end, and beyond the ends is at the ends.
static Dim clipped(Builder& builder, const Dim& bound, const Dim& size) {
  Dimensions& dimensions = builder.dimensions;
  if (!dimensions.value(bound)) return bound; // a block size
  if (dimensions.holds(Guard::Kind::Less, bound, Dim(0)))
    return dimensions.holds(Guard::Kind::Less, size + bound, Dim(0)) ? Dim(0) : size + bound;
  return dimensions.holds(Guard::Kind::Less, size, bound) ? size : bound;
}

void Builder::add_slice(Place& place, const SubscriptTerm& slice, const Dim& size) {
  Value begin, end;
  Dim extent;
  if (slice.kind == Kind::slice_from) {
    std::optional<int64_t> length = dimensions.value(*slice.end);
    if (length && dimensions.holds(Guard::Kind::Less, *slice.end, Dim(0)))
      fail("a slice cannot have {} elements", *length);
    extent = *slice.end;
    if (slice.term.kind == Term::Kind::integer) {
      int64_t first = slice.term.integer, limit = *dimensions.value(size);
      if (first < 0) first += limit;
      Dim from = slice.term.integer < 0 ? size + Dim(slice.term.integer) : Dim(first);
      if (dimensions.holds(Guard::Kind::Less, from, Dim(0)) ||
          (length && dimensions.holds(Guard::Kind::Less, size, from + *slice.end)))
        fail("elements {} to {} are not all in a dimension of size {}", first, first + length.value_or(0), limit);
      begin = this->extent(from);
    } else {
      begin = index(slice.term, "the begin of a slice");
      if (!length) end = this->extent(size); // as long as a block, it may be longer than what is left
    }
  } else {
    Dim from = slice.begin ? clipped(*this, *slice.begin, size) : Dim(0);
    Dim to = slice.end ? clipped(*this, *slice.end, size) : size;
    extent = to - from;
    std::optional<int64_t> length = dimensions.value(extent);
    if (length && dimensions.holds(Guard::Kind::Less, extent, Dim(0))) extent = Dim(0);
    if (slice.step != 1) {
      if (!length) fail("a slice whose length is a block size takes every element: its step must be 1");
      extent = Dim(dimensions.result(Guard::Kind::CeilQuotient, extent, Dim(slice.step)));
    } else if (from == Dim(0) && to == size) {
      place.dims.push_back(dimensions.whole(size));
      add_subscript(place, Subscript::Whole);
      return;
    }
    begin = this->extent(from);
  }
  if (dimensions.value(extent)) extent = dimensions.whole(extent);
  place.dims.push_back(extent);
  if (slice.step == 1) {
    auto type = TileType::get(context(), DimAttr::get(context(), extent));
    add_subscript(place, Subscript::Tile, ir.create<SliceOp>(location_, type, begin, end));
    return;
  }
  // Every step-th element: their indices are computed, in a type that holds the dimension's.
  bool fits = dimensions.holds(Guard::Kind::LessEqual, size, Dim(std::numeric_limits<int32_t>::max()));
  Value numbers = cast(lane_numbers(extent), fits ? DType::int32 : DType::int64);
  Value step = splat_like(scalar(Term::integer_literal(slice.step), element_type(numbers.getType())), numbers);
  Value first = splat_like(cast_value(begin, element_type(numbers.getType())), numbers);
  Value scaled = ir.create<arith::MulIOp>(location_, numbers, step);
  add_subscript(place, Subscript::Gather, ir.create<arith::AddIOp>(location_, scaled, first));
}

void Builder::add_indices(Place& place, ArrayRef<SubscriptTerm> run) {
  SmallVector<Term> tensors;
  for (const SubscriptTerm& subscript : run) {
    const Term& term = subscript.term;
    if (rank(term) == 0) continue;
    if (!is_integral(dtype(term)))
      fail("a tensor of indices must be of integers, found {}{}", describe(term),
           dtype(term) == DType::boolean ? "; elements are left out by a mask, in tw::load(x, {...}, {.extra_mask = m})"
                                         : "; convert it with .to(tw::int64)");
    tensors.push_back(term);
  }
  // Where one has several dimensions, all go together, element by element.
  bool together = llvm::any_of(tensors, [&](const Term& term) { return rank(term) > 1; });
  SmallVector<Dim> dims;
  if (together) dims = common_dims(tensors, "index tensors that stand side by side");
  bool first = true;
  for (const SubscriptTerm& subscript : run) {
    const Term& term = subscript.term;
    if (rank(term) == 0) {
      Dim size = mlir::cast<ArrayType>(place.array.getType()).getDims()[place.kinds.size()].dim();
      if (term.kind != Term::Kind::integer) {
        add_subscript(place, Subscript::Scalar, index(term, "a subscript"));
        continue;
      }
      int64_t length = *dimensions.value(size);
      Dim element = term.integer < 0 ? size + Dim(term.integer) : Dim(term.integer);
      if (dimensions.holds(Guard::Kind::Less, element, Dim(0)) || !dimensions.holds(Guard::Kind::Less, element, size))
        fail("index {} is out of range for dimension {} of size {}{}", term.integer, place.kinds.size(), length,
             length ? fmt::format("; it may be from {} to {}", -length, length - 1) : "");
      add_subscript(place, Subscript::Scalar, this->extent(element));
      continue;
    }
    Value own = widened(term).value;
    Value tensor = together ? broadcast(own, dims) : own;
    if (first || !together) llvm::append_range(place.dims, dims_of(tensor));
    add_subscript(place, first || !together ? Subscript::Gather : Subscript::GatherWith, tensor);
    first = false;
  }
}

Place Builder::place(Value array, ArrayRef<SubscriptTerm> subscripts,
                     llvm::function_ref<std::optional<Dim>(Value)> length) {
  auto type = mlir::cast<ArrayType>(array.getType());
  Place place;
  place.array = array;
  SmallVector<SubscriptTerm> all = complete(*this, subscripts, type.rank());
  auto is_index = [](const SubscriptTerm& subscript) { return subscript.kind == Kind::index; };
  bool had_joint = false; // index tensors that go together
  for (size_t i = 0; i < all.size();) {
    const SubscriptTerm& subscript = all[i];
    if (is_index(subscript)) {
      ArrayRef<SubscriptTerm> run = ArrayRef(all).drop_front(i).take_while(is_index);
      bool joint = llvm::any_of(run, [&](const SubscriptTerm& s) { return rank(s.term) > 1; });
      if (joint && had_joint)
        fail("index tensors of rank 2 or more must stand side by side, so that they go element by element");
      had_joint |= joint;
      add_indices(place, run);
      i += run.size();
      continue;
    }
    ++i;
    if (subscript.kind == Kind::new_axis) {
      place.new_axes.push_back(place.dims.size() + place.new_axes.size());
      continue;
    }
    Dim size = type.getDims()[place.kinds.size()].dim();
    switch (subscript.kind) {
    case Kind::whole:
      place.dims.push_back(dimensions.whole(size));
      add_subscript(place, Subscript::Whole);
      break;
    case Kind::tile: {
      Value tile = subscript.term.value;
      if (size.is_one()) {
        std::optional<Dim> indices = length(tile);
        bool several = indices && dimensions.holds(Guard::Kind::Less, Dim(1), *indices);
        if (!indices || several) place.repeated.push_back(place.dims.size());
        place.passes_end |= several;
      }
      place.dims.push_back(mlir::cast<TileType>(tile.getType()).getExtent().dim());
      add_subscript(place, Subscript::Tile, tile);
      break;
    }
    default: add_slice(place, subscript, size); break;
    }
  }
  return place;
}

} // namespace tilewright
