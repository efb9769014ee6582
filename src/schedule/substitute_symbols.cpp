#include "schedule/substitute_symbols.h"

#include "ir/host_choices.h"

using namespace mlir;

namespace tilewright {

static DimAttr substitute(DimAttr attr, SymbolValue value) {
  return DimAttr::get(attr.getContext(), attr.dim().substitute(value));
}

static DimsAttr substitute(DimsAttr attr, SymbolValue value) {
  auto dims = llvm::map_to_vector(attr.getDims(), [&](DimAttr dim) { return substitute(dim, value); });
  return DimsAttr::get(attr.getContext(), dims);
}

Type substitute(Type type, SymbolValue value) {
  if (auto tile = dyn_cast<TileType>(type))
    return TileType::get(type.getContext(), substitute(tile.getExtent(), value));
  if (auto array = dyn_cast<ArrayType>(type)) {
    auto dims = llvm::map_to_vector(array.getDims(), [&](DimAttr dim) { return substitute(dim, value); });
    return ArrayType::get(type.getContext(), array.getElementType(), dims, array.getStrides(), array.getAlignment());
  }
  if (!isa<RankedTensorType>(type)) return type;
  auto dims = llvm::map_to_vector(dims_of(type), [&](const Dim& dim) { return dim.substitute(value); });
  return value_type(element_type(type), dims);
}

TypedAttr retype_constant(TypedAttr constant, Type type) {
  auto elements = dyn_cast<DenseElementsAttr>(constant);
  if (!elements) return constant;
  auto shaped = cast<ShapedType>(type);
  if (elements.isSplat()) return DenseElementsAttr::get(shaped, elements.getSplatValue<Attribute>());
  return elements.reshape(shaped);
}

static void substitute_in(Operation* op, SymbolValue value) {
  for (Value result : op->getResults()) result.setType(substitute(result.getType(), value));
  for (Region& region : op->getRegions())
    for (Block& block : region)
      for (Value argument : block.getArguments()) argument.setType(substitute(argument.getType(), value));
  if (auto extent = dyn_cast<ExtentOp>(op)) extent.setDimAttr(substitute(extent.getDim(), value));
  if (auto loop = dyn_cast<ForOp>(op)) loop.setBlocksAttr(substitute(loop.getBlocks(), value));
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    constant.setValueAttr(retype_constant(constant.getValue(), constant.getType()));
}

void substitute_symbols(KernelOp kernel, SymbolValue value) {
  kernel.walk([&](Operation* op) { substitute_in(op, value); });
  auto substitute_all = [&](TypeRange types) {
    return llvm::map_to_vector(types, [&](Type type) { return substitute(type, value); });
  };
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), substitute_all(kernel.getArgumentTypes()),
                                           substitute_all(kernel.getResultTypes())));
  HostChoices choices = host_choices(kernel);
  for (RegisteredBlock& block : choices.blocks)
    if (block.extent) block.extent = block.extent->substitute(value);
  set_host_choices(kernel, choices);
  SmallVector<Dim> wholes = kernel.whole_dims();
  if (wholes.empty()) return;
  for (Dim& dim : wholes) dim = dim.substitute(value);
  kernel.set_whole_dims(wholes);
}

} // namespace tilewright
