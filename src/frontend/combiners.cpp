// tile.combine and tile.scan: combiners of the user, and what the language builds from them.
#include "frontend/expression.h"
#include "frontend/extrema.h"
#include "ir/context.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright {

//===----------------------------------------------------------------------===//
// Any combiner
//===----------------------------------------------------------------------===//

// The combiner's block; the scalars of two lanes are its arguments. While `body` runs, it is what the builder writes.
static std::unique_ptr<Block> combiner_block(Builder& builder, ValueRange sources, CombinerBody body) {
  struct Scope {
    Builder& builder;
    Scope(Builder& builder, Block* block) : builder(builder) { builder.open_scope(block); }
    ~Scope() { builder.close_scope(); }
  };
  auto block = std::make_unique<Block>();
  Location location = builder.location();
  for (int side = 0; side < 2; ++side)
    for (Value source : sources)
      builder.mark_like(block->addArgument(element_type(source.getType()), location), source);
  Scope scope(builder, block.get());
  ValueRange arguments = block->getArguments();
  SmallVector<Value> results = body(arguments.take_front(sources.size()), arguments.drop_front(sources.size()));
  for (Operation& op : *block) {
    bool scalars = llvm::none_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if (scalars && isMemoryEffectFree(&op) && op.getNumRegions() == 0) continue;
    if (SourceLocation line = source_location(op.getLoc()); line.known()) builder.at(line);
    builder.fail(
        "a combiner computes with scalars only: it may not read or write tensors, hold loops or tw::if_, or use "
        "values of rank 1 or more; do that before, and use the scalars that come of it");
  }
  builder.ir.create<YieldOp>(location, results);
  return block;
}

SmallVector<Value> Builder::combine(ValueRange given, ValueRange other, int64_t dim, CombinerBody body) {
  SmallVector<Value> sources;
  for (auto [source, filling] : llvm::zip(given, other)) sources.push_back(filled(source, filling));
  std::unique_ptr<Block> block = combiner_block(*this, sources, body);
  SmallVector<Type> types;
  for (Value source : sources) {
    SmallVector<Dim> dims = dims_of(source);
    dims.erase(dims.begin() + dim);
    types.push_back(value_type(element_type(source.getType()), dims));
  }
  auto op = ir.create<CombineOp>(location_, types, sources, other, Value(), dim);
  op.getCombiner().push_back(block.release());
  for (auto [result, source] : llvm::zip(op.getResults(), sources))
    if (is_unsigned(source)) mark_unsigned(result);
  return op.getResults();
}

SmallVector<Value> Builder::scan(ValueRange sources, int64_t dim, bool reverse, CombinerBody body) {
  // Elements that a row lacks come last in it, where a scan from its begin does not see them.
  SmallVector<Dim> dims = dims_of(sources[0]);
  bool along_tile = llvm::any_of(jagged_, [&](const JaggedTile& jagged) { return jagged.extent == dims[dim]; });
  if (!jagged_.empty() && (reverse || !along_tile) && jagged_mask(dims))
    fail("a scan over a jagged tile goes along its rows, from their begin");
  std::unique_ptr<Block> block = combiner_block(*this, sources, body);
  auto op = ir.create<ScanOp>(location_, TypeRange(sources), sources, Value(), dim, reverse);
  op.getCombiner().push_back(block.release());
  for (auto [result, source] : llvm::zip(op.getResults(), sources))
    if (is_unsigned(source)) mark_unsigned(result);
  return op.getResults();
}

SmallVector<Value> Builder::combiner_sources(const char* name, ArrayRef<Term> sources) {
  SmallVector<Dim> dims = common_dims(sources, name);
  if (dims.empty()) fail("{} takes values of rank 1 or more, found {}", name, describe(sources[0]));
  SmallVector<Value> values;
  for (const Term& source : sources) values.push_back(broadcast(cast(source, dtype(source)), dims));
  return values;
}

Value Builder::keep_dims(Value value, ArrayRef<int64_t> dims) {
  SmallVector<Dim> shape = dims_of(value);
  Type element = element_type(value.getType());
  for (int64_t dim : dims) {
    shape.insert(shape.begin() + dim, Dim(1));
    value = ir.create<ExpandDimsOp>(location_, value_type(element, shape), value, dim);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Extrema with their index
//===----------------------------------------------------------------------===//

// Whether `b` is to be taken and not `a`: the larger (or smaller) one, where NaN is both the largest and the smallest.
// Of equal ones, NaN among them, `on_tie`.
static Value takes_right(Builder& builder, bool largest, Value left, Value right, Value on_tie) {
  Expression a{&builder, left}, b{&builder, right}, tie{&builder, on_tie};
  Expression better = largest ? b > a : b < a;
  Expression equal = b == a;
  auto logical_or = [](Expression x, Expression y) { return x.make<arith::OrIOp>(x.value, y.value); };
  if (a.is_float()) {
    Expression a_is_nan = a != a, b_is_nan = b != b;
    better = logical_or(better, b_is_nan & (a_is_nan ^ a.everywhere(true)));
    equal = logical_or(equal, a_is_nan & b_is_nan);
  }
  return logical_or(better, equal & tie).value;
}

// The last thing that any lane beats: it takes no part where there are lanes.
static Value worst(Builder& builder, bool largest, Type element) {
  TypedAttr least = neutral_element(largest ? Reduction::Max : Reduction::Min, element);
  return builder.constant(least);
}

std::pair<Value, Value> Builder::arg_extremum(const char* name, bool largest, const Term& x, std::optional<int> dim,
                                              bool keepdim) {
  if (is_storage_dtype(dtype(x))) {
    auto [value, index] = arg_extremum(name, largest, widened(x), dim, keepdim);
    return {cast(value, dtype(x)), index};
  }
  SmallVector<int64_t> over = normal_dims(dim ? ArrayRef<int>(*dim) : ArrayRef<int>(), rank(x), name);
  require_elements(*this, name, x, over);
  Value value = dtype(x) == DType::boolean ? cast(x, DType::int32) : x.value;
  SmallVector<Dim> dims = dims_of(value);

  // The index of each lane: along one dimension, or in row-major order of all.
  Value index;
  Dim stride(1);
  for (int64_t d : llvm::reverse(over)) {
    if (d != over.front() && !dimensions.value(dims[d]))
      fail("{} of {} without a dimension: an index in row-major order needs whole dimensions after the first; give it "
           "a dimension",
           name, describe(x));
    Value numbers = lane_numbers(dims[d]);
    if (!(stride == Dim(1))) {
      Value step = splat_like(cast(extent(stride), DType::int32), numbers);
      numbers = ir.create<arith::MulIOp>(location_, numbers, step);
    }
    numbers = along(numbers, dims, d);
    index = index ? Value(ir.create<arith::AddIOp>(location_, index, numbers)) : numbers;
    stride = stride * dims[d];
  }

  Type element = element_type(value.getType());
  Value none = worst(*this, largest, element);
  Value last = constant(ir.getI32IntegerAttr(std::numeric_limits<int32_t>::max()));
  SmallVector<Value> found{value, index};
  for (int64_t d : llvm::reverse(over))
    found = combine(found, {none, last}, d, [&](ValueRange left, ValueRange right) -> SmallVector<Value> {
      Value lower = ir.create<arith::CmpIOp>(location_, arith::CmpIPredicate::slt, right[1], left[1]);
      Value right_wins = takes_right(*this, largest, left[0], right[0], lower);
      return {ir.create<arith::SelectOp>(location_, right_wins, right[0], left[0]),
              ir.create<arith::SelectOp>(location_, right_wins, right[1], left[1])};
    });
  if (keepdim)
    for (Value& result : found) result = keep_dims(result, over);
  return {cast(found[0], dtype(x)), cast(found[1], DType::int64)};
}

//===----------------------------------------------------------------------===//
// Scans of the language
//===----------------------------------------------------------------------===//

Value Builder::cumulate(Reduction kind, const Term& given, int dim) {
  const Term x = widened(given);
  bool adds = kind == Reduction::Add;
  int64_t along = normal_dims({dim}, rank(x), adds ? "tw::cumsum" : "tw::cumprod")[0];
  DType own = dtype(x), wide = accumulation_dtype(own);
  // PyTorch accumulates float32 in float64, where no step rounds.
  if (own == DType::float32 && adds) return running_sum(x.value, along);
  if (own == DType::float32) wide = DType::float64;
  Value result = scan(cast(x, wide), along, false, [&](ValueRange left, ValueRange right) -> SmallVector<Value> {
    Expression a{this, left[0]}, b{this, right[0]};
    return {(adds ? a + b : a * b).value};
  })[0];
  return cast(result, is_floating_point(own) ? own : wide);
}

// Beside each sum what its roundings lost, which is exactly known (Knuth, The Art of Computer Programming, volume 2,
// section 4.2.2, theorem B).
Value Builder::running_sum(Value value, int64_t along) {
  auto parts =
      scan({value, number_like(0, value)}, along, false, [&](ValueRange left, ValueRange right) -> SmallVector<Value> {
        Expression a{this, left[0]}, b{this, right[0]};
        Expression sum = a + b, of_b = sum - a;
        Expression lost = (a - (sum - of_b)) + (b - of_b);
        return {sum.value, (Expression{this, left[1]} + Expression{this, right[1]} + lost).value};
      });
  Expression sum{this, parts[0]}, lost{this, parts[1]};
  return select(lost == lost, sum + lost, sum).value; // where the sum is infinite, what was lost is no number
}

std::pair<Value, Value> Builder::cumulate_extremum(bool largest, const Term& x, int dim) {
  if (is_storage_dtype(dtype(x))) {
    auto [value, index] = cumulate_extremum(largest, widened(x), dim);
    return {cast(value, dtype(x)), index};
  }
  int64_t over = normal_dims({dim}, rank(x), largest ? "tw::cummax" : "tw::cummin")[0];
  bool is_bool = dtype(x) == DType::boolean;
  Value value = is_bool ? cast(x, DType::int32) : x.value;
  SmallVector<Dim> dims = dims_of(value);
  Value index = along(lane_numbers(dims[over]), dims, over);
  auto results = scan({value, index}, over, false, [&](ValueRange left, ValueRange right) -> SmallVector<Value> {
    Value right_wins = takes_right(*this, largest, left[0], right[0], constant(ir.getBoolAttr(true)));
    return {ir.create<arith::SelectOp>(location_, right_wins, right[0], left[0]),
            ir.create<arith::SelectOp>(location_, right_wins, right[1], left[1])};
  });
  return {is_bool ? cast(results[0], DType::boolean) : results[0], cast(results[1], DType::int64)};
}

} // namespace tilewright
