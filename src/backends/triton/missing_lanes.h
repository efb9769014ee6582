// What stands in lanes that do not exist: which masks a reduction needs over what it reduces.
//
// A masked load fills the lanes that it does not read with a number of our choice. Carried through the pointwise ops
// behind it, that number is often what a reduction or a dot needs there:
//
//   x = tl.load(x_ptr + cols, cols < 1000, other=float("-inf"))
//   tl.max(x, 0)                      # -inf changes no maximum
//   tl.sum(tl.exp(x - row_max), 0)    # exp(-inf) = 0 changes no sum
#pragma once

#include "ir/tile_dialect.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace tilewright::triton {

class MissingLanes {
public:
  /// Chooses what each masked load of the program fills its lanes with.
  explicit MissingLanes(ProgramOp program);

  /// What a masked load puts where it does not read; nothing where it does not matter.
  std::optional<double> filling(LoadOp load) const;

  /// The number in the lanes of `value` past the bound along `dim`; nothing where it is not known.
  std::optional<double> content(mlir::Value value, int64_t dim) const;

  /// Whether every lane past the bound along `dim` changes nothing in a reduction of this kind.
  bool is_neutral(ReduceOp reduce, int64_t dim) const;
  /// Whether lanes of the summed dimension that do not exist add nothing, with `a` and `b` as they are.
  bool adds_nothing(DotOp dot) const;

private:
  std::optional<double> content_of_op(mlir::Operation* op, int64_t dim) const;
  unsigned cost() const;

  ProgramOp program_;
  llvm::DenseMap<mlir::Operation*, double> fillings_; // of the masked loads
  mutable llvm::DenseMap<std::pair<mlir::Value, int64_t>, std::optional<double>> known_;
};

/// Whether a load leaves lanes unread that it may fill with any number: those past a bound, where there is no mask of
/// the user's, whose lanes are 0, and memory is not reached by a kind of access that fills with 0.
bool chooses_filling(LoadOp load);

} // namespace tilewright::triton
