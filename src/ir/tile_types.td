//===- tile_types.td - dialect, attributes and types of Tilewright's IR ---*- tablegen -*-===//

#ifndef TILEWRIGHT_TILE_TYPES
#define TILEWRIGHT_TILE_TYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilewright";
  let summary = "kernels over tiles, before and after a config is applied";
  let description = [{
    The dialect has two levels, and every op says on which it may stand.

    *Tile IR* says what a kernel computes. Its unit is `tile.kernel`: a host part (sizes, checks, allocations) and one
    outermost `tile.for`, whose body is the device program of one tile. Device values are builtin tensors with the
    encoding `#tile.dims`, which names each dynamic dimension; scalars on the device are plain MLIR scalars. Pointwise
    work is `arith` and `math`.

    *Program IR* says how one config runs it. Its unit is `tile.program`: one SPMD program with static tile shapes, no
    encodings, `scf.for` loops, and accesses that name the block they touch and how many of its lanes exist.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasCanonicalizer = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = "void register_attributes_and_types();";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Tile_DimAttr : AttrDef<Tile_Dialect, "Dim"> {
  let mnemonic = "dim";
  let summary = "one dimension: a polynomial over block sizes b, whole dimensions r and sizes s";
  let description = "Example: `#tile.dim<2 * b0 + 64>`. See `ir/dim.h`.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$code);
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "const ::tilewright::Dim &":$dim), [{
    return $_get($_ctxt, dim.encode());
  }]>];
  let extraClassDeclaration = "::tilewright::Dim dim() const { return ::tilewright::Dim::decode(getCode()); }";
}

def Tile_DimsAttr : AttrDef<Tile_Dialect, "Dims", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "dims";
  let summary = "the names of a device value's dimensions";
  let description = [{
    The encoding of every ranked tensor in tile IR: `tensor<?x64xf32, #tile.dims<[b0, 64]>>`. A named dimension is
    dynamic in the shape, a constant one static.
  }];
  let parameters = (ins ArrayRefParameter<"::tilewright::DimAttr">:$dims);
  let hasCustomAssemblyFormat = 1;
}

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tilewright";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<Tile_Dialect, info, mnemonic>;

def Tile_Reduction : Tile_Enum<"Reduction", "the known combiners of a reduction", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
  I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]>;
def Tile_ReductionAttr : Tile_EnumAttr<Tile_Reduction, "reduction">;

def Tile_AtomicKind : Tile_Enum<"AtomicKind", "what an atomic access does to an element", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"And", 1, "and">, I32EnumAttrCase<"Or", 2, "or">,
  I32EnumAttrCase<"Xor", 3, "xor">, I32EnumAttrCase<"Max", 4, "max">, I32EnumAttrCase<"Min", 5, "min">,
  I32EnumAttrCase<"Exchange", 6, "xchg">]>;
def Tile_AtomicKindAttr : Tile_EnumAttr<Tile_AtomicKind, "atomic">;

def Tile_MemoryOrder : Tile_Enum<"MemoryOrder", "how an atomic access is ordered with others of its thread", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">, I32EnumAttrCase<"AcquireRelease", 3, "acq_rel">]>;
def Tile_MemoryOrderAttr : Tile_EnumAttr<Tile_MemoryOrder, "order">;

def Tile_Access : Tile_Enum<"Access", "how memory is reached", [
  I32EnumAttrCase<"Pointer", 0, "pointer">, I32EnumAttrCase<"BlockPtr", 1, "block_ptr">,
  I32EnumAttrCase<"TensorDescriptor", 2, "tensor_descriptor">]>;
def Tile_AccessAttr : Tile_EnumAttr<Tile_Access, "access">;

def Tile_Eviction : Tile_Enum<"Eviction", "which of the data in a cache leaves it", [
  I32EnumAttrCase<"First", 0, "first">, I32EnumAttrCase<"Last", 1, "last">]>;
def Tile_EvictionAttr : Tile_EnumAttr<Tile_Eviction, "eviction">;

def Tile_Composite : Tile_Enum<"Composite", "pointwise functions kept whole until the backend", [
  I32EnumAttrCase<"Sigmoid", 0, "sigmoid">, I32EnumAttrCase<"Silu", 1, "silu">,
  I32EnumAttrCase<"Gelu", 2, "gelu">, I32EnumAttrCase<"GeluTanh", 3, "gelu_tanh">,
  I32EnumAttrCase<"Softplus", 4, "softplus">, I32EnumAttrCase<"Erfc", 5, "erfc">,
  I32EnumAttrCase<"Erfinv", 6, "erfinv">, I32EnumAttrCase<"Lgamma", 7, "lgamma">]>;
def Tile_CompositeAttr : Tile_EnumAttr<Tile_Composite, "composite">;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Tile_TilesAttr : AttrDef<Tile_Dialect, "Tiles"> {
  let mnemonic = "tiles";
  let summary = "how many tiles an outermost loop has, where its lengths are known at run time";
  let description = [{
    `#tile.tiles<[s0, s1] by [64, 128]>`: along each dimension the length, which counts as 0 where it is negative,
    divided by the block and rounded up; the product of these.
  }];
  let parameters = (ins ArrayRefParameter<"::tilewright::DimAttr">:$lengths, ArrayRefParameter<"int64_t">:$blocks);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Where s0, s1, ... are `sizes`.
    int64_t count(::llvm::ArrayRef<int64_t> sizes) const;
  }];
}

def Tile_ArrayType : TypeDef<Tile_Dialect, "Array"> {
  let mnemonic = "array";
  let summary = "a tensor in memory: an argument or an allocation";
  let description = [{
    `!tile.array<f32, [s0, s1]>`, and once pinned `!tile.array<f32, [1024, 512], strides [512, 1], align 16>`, or
    `!tile.array<f32, [s0, s1], strides [?, 1], align 16>` where sizes are known at run time only. Strides count
    elements; `?` (kDynamic) is known at run time. `align` is what may be assumed of the data pointer, in bytes; without
    it, the element's own size. A `bool` array has element type i1 and one byte per element. A `uint8` array has element
    type ui8; values on the device are signless, i8, and ops say how they take them.
  }];
  let parameters = (ins "::mlir::Type":$elementType, ArrayRefParameter<"::tilewright::DimAttr">:$dims,
                        ArrayRefParameter<"int64_t">:$strides, "int64_t":$alignment);
  let hasCustomAssemblyFormat = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType,
                                                      "::llvm::ArrayRef<::tilewright::DimAttr>":$dims), [{
    return $_get(elementType.getContext(), elementType, dims, ::llvm::ArrayRef<int64_t>(), int64_t(0));
  }]>];
  let extraClassDeclaration = [{
    int64_t rank() const { return getDims().size(); }
    /// The type of one element as a value on the device: i8 for ui8.
    ::mlir::Type value_element() const;
    bool is_pinned() const;
    /// Whether all sizes and strides of a pinned array are numbers.
    bool is_static() const;
    /// The sizes of a pinned array; kDynamic where one is known at run time only.
    ::llvm::SmallVector<int64_t> sizes() const;
    /// Likewise.
    int64_t stride(unsigned dim) const { return getStrides()[dim]; }
    /// The alignment that may be assumed, in bytes.
    int64_t known_alignment() const;
    /// Bytes of one element in memory, and of all elements of a pinned array, where that is known.
    int64_t element_bytes() const;
    ::std::optional<int64_t> bytes() const;
  }];
}

def Tile_TileType : TypeDef<Tile_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "the range of one dimension that one iteration of a tile loop works on";
  let description = "`!tile.tile<b0>`: a begin, an end clipped to the loop's bound, and an extent of b0 lanes.";
  let parameters = (ins "::tilewright::DimAttr":$extent);
  let hasCustomAssemblyFormat = 1;
}

def Tile_Array : Type<CPred<"::llvm::isa<::tilewright::ArrayType>($_self)">, "tensor in memory">;
def Tile_Tile : Type<CPred<"::llvm::isa<::tilewright::TileType>($_self)">, "tile">;
/// A value on the device: a tensor, or a scalar for rank 0.
def Tile_Value : AnyTypeOf<[AnyRankedTensor, AnyFloat, AnySignlessInteger, Index], "device value">;
def Tile_Scalar : AnyTypeOf<[AnyFloat, AnySignlessInteger, Index], "device scalar">;

#endif
