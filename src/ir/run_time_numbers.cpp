#include "ir/run_time_numbers.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace tilewright {

SmallVector<RunTimeNumber> run_time_numbers(TypeRange arguments) {
  SmallVector<RunTimeNumber> sizes, strides;
  llvm::SmallSet<unsigned, 8> seen; // an allocation, which comes late, may have the size of an argument
  for (unsigned argument = 0; argument < arguments.size(); ++argument) {
    auto array = dyn_cast<ArrayType>(arguments[argument]);
    if (!array) continue;
    for (unsigned dim = 0; dim < array.rank(); ++dim) {
      std::optional<Symbol> symbol = array.getDims()[dim].dim().symbol();
      if (symbol && seen.insert(symbol->index).second)
        sizes.push_back({RunTimeNumber::Kind::Size, argument, dim, symbol->index});
      if (ShapedType::isDynamic(array.stride(dim))) strides.push_back({RunTimeNumber::Kind::Stride, argument, dim, 0});
    }
  }
  sizes.append(strides.begin(), strides.end());
  return sizes;
}

} // namespace tilewright
