// Reductions and scans by a combiner of the user's. It has no neutral element, so they begin with the first lane.
#include "backends/cpu/loop_lowering.h"

using namespace mlir;

namespace tilewright::cpu {

LoopLowering::Operands LoopLowering::choose(Value condition, ArrayRef<Type> types,
                                            llvm::function_ref<Operands()> then_values,
                                            llvm::function_ref<Operands()> else_values) {
  restore_innermost();
  Location loc = current_->getLoc();
  auto branch = b_.create<scf::IfOp>(loc, TypeRange(types), condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  auto fill = [&](Block* block, llvm::function_ref<Operands()> values) {
    in_branch(block, [&] {
      Operands yielded = values();
      restore_innermost();
      b_.create<scf::YieldOp>(loc, yielded);
    });
  };
  fill(branch.thenBlock(), then_values);
  fill(branch.elseBlock(), else_values);
  return Operands(branch.getResults());
}

// Ops of the combiner at the innermost place, over scalars or vectors.
LoopLowering::Operands LoopLowering::apply(Block& combiner, ArrayRef<Value> left, ArrayRef<Value> right) {
  IRMapping outer = mapping_; // the combiner may use scalars of the program
  SmallVector<Value> operands(left);
  llvm::append_range(operands, right);
  for (auto [argument, value] : llvm::zip(combiner.getArguments(), operands)) mapping_.map(argument, value);
  for (Operation& op : combiner.without_terminator()) {
    if (auto constant_op = dyn_cast<arith::ConstantOp>(op)) {
      mapping_.map(op.getResult(0), constant(constant_op.getValue(), op.getLoc()));
      continue;
    }
    auto inputs = llvm::map_to_vector(op.getOperands(), [&](Value operand) { return mapping_.lookup(operand); });
    mapping_.map(op.getResult(0), pointwise(&op, inputs));
  }
  int64_t lanes = 1;
  for (Value operand : operands)
    if (auto vector = dyn_cast<VectorType>(operand.getType())) lanes = vector.getNumElements();
  Operands results;
  for (Value value : combiner.getTerminator()->getOperands())
    results.push_back(broadcast_to(mapping_.lookup(value), lanes));
  mapping_ = std::move(outer);
  return results;
}

LoopLowering::Operands LoopLowering::evaluate_sources(ValueRange sources, ArrayRef<Lanes> at, int64_t lanes) {
  Operands values;
  for (Value source : sources) values.push_back(broadcast_to(evaluate(source, at), lanes));
  return values;
}

SmallVector<NestDim> LoopLowering::dims_of_sources(ValueRange sources, int64_t dim, Value valid) {
  SmallVector<NestDim> dims = dims_to_walk(sources[0]);
  int64_t size = cast<RankedTensorType>(sources[0].getType()).getDimSize(dim);
  dims[dim].bound = {size, valid ? mapping_.lookup(valid) : Value()};
  return dims;
}

// Combines `start` with the lanes from `from` to `to` along `dim`.
LoopLowering::Operands LoopLowering::fold(Block& combiner, ValueRange sources, ArrayRef<Lanes> at, unsigned dim,
                                          const NestDim& along, Value from, Value to, int64_t step, int64_t lanes,
                                          ArrayRef<Value> start) {
  SmallVector<Value> results;
  restore_innermost();
  loop(
      from, to, step, start,
      [&](Value begin, ValueRange carried) {
        SmallVector<Lanes> here(at);
        here[dim] = {begin, step, {}, along.bound};
        Operands values = evaluate_sources(sources, here, lanes);
        restore_innermost();
        Operands total = apply(combiner, Operands(carried), values);
        return SmallVector<Value>(total.begin(), total.end());
      },
      &results);
  return Operands(results.begin(), results.end());
}

// `other` where the dimension has no lanes.
LoopLowering::Operands LoopLowering::or_other(CombineOp op, const NestDim& dim, int64_t lanes,
                                              llvm::function_ref<Operands()> total) {
  if (!dim.bound.value) return total();
  Location loc = op.getLoc();
  Operands other;
  for (Value value : op.getOther()) other.push_back(broadcast_to(mapping_.lookup(value), lanes));
  auto types = llvm::map_to_vector(other, [](Value value) { return value.getType(); });
  Value any = make<arith::CmpIOp>(loc, {dim.bound.value}, arith::CmpIPredicate::sgt, dim.bound.value, index(0));
  return choose(any, types, total, [&] { return other; });
}

// Lanes of a kept dimension side by side.
LoopLowering::Operands LoopLowering::combine_across(CombineOp op, SmallVector<Lanes> at, const NestDim& dim,
                                                    int64_t lanes) {
  return or_other(op, dim, lanes, [&] {
    at[op.getDim()] = {index(0), 1, {}, {}};
    Operands first = evaluate_sources(op.getSources(), at, lanes);
    return fold(op.block(), op.getSources(), at, op.getDim(), dim, index(1), to_value(dim.bound), 1, lanes, first);
  });
}

// Vectors along the combined dimension: after the first lane, whole vectors into a vector of totals, whose lanes are
// then combined one after the other, and the rest.
LoopLowering::Operands LoopLowering::combine_along(CombineOp op, SmallVector<Lanes> at, const NestDim& dim,
                                                   int64_t lanes) {
  Location loc = op.getLoc();
  const unsigned along = op.getDim();
  return or_other(op, dim, 1, [&]() -> Operands {
    Value count = to_value(dim.bound);
    at[along] = {index(0), 1, {}, {}};
    Operands total = evaluate_sources(op.getSources(), at, 1);
    Value vectors_end = index(1);
    if (lanes > 1 && dim.extent > lanes) {
      Value others = make<arith::SubIOp>(loc, {count}, count, index(1));
      Value rest = make<arith::RemUIOp>(loc, {others}, others, index(lanes));
      vectors_end = make<arith::SubIOp>(loc, {count, rest}, count, rest);
      Value has_vectors = make<arith::CmpIOp>(loc, {vectors_end}, arith::CmpIPredicate::sgt, vectors_end, index(1));
      auto types = llvm::map_to_vector(total, [](Value value) { return value.getType(); });
      Operands before = total;
      auto with_vectors = [&] {
        SmallVector<Lanes> here(at);
        here[along] = {index(1), lanes, {}, dim.bound};
        Operands sums = evaluate_sources(op.getSources(), here, lanes);
        sums = fold(op.block(), op.getSources(), at, along, dim, index(1 + lanes), vectors_end, lanes, lanes, sums);
        Operands result = before;
        for (int64_t lane = 0; lane < lanes; ++lane) {
          Operands one;
          restore_innermost();
          for (Value sum : sums) one.push_back(b_.create<vector::ExtractOp>(loc, sum, lane));
          result = apply(op.block(), result, one);
        }
        return result;
      };
      total = choose(has_vectors, types, with_vectors, [&] { return before; });
    }
    return fold(op.block(), op.getSources(), at, along, dim, vectors_end, count, 1, 1, total);
  });
}

// What decides how many lanes of all sources go side by side.
static Type widest_element(ValueRange sources) {
  auto bits = [](Type element) { return element.isIndex() ? 64u : element.getIntOrFloatBitWidth(); };
  Type widest = element_type(sources[0].getType());
  for (Value source : sources)
    if (Type element = element_type(source.getType()); bits(element) > bits(widest)) widest = element;
  return widest;
}

void LoopLowering::lower_combine(CombineOp op) {
  const unsigned along = op.getDim();
  SmallVector<NestDim> dims = dims_of_sources(op.getSources(), along, op.getValid());
  const int rank = dims.size();
  // Across where a kept dimension suits vectors best, along where none does.
  SmallVector<bool> any(rank, true);
  int vector_dim = choose_vector_dim(op.getSources()[0], any, rank - 1);
  int64_t lanes = vector_dim >= 0 ? native_lanes(widest_element(op.getSources()), dims[vector_dim].extent) : 1;
  bool is_along = vector_dim < 0 || vector_dim == static_cast<int>(along);

  SmallVector<NestDim> kept;
  int kept_vector_dim = -1;
  for (int dim = 0; dim < rank; ++dim) {
    if (dim == static_cast<int>(along)) continue;
    if (dim == vector_dim && !is_along) kept_vector_dim = kept.size();
    kept.push_back(dims[dim]);
  }
  bool scalar = kept.empty();
  if (!scalar)
    for (Value result : op.getResults()) {
      Buffer buffer = destination_of(result);
      buffers_[result] = buffer;
    }
  nest(kept, kept_vector_dim, is_along ? 1 : lanes, [&](ArrayRef<Lanes> outer) {
    SmallVector<Lanes> at(outer);
    at.insert(at.begin() + along, Lanes{index(0), 1, {}, {}});
    Operands totals = is_along ? combine_along(op, at, dims[along], lanes) : combine_across(op, at, dims[along], lanes);
    for (auto [result, total] : llvm::zip(op.getResults(), totals)) {
      if (scalar)
        mapping_.map(result, total);
      else
        write(buffers_[result], outer, total);
    }
  });
}

// Lane by lane along the dimension; lanes of other dimensions side by side.
void LoopLowering::lower_scan(ScanOp op) {
  Location loc = op.getLoc();
  const unsigned along = op.getDim();
  SmallVector<NestDim> dims = dims_of_sources(op.getSources(), along, op.getValid());
  const int rank = dims.size();
  SmallVector<bool> others(rank, true);
  others[along] = false;
  int vector_dim = choose_vector_dim(op.getSources()[0], others, -1);
  int64_t lanes = vector_dim >= 0 ? native_lanes(widest_element(op.getSources()), dims[vector_dim].extent) : 1;
  SmallVector<Buffer> buffers;
  for (Value result : op.getResults()) {
    buffers.push_back(destination_of(result));
    buffers_[result] = buffers.back();
  }
  SmallVector<NestDim> outer_dims(dims);
  outer_dims[along] = {1, {1, {}}};
  nest(outer_dims, vector_dim, lanes, [&](ArrayRef<Lanes> outer) {
    SmallVector<Lanes> at(outer);
    Value count = to_value(dims[along].bound);
    Value last = make<arith::SubIOp>(loc, {count}, count, index(1));
    auto lane_at = [&](Value step) -> Lanes {
      Value i = op.getReverse() ? make<arith::SubIOp>(loc, {last, step}, last, step) : step;
      return {i, 1, {}, dims[along].bound};
    };
    auto store = [&](ArrayRef<Value> totals) {
      for (auto [buffer, total] : llvm::zip(buffers, totals)) write(buffer, at, total);
    };
    auto run = [&]() -> Operands {
      at[along] = lane_at(index(0));
      Operands first = evaluate_sources(op.getSources(), at, lanes);
      store(first);
      restore_innermost();
      loop(index(1), count, 1, first, [&](Value step, ValueRange carried) {
        at[along] = lane_at(step);
        Operands values = evaluate_sources(op.getSources(), at, lanes);
        restore_innermost();
        Operands total = apply(op.block(), Operands(carried), values);
        store(total);
        return SmallVector<Value>(total.begin(), total.end());
      });
      return {};
    };
    if (!dims[along].bound.value) return void(run());
    Value any = make<arith::CmpIOp>(loc, {count}, arith::CmpIPredicate::sgt, count, index(0));
    choose(any, {}, run, []() -> Operands { return {}; });
  });
}

} // namespace tilewright::cpu
