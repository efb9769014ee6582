#include "schedule/count_lanes.h"

#include "ir/kernel_loops.h"
#include "ir/validity.h"

using namespace mlir;

namespace tilewright {

static Value lanes_of_tiles(OpBuilder& builder, Location loc, ArrayRef<Value> tiles) {
  Value lanes;
  for (Value tile : tiles) {
    Value begin = builder.create<BeginOp>(loc, builder.getIndexType(), tile);
    Value end = builder.create<EndOp>(loc, builder.getIndexType(), tile);
    Value length = builder.create<arith::SubIOp>(loc, end, begin);
    lanes = lanes ? builder.create<arith::MinSIOp>(loc, lanes, length) : length;
  }
  return lanes;
}

static Value count(OpBuilder& builder, LaneCountOp op, const Validity& validity, ArrayRef<Dim> wholes) {
  Value product;
  SmallVector<Dim> dims = dims_of(op.getSource());
  for (int64_t dim : op.getDims()) {
    const LaneValidity& lanes = validity.of(op.getSource())[dim];
    SmallVector<Value, 1> tiles = lanes.tiles;
    if (lanes.kind == LaneValidity::Kind::Any)
      if (Value tile = enclosing_tile(op, dims[dim])) tiles.push_back(tile);
    Value length;
    if (!tiles.empty()) {
      length = lanes_of_tiles(builder, op.getLoc(), tiles);
    } else {
      Dim extent = dims[dim].substitute([&](Symbol symbol) -> std::optional<Dim> {
        if (symbol.kind != Symbol::Kind::Whole || symbol.index >= wholes.size()) return std::nullopt;
        return wholes[symbol.index];
      });
      length = builder.createOrFold<ExtentOp>(op.getLoc(), builder.getIndexType(),
                                              DimAttr::get(builder.getContext(), extent));
    }
    product = product ? builder.createOrFold<arith::MulIOp>(op.getLoc(), product, length) : length;
  }
  return product ? product : builder.create<arith::ConstantIndexOp>(op.getLoc(), 1);
}

LogicalResult count_lanes(KernelOp kernel) {
  SmallVector<LaneCountOp> ops;
  kernel.walk([&](LaneCountOp op) { ops.push_back(op); });
  if (ops.empty()) return success();
  FailureOr<Validity> validity = Validity::of(kernel);
  if (failed(validity)) return failure();
  SmallVector<Dim> wholes = kernel.whole_dims();
  for (LaneCountOp op : ops) {
    OpBuilder builder(op);
    op.getCount().replaceAllUsesWith(count(builder, op, *validity, wholes));
    op.erase();
  }
  return success();
}

} // namespace tilewright
