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

private:
  using Lanes = llvm::SmallVector<LaneValidity, 2>;
  mlir::LogicalResult visit(mlir::Operation* op);
  mlir::LogicalResult visit(ForOp loop);
  mlir::FailureOr<Lanes> join(mlir::Operation* op, mlir::ValueRange values);
  llvm::DenseMap<mlir::Value, Lanes> lanes_;
};

} // namespace tilewright
