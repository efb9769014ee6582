// Reshaping, repeating, joining and taking apart values.
#include "frontend/expression.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {

//===----------------------------------------------------------------------===//
// Reshaping
//===----------------------------------------------------------------------===//

static Dim elements_of(ArrayRef<Dim> dims) {
  Dim result(1);
  for (const Dim& dim : dims) result = result * dim;
  return result;
}

// Whether a dimension is a tile's. Of a loop whose block size is a number it is that number, but so are others: joined
// values have one of 2.
static bool is_tile(const Dimensions& dimensions, const Dim& dim, bool or_number) {
  return !dimensions.value(dim) || (or_number && dim.constant() && !dim.is_one());
}

// Whether between each two dimensions of tiles, which are the same on both sides, stand as many elements.
static bool tiles_stay(const Dimensions& dimensions, ArrayRef<Dim> from, ArrayRef<Dim> to, bool or_numbers) {
  auto segments = [&](ArrayRef<Dim> dims) {
    SmallVector<std::pair<Dim, int64_t>> list{{Dim(0), 1}}; // a tile's dimension, and how many elements follow it
    for (const Dim& dim : dims) {
      if (is_tile(dimensions, dim, or_numbers))
        list.emplace_back(dim, 1);
      else
        list.back().second *= *dimensions.value(dim);
    }
    return list;
  };
  return segments(from) == segments(to);
}

// The order of dimensions that has the tiles' first, and the one that takes it back.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>> tiles_before_others(const Dimensions& dimensions,
                                                                                 ArrayRef<Dim> dims, bool or_numbers) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size())), back(dims.size());
  std::stable_partition(order.begin(), order.end(),
                        [&](int64_t dim) { return is_tile(dimensions, dims[dim], or_numbers); });
  for (auto [position, dim] : llvm::enumerate(order)) back[dim] = position;
  return {order, back};
}

Value Builder::transposed(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation)) return value;
  SmallVector<Dim> from = dims_of(value);
  auto to = llvm::map_to_vector(permutation, [&](int64_t dim) { return from[dim]; });
  return ir.create<TransposeOp>(location_, value_type(element_type(value.getType()), to), value, permutation);
}

Value Builder::reshape(const char* name, const Term& x, ArrayRef<Dim> dims) {
  if (rank(x) == 0 && dims.empty()) return unify({x}, dtype(x), name)[0];
  Value value = cast(x, dtype(x));
  SmallVector<Dim> from = dims_of(value), to(dims);
  auto refuse = [&](const char* why) { fail("{} of {} to {}: {}", name, describe(x), dimensions.describe(dims), why); };
  // What both have in common cancels out; the rest are numbers, or the one open dimension is all of it.
  SmallVector<Dim> rest(from);
  std::optional<size_t> open;
  SmallVector<Dim> wanted;
  for (auto [i, dim] : llvm::enumerate(to)) {
    if (dim == Dim(-1)) {
      if (open) refuse("only one dimension may be -1");
      open = i;
    } else if (auto* found = llvm::find(rest, dim); found != rest.end()) {
      rest.erase(found);
    } else {
      wanted.push_back(dim);
    }
  }
  // What merges or splits is of known length.
  for (ArrayRef<Dim> changed : {ArrayRef<Dim>(rest), ArrayRef<Dim>(wanted)})
    for (const Dim& dim : changed)
      if (from != to && dimensions.value(dim)) dimensions.settled(dim);
  std::optional<int64_t> left = dimensions.value(elements_of(rest)), right = dimensions.value(elements_of(wanted));
  if (open && !left && wanted.empty()) {
    to[*open] = elements_of(rest);
  } else {
    if (!left || !right)
      refuse("the elements of a tile's dimension stay together; what merges or splits must be whole dimensions");
    if (open) {
      if (*right == 0 || *left % *right != 0) refuse("the elements do not divide by the sizes given");
      to[*open] = dimensions.whole(wanted.empty() ? dimensions.in_sizes(elements_of(rest)) : Dim(*left / *right));
    } else if (*left != *right) {
      refuse("they have different numbers of elements");
    }
  }
  if (from == to) return value;
  if (from.empty()) { // one element, under dimensions of 1
    SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, to.size()));
    return keep_dims(value, all);
  }
  if (to.empty()) // all are of 1
    return reduce(Reduction::Add, value, llvm::to_vector(llvm::seq<int64_t>(0, from.size())), false);
  if (!tiles_stay(dimensions, from, to, false))
    refuse("the elements of a tile's dimension stay together; what merges or splits must be whole dimensions");
  // Dimensions of known length are numbers that no one sees in their names: they merge and split at the end, after the
  // tiles', where it shows that nothing else changes.
  const bool numbers_stay = tiles_stay(dimensions, from, to, true);
  auto [tiles_first, whole_after] = tiles_before_others(dimensions, from, numbers_stay);
  auto [result_tiles_first, result_whole_after] = tiles_before_others(dimensions, to, numbers_stay);
  Value sorted = transposed(value, tiles_first);
  SmallVector<Dim> between = llvm::map_to_vector(result_tiles_first, [&](int64_t dim) { return to[dim]; });
  Value changed = sorted;
  if (dims_of(sorted) != between)
    changed = ir.create<ReshapeOp>(location_, value_type(element_type(value.getType()), between), sorted);
  return transposed(changed, result_whole_after);
}

Value Builder::flatten(const Term& x, int first, int last) {
  SmallVector<Dim> from = x.is_literal() ? SmallVector<Dim>() : dims_of(x.value);
  if (from.empty()) return reshape("tw::flatten", x, {Dim(1)});
  int64_t begin = normal_dim(first, from.size()), end = normal_dim(last, from.size()) + 1;
  if (begin >= end) fail("tw::flatten from dimension {} to {}, which is before it", begin, end - 1);
  SmallVector<Dim> to{ArrayRef<Dim>(from).take_front(begin)};
  Dim merged = elements_of(ArrayRef<Dim>(from).slice(begin, end - begin));
  to.push_back(dimensions.value(merged) ? dimensions.whole(dimensions.in_sizes(merged)) : merged);
  llvm::append_range(to, ArrayRef<Dim>(from).drop_front(end));
  return reshape("tw::flatten", x, to);
}

Value Builder::squeeze(const Term& x, ArrayRef<int> dims) {
  int64_t rank = this->rank(x);
  if (rank == 0) return unify({x}, dtype(x), "tw::squeeze")[0];
  SmallVector<int64_t> asked = normal_dims(dims, rank, "tw::squeeze");
  SmallVector<Dim> to;
  for (auto [i, dim] : llvm::enumerate(dims_of(x.value)))
    if (!dim.is_one() || !llvm::is_contained(asked, static_cast<int64_t>(i))) to.push_back(dim);
  return reshape("tw::squeeze", x, to);
}

//===----------------------------------------------------------------------===//
// Repeating
//===----------------------------------------------------------------------===//

// A value that changes nothing where it is combined by `joined`.
static Expression joined(Expression value, Expression neutral) {
  return value.is_float() ? value * neutral : value.is_bool() ? value & neutral : value + neutral;
}

Value Builder::expand(const char* name, const Term& x, ArrayRef<Dim> dims, ArrayRef<Value> tiles) {
  Value value = cast(x, dtype(x));
  SmallVector<Dim> from = dims_of(value), to(dims);
  auto refuse = [&] {
    fail("{} of {} to {}: only a dimension of size 1 repeats", name, describe(x), dimensions.describe(dims));
  };
  if (from.size() > to.size()) refuse();
  size_t added = to.size() - from.size();
  bool repeats_tile = false;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == Dim(-1)) {
      if (i < added) fail("{} of {}: a new dimension needs a size, found -1", name, describe(x));
      to[i] = from[i - added];
    }
    bool repeats = i < added || from[i - added] != to[i];
    if (repeats && i >= added && !from[i - added].is_one()) refuse();
    repeats_tile |= repeats && tiles[i];
  }
  Value result = broadcast(value, to);
  if (!repeats_tile) return result;
  // Along a tile, only the lanes that the tile has are to exist.
  Expression repeated{this, result};
  Term neutral = repeated.is_float() ? Term::real_literal(1) : Term::integer_literal(repeated.is_bool());
  SmallVector<Value> limits(to.size());
  for (size_t i = 0; i < to.size(); ++i)
    if (i < added || from[i - added] != to[i]) limits[i] = tiles[i];
  // Only the tiles' dimensions, so that nothing is said of the others.
  SmallVector<Dim> limited(to);
  for (size_t i = 0; i < to.size(); ++i)
    if (!limits[i]) limited[i] = Dim(1);
  Value ones = broadcast(full(limited, limits, neutral, dtype(x)), to);
  return joined(repeated, Expression{this, ones}).value;
}

//===----------------------------------------------------------------------===//
// Joining and taking apart
//===----------------------------------------------------------------------===//

Value Builder::pick(Value source, Value indices, int64_t dim) {
  Type type = value_type(element_type(source.getType()), dims_of(indices));
  return ir.create<TakeOp>(location_, type, source, indices, dim);
}

int64_t Builder::whole_length(const char* name, const Term& x, int64_t dim) {
  Dim length = dims_of(x.value)[dim];
  if (!dimensions.value(length))
    fail("{} along dimension {} of {}: a tile may end early, so it takes a whole dimension, or one of known size", name,
         dim, describe(x));
  return dimensions.settled(length);
}

Value Builder::piece(const char* name, const Term& x, int64_t dim, int64_t begin, int64_t length) {
  if (begin == 0 && length == whole_length(name, x, dim)) return x.value;
  SmallVector<Dim> dims = dims_of(x.value);
  dims[dim] = dimensions.whole(Dim(length));
  Expression numbers{this, lane_numbers(dims[dim])};
  return pick(x.value, along((numbers + static_cast<double>(begin)).value, dims, dim), dim);
}

Value Builder::stack(const char* name, ArrayRef<Term> values, int dim) {
  if (values.empty()) fail("{} of no values", name);
  DType dtype = promoted(values);
  SmallVector<Dim> dims = common_dims(values, name);
  for (const Term& value : values)
    if (rank(value) != static_cast<int64_t>(dims.size()) || (!dims.empty() && dims_of(value.value) != dims))
      fail("{} takes values of one shape, found {} and {}", name, describe(values[0]), describe(value));
  int64_t at = normal_dim(dim, dims.size() + 1);
  SmallVector<Dim> to(dims);
  to.insert(to.begin() + at, dimensions.whole(Dim(values.size())));
  Expression number{this, along(lane_numbers(to[at]), to, at)};
  auto repeated = [&](const Term& value) { return Expression{this, broadcast(keep_dims(cast(value, dtype), at), to)}; };
  Expression result = repeated(values.back());
  for (size_t i = values.size() - 1; i-- > 0;)
    result = select(number == static_cast<double>(i), repeated(values[i]), result);
  return result.value;
}

Value Builder::cat(ArrayRef<Term> values, int dim) {
  if (values.empty()) fail("tw::cat of no values");
  DType dtype = promoted(values);
  int64_t rank = this->rank(values[0]), at = normal_dim(dim, rank);
  int64_t total = 0;
  for (const Term& value : values) {
    SmallVector<Dim> first = dims_of(values[0].value);
    SmallVector<Dim> dims = value.is_literal() ? SmallVector<Dim>() : dims_of(value.value);
    if (this->rank(value) == rank) first[at] = dims[at];
    if (dims != first)
      fail("tw::cat takes values that agree but along dimension {}, found {} and {}", at, describe(values[0]),
           describe(value));
    total += whole_length("tw::cat", value, at);
  }
  SmallVector<Dim> to = dims_of(values[0].value);
  to[at] = dimensions.whole(Dim(total));
  Expression number{this, along(lane_numbers(to[at]), to, at)};
  // From the back: each value stands before what was joined so far.
  std::optional<Expression> result;
  int64_t end = total;
  for (const Term& value : llvm::reverse(values)) {
    int64_t length = whole_length("tw::cat", value, at), begin = end - length;
    end = begin;
    if (length == 0 && (result || begin > 0)) continue;
    Expression index = minimum(maximum(number - static_cast<double>(begin), 0.0), static_cast<double>(length - 1));
    Expression picked{this, length == total ? cast(value, dtype) : pick(cast(value, dtype), index.value, at)};
    result = result ? select(number < static_cast<double>(begin + length), picked, *result) : picked;
  }
  return result->value;
}

Value Builder::flip(const Term& x, ArrayRef<int> dims) {
  SmallVector<int64_t> over = normal_dims(dims, rank(x), "tw::flip");
  Value value = x.value;
  SmallVector<Dim> shape = dims_of(value);
  for (int64_t dim : over) {
    int64_t length = whole_length("tw::flip", x, dim);
    Expression numbers{this, lane_numbers(shape[dim])};
    value = pick(value, along((static_cast<double>(length - 1) - numbers).value, shape, dim), dim);
  }
  return value;
}

Value Builder::gather(const Term& x, int dim, const Term& index) {
  int64_t along = normal_dims({dim}, rank(x), "tw::gather")[0];
  if (rank(index) != rank(x) || !is_integral(dtype(index)))
    fail("the index of tw::gather is of integers and of the value's rank, found {} for {}{}", describe(index),
         describe(x), is_integral(dtype(index)) ? "" : "; convert it with .to(tw::int64)");
  SmallVector<Dim> wanted = dims_of(x.value);
  wanted[along] = dims_of(index.value)[along];
  if (dims_of(index.value) != wanted)
    fail("the index of tw::gather agrees with the value but along dimension {}, found {} for {}", along,
         describe(index), describe(x));
  return pick(x.value, widened(index).value, along);
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

// The dtype whose order decides: one that holds all numbers of the value's, and that tile.sort knows.
static DType key_dtype(DType dtype) {
  if (is_floating_point(dtype)) return dtype == DType::float64 ? dtype : DType::float32;
  return dtype == DType::int64 ? dtype : DType::int32;
}

std::pair<Value, Value> Builder::sort(const char* name, const Term& x, int dim, bool descending) {
  int64_t along = normal_dims({dim}, rank(x), name)[0];
  whole_length(name, x, along);
  Value keys = cast(x, key_dtype(dtype(x)));
  if (keys.getType().isIndex()) keys = cast_value(keys, ir.getI64Type());
  Value order = ir.create<SortOp>(location_, value_type(ir.getI64Type(), dims_of(keys)), keys, along, descending);
  return {pick(x.value, order, along), order};
}

std::pair<Value, Value> Builder::topk(const Term& x, int64_t count, int dim, bool largest) {
  int64_t along = normal_dims({dim}, rank(x), "tw::topk")[0];
  int64_t length = whole_length("tw::topk", x, along);
  if (count < 0 || count > length) fail("tw::topk of {} among {} elements of {}", count, length, describe(x));
  Value order = piece("tw::topk", sort("tw::topk", x, dim, largest).second, along, 0, count);
  return {pick(x.value, order, along), order};
}

} // namespace tilewright
