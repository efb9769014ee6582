// Which lanes of a device value exist.
//
// A dimension's name gives its extent; which lanes of it are real is another matter: a loop bound may end a tile early.
// This analysis is the one place that knows, and every pass asks it.
#pragma once

#include "ir/tile_dialect.h"

#include "llvm/ADT/DenseMap.h"

namespace tilewright {

/// Along one dimension of a value.
struct LaneValidity {
  enum class Kind {
    Any,   ///< every lane holds the same as the others: takes on the validity of what it is combined with
    Whole, ///< every lane exists
    Tiles, ///< the lanes exist that exist in all of `tiles`
  };
  Kind kind = Kind::Any;
  llvm::SmallVector<mlir::Value, 1> tiles; // of type !tile.tile, in order of first mention
  bool operator==(const LaneValidity&) const = default;
};

/// The validity of every device value of a kernel in tile IR, one entry per dimension.
class Validity {
public:
  /// Reports an error on the op where values of partly missing lanes meet whole ones in a way that has no meaning.
  static mlir::FailureOr<Validity> of(KernelOp kernel);

  llvm::ArrayRef<LaneValidity> of(mlir::Value value) const { return lanes_.find(value)->second; }

  /// Where an operand with missing lanes meets a whole one, the lanes count as what changes nothing: the tiles by which
  /// the operand is to be completed so, for each of its dimensions. Empty where none is.
  llvm::ArrayRef<llvm::SmallVector<mlir::Value, 1>> completed_by(mlir::OpOperand& operand) const;

private:
  using Lanes = llvm::SmallVector<LaneValidity, 2>;
  using Tiles = llvm::SmallVector<llvm::SmallVector<mlir::Value, 1>, 2>;
  mlir::LogicalResult visit(mlir::Block& block);
  mlir::LogicalResult visit(mlir::Operation* op);
  mlir::LogicalResult visit(ForOp loop);
  mlir::LogicalResult visit(mlir::scf::IfOp branch);
  mlir::LogicalResult visit(mlir::scf::WhileOp loop);
  mlir::LogicalResult visit_combiner(mlir::Operation* op, int64_t dropped);
  mlir::FailureOr<Lanes> lanes_of(mlir::Operation* op, mlir::RankedTensorType type);
  mlir::FailureOr<Lanes> pointwise_lanes(mlir::Operation* op);
  mlir::FailureOr<Lanes> select_lanes(mlir::arith::SelectOp op);
  mlir::FailureOr<Lanes> access_lanes(AccessOp access, unsigned rank);
  mlir::FailureOr<Lanes> reshape_lanes(ReshapeOp op);
  mlir::FailureOr<Lanes> dot_lanes(DotOp op);
  mlir::FailureOr<Lanes> join(mlir::Operation* op, mlir::ValueRange values);
  mlir::FailureOr<bool> narrow(mlir::Operation* op, mlir::ValueRange variables, mlir::ValueRange next);
  void set(mlir::Value value, Lanes lanes);
  void set_all(mlir::ValueRange values, mlir::ValueRange from);

  llvm::DenseMap<mlir::Value, Lanes> lanes_;
  llvm::DenseMap<mlir::OpOperand*, Tiles> completed_;
};

/// The value of the op's own type that operand `index` may have in any lane without changing the other operand there;
/// null where there is none.
mlir::TypedAttr neutral_operand(mlir::Operation* op, unsigned index);

} // namespace tilewright
