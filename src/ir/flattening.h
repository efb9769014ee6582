// Walking the dimensions of a loop as one: whether it can be done.
//
//   tile.for (%m: b0, %n: b1) = (0, 0) to (1000, 3) {              tile.for (%t: b2) = (0) to (3000) {
//     tile.load %x[%m, %n] : array<[1000, 3]> -> tensor<[b0, b1]>    tile.load %x[%t] : array<[3000]> -> tensor<[b2]>
//
// It can where the loop's dimensions are neighbours, in order, wherever they are:
//   - every value has all of them side by side or none, and each op on such values treats them alike: pointwise ops,
//     reductions over all of them or over others;
//   - its tiles are used as subscripts only, side by side, in dimensions of an array that lie in memory as one would,
//     and that the loop walks whole (but for the outermost one). All accesses to that array are of this kind.
// The order in which the loop runs must be free.
#pragma once

#include "ir/tile_dialect.h"

#include <optional>
#include <string>

namespace tilewright {

struct Flattening {
  llvm::SmallVector<Symbol> blocks; // of the loop's dimensions, outermost first

  /// Arrays whose dimensions become one, and the first of those.
  struct Merged {
    mlir::Value array;
    unsigned first_dim;
  };
  llvm::SmallVector<Merged> arrays;

  unsigned rank() const { return blocks.size(); }
  /// Where the blocks stand in a value of this type; nothing where it has none of them.
  std::optional<unsigned> position_in(mlir::Type type) const;
};

/// Nothing where the loop cannot be walked as one; then `reason` says why: "it has one dimension".
std::optional<Flattening> find_flattening(KernelOp kernel, ForOp loop, std::string& reason);

} // namespace tilewright
