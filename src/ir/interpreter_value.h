// What the interpreter's values are while it runs: blocks of lanes, tiles, and arrays in memory.
#pragma once

#include "ir/interpreter_lane.h"
#include "ir/tile_dialect.h"

#include "tilewright/array.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <variant>
#include <vector>

namespace tilewright {

/// A device value, of any rank; a scalar has rank 0 and one lane.
struct BlockValue {
  mlir::Type element;
  llvm::SmallVector<int64_t> shape;
  std::vector<Lane> lanes; // in row-major order

  BlockValue() = default;
  BlockValue(mlir::Type element, llvm::ArrayRef<int64_t> shape); // of zeros that exist
  static BlockValue scalar(mlir::Type element, Lane lane);

  bool is_scalar() const { return shape.empty(); }
  Lane& at(llvm::ArrayRef<int64_t> index);
  const Lane& at(llvm::ArrayRef<int64_t> index) const;
};

/// One iteration of one dimension of a tile loop.
struct TileRange {
  int64_t begin;
  int64_t end; // clipped to the loop's bound
  int64_t extent;
  int64_t count; // of tiles in the loop

  int64_t lanes() const { return end - begin; }
};

/// An argument or an allocation under the type that a kernel is pinned to.
struct ArrayMemory {
  Array array;
  ArrayType type;
  llvm::SmallVector<int64_t> sizes;
  std::string name;                         // for messages
  std::vector<double>* errors = nullptr;    // where bounds are kept: of each element, in row-major order
  std::vector<double>* unrounded = nullptr; // in the wide mode: what its floating-point elements are, unrounded
};

/// The values that ops have given so far.
class Environment {
public:
  using Entry = std::variant<BlockValue, TileRange, ArrayMemory>;
  void set(mlir::Value value, Entry entry) { entries_[value] = std::move(entry); }
  const BlockValue& block(mlir::Value value) const { return std::get<BlockValue>(entries_.find(value)->second); }
  const TileRange& tile(mlir::Value value) const { return std::get<TileRange>(entries_.find(value)->second); }
  const ArrayMemory& array(mlir::Value value) const { return std::get<ArrayMemory>(entries_.find(value)->second); }

  /// The number of an integer scalar that `user` needs as an address, a bound or a condition; throws where undefined.
  int64_t integer(mlir::Operation* user, mlir::Value value) const;

  /// The result of an op. Throws where it is a scalar made of a missing lane.
  void set_result(mlir::Operation* op, BlockValue result);
  void set_index(mlir::Operation* op, int64_t result);

  /// Whether lanes carry error bounds.
  bool with_bounds = false;
  /// s0, s1, ...: the sizes of the arguments.
  llvm::SmallVector<int64_t> sizes;

private:
  llvm::DenseMap<mlir::Value, Entry> entries_;
};

/// Calls `visit` with each index of a shape in row-major order: once for rank 0, never where a size is 0.
void for_each_index(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

/// `[3, 70]`, for messages.
std::string index_text(llvm::ArrayRef<int64_t> index);

/// A type as the IR writes it, for messages.
std::string type_text(mlir::Type type);

/// The name of an op for messages, such as tile.load.
std::string op_name(mlir::Operation* op);

} // namespace tilewright
