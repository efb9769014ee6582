#include "frontend/tidy.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright {

namespace {

/// New numbers for whole dimensions, given out as they are met.
class WholeNumbering {
public:
  explicit WholeNumbering(size_t count) : number_(count, -1) {}

  Dim rename(const Dim& dim) {
    return dim.substitute([&](Symbol symbol) -> std::optional<Dim> {
      if (symbol.kind != Symbol::Kind::Whole) return std::nullopt;
      int& number = number_[symbol.index];
      if (number < 0) {
        number = static_cast<int>(met_.size());
        met_.push_back(symbol.index);
      }
      return Dim(Symbol::whole(number));
    });
  }
  Type rename(Type type) {
    if (auto tile = dyn_cast<TileType>(type))
      return TileType::get(type.getContext(), DimAttr::get(type.getContext(), rename(tile.getExtent().dim())));
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) return type;
    SmallVector<Dim> dims = dims_of(type);
    for (Dim& dim : dims) dim = rename(dim);
    return value_type(tensor.getElementType(), dims);
  }
  /// The old numbers, in order of the new ones.
  ArrayRef<unsigned> met() const { return met_; }

private:
  SmallVector<int> number_; // by old number; -1: not met
  SmallVector<unsigned> met_;
};

} // namespace

void number_whole_dims(KernelOp kernel, ArrayRef<Dim> definitions) {
  WholeNumbering numbering(definitions.size());
  kernel->walk<WalkOrder::PreOrder>([&](Operation* op) {
    if (op == kernel.getOperation()) return;
    for (Value result : op->getResults()) result.setType(numbering.rename(result.getType()));
    for (Region& region : op->getRegions())
      for (Value argument : region.getArguments()) argument.setType(numbering.rename(argument.getType()));
  });
  if (numbering.met().empty()) return;
  kernel.set_whole_dims(llvm::map_to_vector(numbering.met(), [&](unsigned old) { return definitions[old]; }));
}

} // namespace tilewright
