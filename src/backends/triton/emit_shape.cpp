// Ops that repeat and rearrange. Dimensions of 1 are not in the text, so inserting one is nothing, and repeating one is
// setting the others among those of the result: `x[:, None]`.
#include "backends/triton/kernel_emitter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tilewright::triton {

// A value with the dimensions of `from` as one with those of `to`, of the same rank, that has more than 1 in some.
Code KernelEmitter::align(const Code& code, Type from, Type to) {
  if (code.is_scalar()) return code;
  SmallVector<int64_t> present = squeezed_dims(from), wanted = squeezed_dims(to);
  if (present == wanted) return code;
  Code aligned{code.within(Binding::Atom) + "[", Binding::Atom, code.type, {}};
  for (auto [i, dim] : llvm::enumerate(wanted)) {
    auto at = llvm::find(present, dim);
    aligned.text += fmt::format("{}{}", i ? ", " : "", at == present.end() ? "None" : ":");
    aligned.shape.push_back(at == present.end() ? 1 : code.shape[at - present.begin()]);
  }
  aligned.text += "]";
  return aligned;
}

std::optional<Code> KernelEmitter::compute_shape(Operation* op) {
  if (auto splat = dyn_cast<SplatOp>(op)) return code_of(splat.getScalar());
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) return code_of(expand.getSource());
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return align(code_of(broadcast.getSource()), broadcast.getSource().getType(), broadcast.getType());
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    Code source = code_of(transpose.getSource());
    if (source.is_scalar()) return source;
    SmallVector<int64_t> present = squeezed_dims(transpose.getSource().getType()), order, shape;
    for (int64_t dim : transpose.getPermutation())
      if (auto at = llvm::find(present, dim); at != present.end()) {
        order.push_back(at - present.begin());
        shape.push_back(source.shape[order.back()]);
      }
    if (llvm::is_sorted(order)) return source;
    if (order.size() == 2) return Code{source.within(Binding::Atom) + ".T", Binding::Atom, source.type, shape};
    return Code{fmt::format("tl.permute({}, {})", source.text, tuple(order)), Binding::Atom, source.type, shape};
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    Code source = code_of(reshape.getSource());
    if (source.is_scalar()) return source;
    SmallVector<int64_t> shape = squeezed_shape(reshape.getType());
    source = in_full(source, reshape.getSource().getType());
    if (ArrayRef<int64_t>(source.shape) == ArrayRef<int64_t>(shape)) return source;
    return Code{fmt::format("tl.reshape({}, {})", source.text, tuple(shape)), Binding::Atom, source.type, shape};
  }
  if (auto take = dyn_cast<TakeOp>(op)) {
    auto type = cast<RankedTensorType>(take.getSource().getType());
    SmallVector<int64_t> shape = squeezed_shape(take.getType());
    if (type.getDimSize(take.getDim()) == 1) return code_of(take.getSource()); // there is one element to take
    SmallVector<int64_t> present = squeezed_dims(type);
    const int64_t axis = llvm::find(present, static_cast<int64_t>(take.getDim())) - present.begin();
    auto indexed = cast<RankedTensorType>(take.getIndices().getType());
    Code source = in_full(take.getSource());
    // One element: the sum of what is nothing elsewhere.
    if (indexed.getDimSize(take.getDim()) == 1) {
      Code lanes = spread(line(Value(), type.getDimSize(take.getDim()), "cols"), type.getShape(), take.getDim());
      Code at = align(code_of(take.getIndices()), indexed, type);
      Code zero{isa<FloatType>(element_type(type)) ? "0.0" : "0", Binding::Atom, ""};
      if (element_type(type).isInteger(1)) refuse(op, "the choice of one truth value by its index");
      Code chosen = call("tl.where", {compare(lanes, "==", at), source, zero}, source.type);
      std::string sum_type = source.type == "int8" || source.type == "int16" ? "int32" : source.type;
      return converted(Code{fmt::format("tl.sum({}, axis={})", chosen.text, axis), Binding::Atom, sum_type, shape},
                       source.type);
    }
    if (indexed.getRank() != type.getRank() || squeezed_dims(indexed) != present)
      refuse(op, "an index tensor with other dimensions than what it takes from");
    Code indices = in_full(take.getIndices());
    return Code{fmt::format("tl.gather({}, {}, {})", source.text, indices.text, axis), Binding::Atom, source.type,
                shape};
  }
  return std::nullopt;
}

} // namespace tilewright::triton
