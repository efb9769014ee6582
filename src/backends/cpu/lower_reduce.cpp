// Reductions: vectors along a reduced dimension with several accumulators, or across rows where the contiguous
// dimension is kept.
#include "backends/cpu/fuse_reductions.h"
#include "backends/cpu/loop_lowering.h"
#include "support/planted_bug.h"

using namespace mlir;

namespace tilewright::cpu {

// The sign of a zero that is the largest or smallest is left open, as PyTorch leaves it.
static constexpr auto kAnyZero = arith::FastMathFlags::nsz;

Value LoopLowering::combine(Reduction kind, Value a, Value b, Location loc) {
  bool floating = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  bool boolean = getElementTypeOrSelf(a.getType()).isInteger(1);
  switch (kind) {
  case Reduction::Add:
    return floating ? make<arith::AddFOp>(loc, {a, b}, a, b) : make<arith::AddIOp>(loc, {a, b}, a, b);
  case Reduction::Mul:
    return floating ? make<arith::MulFOp>(loc, {a, b}, a, b) : make<arith::MulIOp>(loc, {a, b}, a, b);
  case Reduction::Max:
    if (boolean) return make<arith::OrIOp>(loc, {a, b}, a, b);
    if (planted(PlantedBug::nan_lost_in_maximum) && floating) {
      Value larger = make<arith::CmpFOp>(loc, {a, b}, arith::CmpFPredicate::OGT, a, b);
      return make<arith::SelectOp>(loc, {larger, a, b}, larger, a, b);
    }
    return floating ? make<arith::MaximumFOp>(loc, {a, b}, a, b, kAnyZero) : make<arith::MaxSIOp>(loc, {a, b}, a, b);
  case Reduction::Min:
    if (boolean) return make<arith::AndIOp>(loc, {a, b}, a, b);
    return floating ? make<arith::MinimumFOp>(loc, {a, b}, a, b, kAnyZero) : make<arith::MinSIOp>(loc, {a, b}, a, b);
  case Reduction::And: return make<arith::AndIOp>(loc, {a, b}, a, b);
  case Reduction::Or: return make<arith::OrIOp>(loc, {a, b}, a, b);
  }
  llvm_unreachable("unknown reduction");
}

static vector::CombiningKind combining_kind(Reduction kind, Type element) {
  bool floating = isa<FloatType>(element), boolean = element.isInteger(1);
  switch (kind) {
  case Reduction::Add: return vector::CombiningKind::ADD;
  case Reduction::Mul: return vector::CombiningKind::MUL;
  case Reduction::Max:
    return floating  ? vector::CombiningKind::MAXIMUMF
           : boolean ? vector::CombiningKind::OR
                     : vector::CombiningKind::MAXSI;
  case Reduction::Min:
    return floating  ? vector::CombiningKind::MINIMUMF
           : boolean ? vector::CombiningKind::AND
                     : vector::CombiningKind::MINSI;
  case Reduction::And: return vector::CombiningKind::AND;
  case Reduction::Or: return vector::CombiningKind::OR;
  }
  llvm_unreachable("unknown reduction");
}

bool LoopLowering::leave_to_reduction(Value kept) {
  ReduceOp reduce = reduction_to_fuse(kept, plan_);
  if (!reduce || !walks_same_lanes(reduce, kept)) return false;
  filled_[reduce] = kept;
  destinations_[kept] = destination_of(kept);
  return true;
}

static Value valid_lanes(ReduceOp reduce, int64_t dim) {
  for (auto [bounded, valid] : llvm::zip(reduce.getValidDims(), reduce.getValid()))
    if (bounded == dim) return valid;
  return {};
}

// A buffer has all lanes that its value has, and is filled row by row: so the reduction must not leave out lanes, and
// its vectors must run along a dimension that it reduces.
bool LoopLowering::walks_same_lanes(ReduceOp reduce, Value kept) {
  Value source = reduce.getSource();
  SmallVector<Value> filled = existing_lanes(kept), walked = existing_lanes(source);
  for (int64_t dim : reduce.getDims()) walked[dim] = valid_lanes(reduce, dim);
  if (filled != walked) return false;
  int rank = filled.size();
  int vector_dim = choose_vector_dim(source, SmallVector<bool>(rank, true), rank - 1);
  return vector_dim < 0 || llvm::is_contained(reduce.getDims(), vector_dim);
}

Value LoopLowering::reduced_lanes(ReduceOp reduce, ArrayRef<Lanes> at) {
  if (Value filled = filled_.lookup(reduce)) fill(destinations_.find(filled)->second, filled, at);
  return evaluate(reduce.getSource(), at);
}

void LoopLowering::lower_reduce(ReduceOp reduce) {
  auto type = cast<RankedTensorType>(reduce.getSource().getType());
  int rank = type.getRank();
  SmallVector<bool> reduced(rank, false), any(rank, true);
  for (int64_t dim : reduce.getDims()) reduced[dim] = true;
  SmallVector<NestDim> dims = dims_to_walk(reduce.getSource());
  for (int dim = 0; dim < rank; ++dim)
    if (reduced[dim]) dims[dim].bound = {type.getDimSize(dim), {}};
  for (auto [dim, valid] : llvm::zip(reduce.getValidDims(), reduce.getValid()))
    dims[dim].bound.value = mapping_.lookup(valid);
  Type element = compute_type(type.getElementType());
  int vector_dim = choose_vector_dim(reduce.getSource(), any, rank - 1);
  int64_t lanes = vector_dim >= 0 ? native_lanes(element, dims[vector_dim].extent) : 1;
  bool along = vector_dim < 0 || reduced[vector_dim];

  Value result = reduce.getResult(), filled = filled_.lookup(reduce);
  if (filled && lanes > 1 && computes_costly(filled)) prefetch_ = Prefetch::NextTile;
  bool scalar = !isa<RankedTensorType>(result.getType());
  if (!scalar) buffers_[result] = destination_of(result);
  // The nest walks the dimensions that are kept; the reduced ones are walked inside, carrying accumulators.
  SmallVector<NestDim> kept;
  int kept_vector_dim = -1;
  for (int dim = 0; dim < rank; ++dim) {
    if (reduced[dim]) continue;
    if (dim == vector_dim) kept_vector_dim = kept.size();
    kept.push_back(dims[dim]);
  }
  nest(kept, kept_vector_dim, lanes, [&](ArrayRef<Lanes> outer) {
    SmallVector<Lanes> at(rank);
    for (int dim = 0, next = 0; dim < rank; ++dim)
      if (!reduced[dim]) at[dim] = outer[next++];
    SmallVector<NestDim> inner(dims);
    for (int dim = 0; dim < rank; ++dim)
      if (!reduced[dim]) inner[dim].walked = true;
    Value total = along ? reduce_along_vector(reduce, at, inner, vector_dim, lanes) : reduce_across(reduce, at, inner);
    if (scalar)
      mapping_.map(result, convert(total, element_type(result.getType())));
    else
      write(buffers_[result], outer, convert(total, element_type(result.getType())), false);
  });
  prefetch_ = Prefetch::Nothing;
  if (filled) buffers_[filled] = destinations_.find(filled)->second;
}

// Accumulators are vectors along a reduced dimension, combined at the end.
Value LoopLowering::reduce_along_vector(ReduceOp reduce, ArrayRef<Lanes> outer, ArrayRef<NestDim> dims, int vector_dim,
                                        int64_t lanes) {
  Location loc = reduce.getLoc();
  Reduction kind = reduce.getKind();
  Type element = compute_type(element_type(reduce.getSource().getType()));
  Value neutral = constant(neutral_element(kind, element), loc);
  neutral = broadcast_to(neutral, lanes);
  SmallVector<Lanes> at(outer);
  auto term = [&](Lanes lane) {
    if (vector_dim >= 0) at[vector_dim] = lane;
    Value value = convert(broadcast_to(reduced_lanes(reduce, at), lanes), element);
    if (!lane.existing || planted(PlantedBug::missing_tail_mask)) return value;
    Value mask = make<vector::CreateMaskOp>(loc, {lane.existing}, VectorType::get(lanes, b_.getI1Type()),
                                            ValueRange{lane.existing});
    return make<arith::SelectOp>(loc, {mask, value, neutral}, mask, value, neutral);
  };
  // The innermost loop, over whole vectors: first kUnrolledVectors at a time, then one at a time under a mask.
  auto innermost = [&](Value start) -> Value {
    if (vector_dim < 0) {
      Value value = term({});
      restore_innermost();
      return combine(kind, start, value, loc);
    }
    NestDim dim = dims[vector_dim];
    int64_t accumulators = dim.extent >= 2 * kUnrolledVectors * lanes ? kUnrolledVectors : 1,
            step = accumulators * lanes;
    Value count = to_value(dim.bound), unrolled_end, total = start;
    if (!dim.bound.value) {
      unrolled_end = index(dim.bound.number / step * step);
    } else {
      Value rest = make<arith::RemUIOp>(loc, {count}, count, index(step));
      unrolled_end = make<arith::SubIOp>(loc, {count, rest}, count, rest);
    }
    if (dim.bound.value || dim.bound.number >= step) {
      SmallVector<Value> starts(accumulators, neutral), results;
      starts[0] = start;
      loop(
          index(0), unrolled_end, step, starts,
          [&](Value begin, ValueRange carried) {
            SmallVector<Value> next;
            for (int64_t i = 0; i < accumulators; ++i) {
              Value value = term({add(begin, i * lanes), lanes, {}, dim.bound});
              restore_innermost();
              next.push_back(combine(kind, carried[i], value, loc));
            }
            return next;
          },
          &results);
      if (planted(PlantedBug::dropped_accumulator) && results.size() > 1) results[0] = neutral;
      while (results.size() > 1) {
        SmallVector<Value> halves;
        for (size_t i = 0; i + 1 < results.size(); i += 2)
          halves.push_back(combine(kind, results[i], results[i + 1], loc));
        results = halves;
      }
      total = results[0];
    }
    int64_t rest = dim.bound.number % step;
    if (!dim.bound.value && rest == 0) return total;
    if (lanes == 1 || (!dim.bound.value && rest % lanes == 0)) {
      return loop(unrolled_end, count, lanes, total, [&](Value begin, ValueRange carried) -> SmallVector<Value> {
        Value value = term({begin, lanes, {}, dim.bound});
        restore_innermost();
        return {combine(kind, carried[0], value, loc)};
      });
    }
    return loop(unrolled_end, count, lanes, total, [&](Value begin, ValueRange carried) -> SmallVector<Value> {
      Value left = make<arith::SubIOp>(loc, {count, begin}, count, begin);
      Value value = term({begin, lanes, min(left, index(lanes)), dim.bound});
      restore_innermost();
      return {combine(kind, carried[0], value, loc)};
    });
  };
  std::function<Value(unsigned, Value)> walk = [&](unsigned dim, Value start) -> Value {
    if (dim == dims.size()) return innermost(start);
    if (static_cast<int>(dim) == vector_dim || dims[dim].walked) return walk(dim + 1, start);
    if (!dims[dim].bound.value && dims[dim].bound.number == 1) {
      at[dim] = {index(0), 1, {}, dims[dim].bound};
      return walk(dim + 1, start);
    }
    return loop(index(0), to_value(dims[dim].bound), 1, start,
                [&](Value begin, ValueRange carried) -> SmallVector<Value> {
                  at[dim] = {begin, 1, {}, dims[dim].bound};
                  return {walk(dim + 1, carried[0])};
                });
  };
  restore_innermost();
  Value total = walk(0, neutral);
  if (lanes == 1) return total;
  return make<vector::ReductionOp>(loc, {total}, combining_kind(kind, element), total);
}

// The accumulator is a vector of lanes that are kept; the reduced dimensions are walked one lane at a time.
Value LoopLowering::reduce_across(ReduceOp reduce, ArrayRef<Lanes> outer, ArrayRef<NestDim> dims) {
  Location loc = reduce.getLoc();
  Type element = compute_type(element_type(reduce.getSource().getType()));
  int64_t lanes = 1;
  for (const Lanes& lane : outer) lanes = std::max(lanes, lane.count);
  Value neutral = broadcast_to(constant(neutral_element(reduce.getKind(), element), loc), lanes);
  SmallVector<Lanes> at(outer);
  std::function<Value(unsigned, Value)> walk = [&](unsigned dim, Value start) -> Value {
    if (dim == dims.size()) {
      Value value = convert(broadcast_to(reduced_lanes(reduce, at), lanes), element);
      restore_innermost();
      return combine(reduce.getKind(), start, value, loc);
    }
    if (dims[dim].walked) return walk(dim + 1, start);
    return loop(index(0), to_value(dims[dim].bound), 1, start,
                [&](Value begin, ValueRange carried) -> SmallVector<Value> {
                  at[dim] = {begin, 1, {}, dims[dim].bound};
                  return {walk(dim + 1, carried[0])};
                });
  };
  restore_innermost();
  return walk(0, neutral);
}

} // namespace tilewright::cpu
