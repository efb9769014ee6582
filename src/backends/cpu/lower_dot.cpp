// tile.dot as a register-blocked matrix product over packed operands.
//
// The right operand is packed into panels [n / NR][k][NR], NR columns wide, so that the microkernel reads it front to
// back; one that lies along k in memory is transposed in registers, a square of lanes at a time. The left operand stays
// as it is, in an array or in scratch: the microkernel broadcasts one value of each of MR rows. The accumulator lies in
// scratch with room for whole register tiles, so that there is one microkernel and no edge copy of it; only packing,
// and what reads the result, knows where the lanes end.
//
//   for each panel of NR columns        stays in the first-level cache
//     for each block of MR rows
//       MR x NR accumulators in registers += a[MR][k] * panel[k][NR]
#include "backends/cpu/loop_lowering.h"

#include "support/planted_bug.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright::cpu {

static int64_t ceil_divide(int64_t number, int64_t divisor) { return (number + divisor - 1) / divisor; }

struct LoopLowering::DotShape {
  SmallVector<NestDim> batch;
  NestDim m, n, k;
  int64_t rows, vectors, lanes; // the register tile: MR = rows, NR = vectors * lanes
  Type element;
  int64_t columns() const { return vectors * lanes; }
};

LoopLowering::DotShape LoopLowering::shape_of(DotOp dot) {
  DotShape shape;
  auto type = cast<RankedTensorType>(dot.getType());
  shape.element = compute_type(type.getElementType());
  SmallVector<NestDim> dims = dims_to_walk(dot.getResult());
  shape.n = dims.pop_back_val();
  shape.m = dims.pop_back_val();
  shape.batch = dims;
  int64_t k = cast<RankedTensorType>(dot.getA().getType()).getShape().back();
  shape.k = {k, {k, dot.getValid() ? mapping_.lookup(dot.getValid()) : Value()}};

  // Narrow results take fewer vectors and so more rows; rows are spread evenly over their blocks.
  RegisterTile most = target_.dot_tile();
  shape.lanes = native_lanes(shape.element, shape.n.extent);
  shape.vectors = std::min<int64_t>(most.vectors, ceil_divide(shape.n.extent, shape.lanes));
  int64_t most_rows = std::min<int64_t>(24, most.rows * most.vectors / shape.vectors);
  int64_t blocks = ceil_divide(std::max<int64_t>(shape.m.extent, 1), most_rows);
  shape.rows = ceil_divide(std::max<int64_t>(shape.m.extent, 1), blocks);
  return shape;
}

//===----------------------------------------------------------------------===//
// Packing the right operand
//===----------------------------------------------------------------------===//

void LoopLowering::pack(DotOp dot) {
  DotShape shape = shape_of(dot);
  SmallVector<int64_t> sizes = llvm::map_to_vector(shape.batch, [](const NestDim& dim) { return dim.extent; });
  sizes.push_back(ceil_divide(shape.n.extent, shape.columns()));
  sizes.push_back(llvm::alignTo(shape.k.extent, shape.lanes));
  sizes.push_back(shape.columns());
  Buffer panels = make_scratch(sizes, shape.element);
  auto type = cast<RankedTensorType>(dot.getB().getType());
  int rank = type.getRank();
  SmallVector<bool> candidates(rank, false);
  candidates[rank - 1] = candidates[rank - 2] = true;
  if (shape.lanes > 1 && choose_vector_dim(dot.getB(), candidates, -1) == rank - 2)
    pack_columns(dot, shape, panels);
  else
    pack_rows(dot, shape, panels);
  panels_[dot] = panels;
}

// Vectors of NR neighbours go where their panel has them.
void LoopLowering::pack_rows(DotOp dot, const DotShape& shape, const Buffer& panels) {
  Location loc = dot.getLoc();
  SmallVector<NestDim> dims(shape.batch);
  dims.push_back(shape.k);
  dims.push_back(shape.n);
  int vector_dim = shape.lanes > 1 ? dims.size() - 1 : -1;
  prefetch_ = Prefetch::NextRows;
  nest(dims, vector_dim, shape.lanes, [&](ArrayRef<Lanes> at) {
    Value value = convert(evaluate_full(dot.getB(), at), shape.element);
    Value width = index(shape.columns()), column = at.back().begin;
    SmallVector<Lanes> where(at.drop_back(2));
    where.push_back({make<arith::DivUIOp>(loc, {column}, column, width)});
    where.push_back(at[at.size() - 2]);
    where.push_back({make<arith::RemUIOp>(loc, {column}, column, width), shape.lanes});
    write(panels, where, value, false); // a panel holds whole vectors: no mask
  });
  prefetch_ = Prefetch::Nothing;
}

// Squares of lanes x lanes, read along k and transposed by log2(lanes) rounds of interleaving: each round takes vectors
// i and i + half to the interleaved low and high halves of the pair, and after all rounds rows have become columns.
void LoopLowering::pack_columns(DotOp dot, const DotShape& shape, const Buffer& panels) {
  Location loc = dot.getLoc();
  int64_t lanes = shape.lanes;
  NestDim blocks{ceil_divide(shape.n.extent, lanes), {}};
  Value count = to_value(shape.n.bound), last = make<arith::SubIOp>(loc, {count}, count, index(1));
  if (shape.n.bound.value) {
    Value padded = add(count, lanes - 1);
    blocks.bound.value = make<arith::DivUIOp>(loc, {padded}, padded, index(lanes));
  } else {
    blocks.bound.number = ceil_divide(shape.n.bound.number, lanes);
  }
  SmallVector<NestDim> dims(shape.batch);
  dims.push_back(blocks);
  dims.push_back(shape.k);
  nest(dims, dims.size() - 1, lanes, [&](ArrayRef<Lanes> at) {
    Value block = at[at.size() - 2].begin;
    Value first = make<arith::MulIOp>(loc, {block}, block, index(lanes));
    SmallVector<Lanes> from(at.drop_back(2));
    from.push_back(at.back());
    from.push_back({});
    SmallVector<Value> square;
    for (int64_t row = 0; row < lanes; ++row) {
      // Rows past the end repeat the last one, whose columns nobody reads.
      from.back() = {min(add(first, row), last), 1, {}, shape.n.bound};
      square.push_back(convert(evaluate_full(dot.getB(), from), shape.element));
    }
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      low.push_back(lane / 2 + (lane % 2) * lanes);
      high.push_back(lanes / 2 + lane / 2 + (lane % 2) * lanes);
    }
    for (int64_t round = lanes; round > 1; round /= 2) {
      SmallVector<Value> next;
      for (int64_t i = 0; i < lanes / 2; ++i) {
        Value a = square[i], b = square[i + lanes / 2];
        if (planted(PlantedBug::wrong_transposition)) std::swap(a, b);
        next.push_back(make<vector::ShuffleOp>(loc, {a, b}, a, b, low));
        next.push_back(make<vector::ShuffleOp>(loc, {a, b}, a, b, high));
      }
      square = std::move(next);
    }
    Value width = index(shape.columns());
    SmallVector<Lanes> where(at.drop_back(2));
    where.push_back({make<arith::DivUIOp>(loc, {first}, first, width)});
    where.push_back({});
    where.push_back({make<arith::RemUIOp>(loc, {first}, first, width), lanes});
    for (int64_t row = 0; row < lanes; ++row) {
      where[where.size() - 2] = {add(at.back().begin, row)};
      write(panels, where, square[row], false);
    }
  });
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

void LoopLowering::microkernel(DotOp dot, const DotShape& shape, ArrayRef<Lanes> batch, Value panel, Value row_block,
                               bool from_zero) {
  Location loc = dot.getLoc();
  const Buffer &panels = panels_[dot], &result = buffers_[dot.getResult()];

  Value first_row = make<arith::MulIOp>(loc, {row_block}, row_block, index(shape.rows));
  Value rows_left = to_value(shape.m.bound);
  Value last_row = make<arith::SubIOp>(loc, {rows_left}, rows_left, index(1));
  Value first_column = make<arith::MulIOp>(loc, {panel}, panel, index(shape.columns()));
  auto result_at = [&](int64_t row, int64_t vector) {
    SmallVector<Lanes> at(batch);
    at.push_back({add(first_row, row)});
    at.push_back({add(first_column, vector * shape.lanes), shape.lanes});
    return at;
  };
  Buffer accumulators = result;
  accumulators.element = shape.element;
  SmallVector<Value> start;
  for (int64_t row = 0; row < shape.rows; ++row)
    for (int64_t vector = 0; vector < shape.vectors; ++vector)
      start.push_back(from_zero ? broadcast_to(constant(b_.getZeroAttr(shape.element), loc), shape.lanes)
                                : read(accumulators, result_at(row, vector), {}));
  // Where the left operand's rows begin. In an array, rows past the end repeat the last one: nobody reads their
  // results.
  auto [left, transposed] = StoragePlan::look_through_transpose(dot.getA());
  auto kept = buffers_.find(left);
  SmallVector<Value> rows;
  for (int64_t row = 0; row < shape.rows; ++row) {
    rows.push_back(add(first_row, row));
    bool may_pass_end = shape.m.bound.value || shape.m.extent % shape.rows != 0;
    may_pass_end &= !planted(PlantedBug::row_past_the_end);
    if (kept == buffers_.end() && may_pass_end) rows.back() = min(rows.back(), last_row);
  }
  auto left_value = [&](Value row, Value k) {
    SmallVector<Lanes> at(batch);
    Lanes along_m{row, 1, {}, shape.m.bound}, along_k{k, 1, {}, shape.k.bound};
    at.push_back(transposed ? along_k : along_m);
    at.push_back(transposed ? along_m : along_k);
    if (kept == buffers_.end()) return compute_load(left.getDefiningOp<LoadOp>(), at);
    Buffer stored = kept->second;
    stored.element = cast<MemRefType>(stored.memref.getType()).getElementType(); // exact: what is kept is not rounded
    return read(stored, at, {});
  };
  SmallVector<Value> sums;
  restore_innermost();
  loop(
      index(0), to_value(shape.k.bound), 1, start,
      [&](Value k, ValueRange carried) {
        SmallVector<Value> columns, next;
        for (int64_t vector = 0; vector < shape.vectors; ++vector) {
          SmallVector<Lanes> at(batch);
          at.append({{panel}, {k}, {index(vector * shape.lanes), shape.lanes}});
          columns.push_back(read(panels, at, {}));
        }
        for (int64_t row = 0; row < shape.rows; ++row) {
          Value value = broadcast_to(convert(left_value(rows[row], k), shape.element), shape.lanes);
          for (int64_t vector = 0; vector < shape.vectors; ++vector) {
            Value sum = carried[row * shape.vectors + vector], column = columns[vector];
            if (isa<FloatType>(shape.element) && shape.lanes > 1) {
              next.push_back(make<vector::FMAOp>(loc, {value, column, sum}, value, column, sum));
            } else if (isa<FloatType>(shape.element)) {
              next.push_back(make<math::FmaOp>(loc, {value, column, sum}, value, column, sum));
            } else {
              Value product = make<arith::MulIOp>(loc, {value, column}, value, column);
              next.push_back(make<arith::AddIOp>(loc, {product, sum}, product, sum));
            }
          }
        }
        return next;
      },
      &sums);
  for (int64_t row = 0; row < shape.rows; ++row)
    for (int64_t vector = 0; vector < shape.vectors; ++vector)
      write(accumulators, result_at(row, vector), sums[row * shape.vectors + vector], false);
}

// True for a splat of zero, from which accumulators start without being read.
static bool is_zero(Value value) {
  auto splat = value.getDefiningOp<SplatOp>();
  auto constant =
      splat ? splat.getScalar().getDefiningOp<arith::ConstantOp>() : value.getDefiningOp<arith::ConstantOp>();
  if (!constant) return false;
  Attribute attribute = constant.getValue();
  if (auto elements = dyn_cast<SplatElementsAttr>(attribute)) attribute = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attribute)) return number.getValue().isPosZero();
  if (auto number = dyn_cast<IntegerAttr>(attribute)) return number.getValue().isZero();
  return false;
}

LogicalResult LoopLowering::lower_dot(DotOp dot) {
  Type element = element_type(dot.getType());
  if (element != compute_type(element) || element.isInteger(1))
    return dot.emitError("the cpu backend adds up a dot in float32, float64 or integers, not in ")
           << element << "; give it a float32 accumulator";
  DotShape shape = shape_of(dot);
  Value left = StoragePlan::look_through_transpose(dot.getA()).source;
  bool in_memory = left.getDefiningOp<LoadOp>() && !plan_.is_kept(left);
  if (!buffers_.contains(left) && !in_memory) keep(left);
  if (!panels_.contains(dot)) pack(dot);
  Buffer result = destination_of(dot.getResult());
  bool from_zero = is_zero(dot.getAcc()) || planted(PlantedBug::accumulator_not_read);
  auto acc = buffers_.find(dot.getAcc());
  bool in_place = acc != buffers_.end() && acc->second.memref == result.memref;
  if (!from_zero && !in_place) {
    SmallVector<NestDim> dims(shape.batch);
    dims.append({shape.m, shape.n});
    assign(result, dot.getAcc(), dims);
  }
  buffers_[dot.getResult()] = result;

  auto blocks = [&](const NestDim& dim, int64_t size) {
    NestDim count{ceil_divide(dim.extent, size), {ceil_divide(dim.bound.number, size), {}}};
    if (dim.bound.value) {
      Value padded = add(dim.bound.value, size - 1);
      count.bound.value = make<arith::DivUIOp>(dot.getLoc(), {padded}, padded, index(size));
    }
    return count;
  };
  SmallVector<NestDim> dims(shape.batch);
  dims.push_back(blocks(shape.n, shape.columns()));
  dims.push_back(blocks(shape.m, shape.rows));
  nest(dims, -1, 1, [&](ArrayRef<Lanes> at) {
    microkernel(dot, shape, at.drop_back(2), at[at.size() - 2].begin, at.back().begin, from_zero);
  });
  return success();
}

} // namespace tilewright::cpu
