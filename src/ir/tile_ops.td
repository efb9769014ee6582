//===- tile_ops.td - operations of Tilewright's IR -----------------------*- tablegen -*-===//

#ifndef TILEWRIGHT_TILE_OPS
#define TILEWRIGHT_TILE_OPS

include "ir/tile_types.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Units: a kernel (tile IR) and a program (program IR)
//===----------------------------------------------------------------------===//

defvar Tile_unit_declaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::mlir::Block &block() { return getBody().front(); }
    /// The user's name of an argument, "" where it has none.
    ::llvm::StringRef argument_name(unsigned index);
  }];

class Tile_UnitOp<string mnemonic> : Tile_Op<mnemonic, [
    FunctionOpInterface, IsolatedFromAbove, Symbol, SingleBlock]> {
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = Tile_unit_declaration;
}

def Tile_KernelOp : Tile_UnitOp<"kernel"> {
  let summary = "a kernel of tile IR: host part and device loop";
  let description = [{
    Arguments are arrays and run-time numbers; `tile.name` on an argument is the user's name for it. The attribute
    `whole` (`#tile.dims`) defines r0, r1, ...: the length of each whole dimension, over sizes s, or numbers once
    pinned. Level: tile IR.

    ```mlir
    tile.kernel @add(%x: !tile.array<f32, [s0]> {tile.name = "x"}, %y: !tile.array<f32, [s1]> {tile.name = "y"})
        -> !tile.array<f32, [s0]> {
      %zero = arith.constant 0 : index
      %n = tile.extent <s0>
      %out = tile.empty : !tile.array<f32, [s0]>
      tile.for (%t: b0) = (%zero) to (%n) parallel {
        %a = tile.load %x[%t] : !tile.array<f32, [s0]> -> tensor<?xf32, #tile.dims<[b0]>>
        %b = tile.load %y[%t] : !tile.array<f32, [s1]> -> tensor<?xf32, #tile.dims<[b0]>>
        %c = arith.addf %a, %b : tensor<?xf32, #tile.dims<[b0]>>
        tile.store %c, %out[%t] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [s0]>
      }
      tile.return %out : !tile.array<f32, [s0]>
    }
    ```
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = Tile_unit_declaration # [{
    /// The definitions of r0, r1, ...
    ::llvm::SmallVector<::tilewright::Dim> whole_dims();
    void set_whole_dims(::llvm::ArrayRef<::tilewright::Dim> dims);
  }];
}

def Tile_ProgramOp : Tile_UnitOp<"program"> {
  let summary = "one SPMD program: what one config makes of a kernel";
  let description = [{
    Arguments are the kernel's own, then one array per allocation of the host part. `programs` is the number of
    programs of a launch; without it there is one per worker (a persistent program). `phases` counts the programs of
    each phase, in order of their ids: all programs of a phase end before one of the next begins. `grid` gives the
    programs along each axis, where `tile.program_id` has several.

    Where sizes are known at run time only, `tiles` stands for `programs` and `phases`: for each phase the tiles of its
    loops, which are so many programs, one loop after the other. Symbols s in the types of arguments and in
    `tile.extent` are the sizes of the arguments, strides `?` their strides. Level: program IR.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<I64Attr>:$programs, OptionalAttr<DenseI64ArrayAttr>:$phases,
                       OptionalAttr<DenseI64ArrayAttr>:$grid, OptionalAttr<ArrayAttr>:$tiles);
  let hasRegionVerifier = 1;
  let extraClassDeclaration = Tile_unit_declaration # [{
    /// How many programs a launch has in each phase, where s0, s1, ... are `sizes`; none for a persistent program.
    ::llvm::SmallVector<int64_t> programs_of_phases(::llvm::ArrayRef<int64_t> sizes);
    bool is_persistent() { return !getPrograms() && !getTiles(); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, ParentOneOf<["KernelOp", "ProgramOp"]>]> {
  let summary = "ends a kernel's host part with the tensors it gives back; ends a program with none";
  let arguments = (ins Variadic<Tile_Array>:$arrays);
  let assemblyFormat = "attr-dict ($arrays^ `:` type($arrays))?";
}

//===----------------------------------------------------------------------===//
// Host part
//===----------------------------------------------------------------------===//

def Tile_ExtentOp : Tile_Op<"extent", [Pure]> {
  let summary = "the number that a dimension stands for";
  let description = [{
    Legal on the host and on the device. Folds to a constant once it has no symbols. Level: tile IR; over sizes s that are
    known at run time only, both.
  }];
  let arguments = (ins Tile_DimAttr:$dim);
  let results = (outs Index:$value);
  let assemblyFormat = "$dim attr-dict";
  let hasFolder = 1;
}

def Tile_EmptyOp : Tile_Op<"empty", [MemoryEffects<[MemAlloc]>]> {
  let summary = "allocates a contiguous tensor";
  let description = [{
    Host part only; its sizes are those of the type. Every element is `fill` before the launch, or where there is none
    its elements are not set. Level: tile IR.
  }];
  let arguments = (ins OptionalAttr<TypedAttrInterface>:$fill);
  let results = (outs Tile_Array:$array);
  let assemblyFormat = "(`fill` $fill^)? attr-dict `:` type($array)";
  let hasVerifier = 1;
}

def Tile_CheckOp : Tile_Op<"check", [MemoryEffects<[MemWrite]>]> {
  let summary = "refuses a call whose sizes do not fit";
  let description = [{
    Host part only. `message` has one `{}` for each of `values`. The check fails the call before anything is
    allocated or written. Level: tile IR.
  }];
  let arguments = (ins I1:$condition, StrAttr:$message, Variadic<Index>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `)`)? attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemWrite]>]> {
  let summary = "stands between two outermost loops: all of the first ends before the second begins";
  let description = "Host part only. Level: tile IR.";
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Loops over tiles
//===----------------------------------------------------------------------===//

def Tile_ForOp : Tile_Op<"for", [
    AttrSizedOperandSegments, SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, [
      "getInitsMutable", "getRegionIterArgs", "getYieldedValuesMutable", "getLoopResults"]>]> {
  let summary = "walks a range in tiles";
  let description = [{
    For each dimension: a lower and an upper bound and a block: an own block id (`b0`), another dimension, or 1 with a
    plain `index` as variable (a grid). The outermost loop is `parallel`: its iterations are independent programs. An
    inner one runs in order, its dimensions nested first to last, and may carry values. Level: tile IR.

    ```mlir
    %sum = tile.for (%k: b2) = (%zero) to (%n) carry(%acc = %init) : tensor<?xf32, #tile.dims<[b0]>> {
      ...
      tile.yield %next : tensor<?xf32, #tile.dims<[b0]>>
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$lower, Variadic<Index>:$upper, Variadic<Tile_Value>:$initial,
                       Tile_DimsAttr:$blocks, UnitAttr:$parallel);
  let results = (outs Variadic<Tile_Value>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    unsigned rank() { return getLower().size(); }
    ::mlir::Block &block() { return getBody().front(); }
    /// The loop's own variables: a tile, or an index where the block is 1 and the dimension a grid.
    ::mlir::Block::BlockArgListType variables() { return block().getArguments().take_front(rank()); }
    ::mlir::Block::BlockArgListType carried() { return block().getArguments().drop_front(rank()); }
    ::tilewright::YieldOp yield();
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [
    Pure, Terminator, ReturnLike, ParentOneOf<["ForOp", "CombineOp", "ScanOp"]>]> {
  let summary = "ends an iteration with the values it carries on, or a combiner with what it makes of two";
  let arguments = (ins Variadic<Tile_Value>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

class Tile_TileNumberOp<string mnemonic, string what> : Tile_Op<mnemonic, [Pure]> {
  let summary = what;
  let description = "Level: tile IR.";
  let arguments = (ins Tile_Tile:$tile);
  let results = (outs Index:$value);
  let assemblyFormat = "$tile attr-dict `:` type($tile)";
}
def Tile_BeginOp : Tile_TileNumberOp<"begin", "the first index of a tile">;
def Tile_EndOp : Tile_TileNumberOp<"end", "one past the last index of a tile that exists">;
def Tile_IdOp : Tile_TileNumberOp<"id", "begin divided by the block size">;
def Tile_CountOp : Tile_TileNumberOp<"count", "the number of tiles that the tile's loop walks">;

def Tile_IndexOp : Tile_Op<"index", [Pure]> {
  let summary = "the element indices of a tile, not clipped at its end";
  let description = "Level: tile IR.";
  let arguments = (ins Tile_Tile:$tile);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
}

def Tile_ShiftOp : Tile_Op<"shift", [Pure, AllTypesMatch<["tile", "result"]>]> {
  let summary = "a tile moved by some elements";
  let description = "As many lanes exist as of the tile it is made from. Level: tile IR.";
  let arguments = (ins Tile_Tile:$tile, Index:$by);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$tile `by` $by attr-dict `:` type($tile)";
}

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "a range of a dimension as a tile: what begin : begin + n is in a subscript";
  let description = [{
    Its extent is the type's. All of its lanes exist, or where `end` is given, those before it. Level: tile IR.
  }];
  let arguments = (ins Index:$begin, Optional<Index>:$end);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$begin (`to` $end^)? attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

class Tile_AccessOp<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic, [
    AttrSizedOperandSegments] # traits> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_AccessOp<"load"> {
  let summary = "reads a block of a tensor in memory";
  let description = [{
    One subscript per dimension of the array:

    | written | kind | operand | the result's dimension | level |
    | --- | --- | --- | --- | --- |
    | `:` | whole | none | the whole dimension | both |
    | `%t` | tile | a tile | the tile's extent; 1 where the array's size is 1 | tile IR |
    | `at %i` | scalar | index | none: the dimension is dropped | both |
    | `%i : 64` | block | index, the first element | the static size | program IR |
    | `gather %i` | gather | a tensor of integers, the elements | the tensor's dimensions | both |
    | `with %i` | the same | likewise | none of its own: goes lane by lane with the gather before it | both |

    `valid [%n, _]` gives, for each dimension of the result, how many of its lanes exist; `_` says that all do. Lanes
    that do not exist are not read, and their value is unspecified. In tile IR the tiles say it. A load without
    dimensions gives a scalar. Lanes where `mask` is false are not read either; they exist, and are 0.

    `access` says how memory is reached and `eviction` what the cache shall do; without them the backend decides.
  }];
  let arguments = (ins Arg<Tile_Array, "", [MemRead]>:$array, Variadic<AnyType>:$indices, Variadic<Index>:$valid,
                       Optional<AnyType>:$mask, DenseI32ArrayAttr:$subscripts, DenseI32ArrayAttr:$valid_dims,
                       OptionalAttr<Tile_AccessAttr>:$access, OptionalAttr<Tile_EvictionAttr>:$eviction);
  let results = (outs Tile_Value:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$array, "::mlir::ValueRange":$indices,
                                 "::mlir::ValueRange":$valid, "::llvm::ArrayRef<int32_t>":$subscripts,
                                 "::llvm::ArrayRef<int32_t>":$valid_dims), [{
    build($_builder, $_state, type, array, indices, valid, ::mlir::Value(), subscripts, valid_dims, AccessAttr(),
          EvictionAttr());
  }]>];
}

def Tile_StoreOp : Tile_AccessOp<"store"> {
  let summary = "writes a block of a tensor in memory";
  let description = [{
    Subscripts, `valid`, `mask` and hints as in `tile.load`. The value has exactly the block's shape and the array's
    element type. Lanes that do not exist, or where the mask is false, are not written. Where a gather names one element
    twice, the element gets one of the lanes.
  }];
  let arguments = (ins Tile_Value:$value, Arg<Tile_Array, "", [MemWrite]>:$array, Variadic<AnyType>:$indices,
                       Variadic<Index>:$valid, Optional<AnyType>:$mask, DenseI32ArrayAttr:$subscripts,
                       DenseI32ArrayAttr:$valid_dims, OptionalAttr<Tile_AccessAttr>:$access,
                       OptionalAttr<Tile_EvictionAttr>:$eviction);
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$array, "::mlir::ValueRange":$indices,
                                 "::mlir::ValueRange":$valid, "::llvm::ArrayRef<int32_t>":$subscripts,
                                 "::llvm::ArrayRef<int32_t>":$valid_dims), [{
    build($_builder, $_state, value, array, indices, valid, ::mlir::Value(), subscripts, valid_dims, AccessAttr(),
          EvictionAttr());
  }]>];
}

def Tile_AtomicOp : Tile_AccessOp<"atomic"> {
  let summary = "changes elements of a tensor in memory, each at once, and gives what they were";
  let description = [{
    Subscripts, `valid` and `mask` as in `tile.load`; `value` has the block's shape and the array's element type. `max`
    and `min` give the number where one of the two is NaN. Lanes that are not accessed give 0. Level: both.
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_Value:$value,
                       Arg<Tile_Array, "", [MemRead, MemWrite]>:$array, Variadic<AnyType>:$indices,
                       Variadic<Index>:$valid, Optional<AnyType>:$mask, DenseI32ArrayAttr:$subscripts,
                       DenseI32ArrayAttr:$valid_dims, Tile_MemoryOrderAttr:$order,
                       OptionalAttr<Tile_AccessAttr>:$access);
  let results = (outs Tile_Value:$result);
}

def Tile_AtomicCasOp : Tile_AccessOp<"atomic_cas"> {
  let summary = "writes elements that have an expected value, each at once, and gives what they were";
  let description = "As `tile.atomic`; `expected` is compared bit by bit. Level: both.";
  let arguments = (ins Tile_Value:$expected, Tile_Value:$value,
                       Arg<Tile_Array, "", [MemRead, MemWrite]>:$array, Variadic<AnyType>:$indices,
                       Variadic<Index>:$valid, Optional<AnyType>:$mask, DenseI32ArrayAttr:$subscripts,
                       DenseI32ArrayAttr:$valid_dims, Tile_MemoryOrderAttr:$order);
  let results = (outs Tile_Value:$result);
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "prints a text and values from the device";
  let description = [{
    One line for each lane that exists: the text, the program's id, the lane's indices and its number. In program IR
    `valid` says which lanes exist. In the loops stage the value is one lane, f64, i64 or i1, and `valid` are the
    program's id and the lane's indices. Level: both.
  }];
  let arguments = (ins StrAttr:$text, Optional<Tile_Value>:$value, Variadic<Index>:$valid,
                       DefaultValuedAttr<DenseI32ArrayAttr, "{}">:$valid_dims);
  let assemblyFormat = [{
    $text ($value^ `:` type($value) custom<Valid>($valid, $valid_dims, ref(type($value))))? attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Creation and shape
//===----------------------------------------------------------------------===//

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a scalar as a tensor of any shape";
  let description = [{
    Every lane has the scalar's value, whether it exists or not: the result takes on the validity of what it is
    combined with. Level: both.
  }];
  let arguments = (ins Tile_Scalar:$scalar);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$scalar attr-dict `:` type($scalar) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_FullOp : Tile_Op<"full", [Pure]> {
  let summary = "a new tensor, one value in each lane that exists";
  let description = [{
    What `zeros({tile_m, 64})` records. `tiles` lists, for the dimensions in `tile_dims`, the tile that limits which
    lanes exist; other dimensions exist whole. Level: tile IR.
  }];
  let arguments = (ins Tile_Scalar:$scalar, Variadic<Tile_Tile>:$tiles, DenseI32ArrayAttr:$tile_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $scalar (`tiles` `(` $tiles^ `:` type($tiles) `)`)? `at` $tile_dims attr-dict `:` type($scalar) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "begin, begin + 1, ...";
  let description = "A one-dimensional tensor of integers. Level: program IR.";
  let arguments = (ins Index:$begin);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$begin attr-dict `:` type($result)";
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats dimensions of size 1";
  let description = "Operand and result have one rank; where they differ, the operand's dimension is 1. Level: both.";
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "inserts a dimension of size 1";
  let description = "`dim` is its position in the result. A scalar becomes a tensor of rank 1. Level: both.";
  let arguments = (ins Tile_Value:$source, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `dim` $dim attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure]> {
  let summary = "permutes dimensions";
  let description = "Dimension d of the result is dimension `permutation[d]` of the source. Level: both.";
  let arguments = (ins AnyRankedTensor:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source $permutation attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements, in row-major order, under other dimensions";
  let description = [{
    Operand and result have as many elements. Dimensions that merge or split exist whole; others keep their lanes.
    Level: both.
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_TakeOp : Tile_Op<"take", [Pure]> {
  let summary = "elements of a value, chosen along one dimension by their indices";
  let description = [{
    `result[..., i, ...] = source[..., indices[..., i, ...], ...]`, the index standing in place of dimension `dim`.
    `indices` has the result's dimensions; the other dimensions are the source's. An index beyond the source gives an
    unspecified number. Level: both.
  }];
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$indices, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `,` $indices `dim` $dim attr-dict `:` type($source) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_TogetherOp : Tile_Op<"together", [Pure]> {
  let summary = "values that a function of several ops takes, and that must exist in the same lanes";
  let description = [{
    What is made of several ops has no neutral element, though each of the ops may have one. It is checked and erased at
    the end of recording. Level: tile IR.
  }];
  let arguments = (ins StrAttr:$function, Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "$function `(` $values `)` attr-dict `:` type($values)";
}

def Tile_SortOp : Tile_Op<"sort", [Pure]> {
  let summary = "the order of the lanes of one dimension: where the first of them is, the second, and so on";
  let description = [{
    Ascending, or with `descending` the other way; equal lanes keep their order, -0 is equal to 0, NaN is larger than
    every number. `tile.take` of the source by the result is what is sorted. The elements are f32, f64, i32 or i64, the
    dimension is whole, the result is of i64. Level: both.
  }];
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$dim, UnitAttr:$descending);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `dim` $dim (`descending` $descending^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_SortLanesOp : Tile_Op<"sort_lanes", [
    MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "writes the order of a row of memory, as `tile.sort` has it";
  let description = [{
    Of `count` neighbours in `keys`, from the given place on, to as many in `order`, which is of i64. Level: the CPU
    backend's loops stage.
  }];
  let arguments = (ins AnyMemRef:$keys, AnyMemRef:$order, Variadic<Index>:$keys_at, Variadic<Index>:$order_at,
                       I64Attr:$count, UnitAttr:$descending);
  let assemblyFormat = [{
    $keys `[` $keys_at `]` `,` $order `[` $order_at `]` `count` $count (`descending` $descending^)? attr-dict `:`
    type($keys) `,` type($order)
  }];
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

def Tile_CompositeOp : Tile_Op<"composite", [Pure, SameOperandsAndResultType]> {
  let summary = "a pointwise function of PyTorch that backends may have an own way for";
  let description = [{
    `sigmoid(x) = 1 / (1 + exp(-x))`, `silu(x) = x * sigmoid(x)`, `gelu(x) = x / 2 * (1 + erf(x / sqrt(2)))`,
    `gelu_tanh(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`, `softplus(x) = log(1 + exp(x))`,
    `erfc(x) = 1 - erf(x)`, `erfinv` the inverse of erf, `lgamma` the logarithm of the gamma function's magnitude.
    Level: both; the CPU backend's loops stage has it on vectors too, for functions that the runtime table computes.
  }];
  let arguments = (ins Tile_CompositeAttr:$function, AnyTypeOf<[Tile_Value, VectorOf<[AnyFloat]>]>:$operand);
  let results = (outs AnyTypeOf<[Tile_Value, VectorOf<[AnyFloat]>]>:$result);
  let assemblyFormat = "$function $operand attr-dict `:` type($operand)";
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combines the lanes of some dimensions";
  let description = [{
    The reduced dimensions disappear; a result without dimensions is a scalar. Only lanes that exist take part: in
    program IR `valid` gives their number for the dimensions of the operand listed in `valid_dims`. Over no lanes the
    result is the combiner's neutral element. `max` and `min` propagate NaN. The order of combination is free.
    Level: both.
  }];
  let arguments = (ins Tile_ReductionAttr:$kind, AnyRankedTensor:$source, Variadic<Index>:$valid,
                       DenseI64ArrayAttr:$dims, DenseI32ArrayAttr:$valid_dims);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $kind $source `dims` $dims attr-dict `:` type($source) `->` type($result)
    custom<Valid>($valid, $valid_dims, ref(type($source)))
  }];
  let hasVerifier = 1;
}

class Tile_CombinerOp<string mnemonic> : Tile_Op<mnemonic, [Pure, SingleBlock, AttrSizedOperandSegments]> {
  let regions = (region SizedRegion<1>:$combiner);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &block() { return getCombiner().front(); }
    ::tilewright::YieldOp yield();
  }];
}

def Tile_CombineOp : Tile_CombinerOp<"combine"> {
  let summary = "combines the lanes of one dimension, of one or several values at once, by a function of the user's";
  let description = [{
    The combiner takes the scalars of all values on the left, then those on the right, and yields as many; it is
    associative and commutative. Lanes that do not exist take no part; over no lanes the results are `other`. The
    dimension disappears. In program IR `valid` is the number of lanes along it. Level: both.

    ```mlir
    %m, %i = tile.combine (%x, %n) other(%low, %none) dim 1 {
    ^bb0(%a: f32, %k: i32, %b: f32, %l: i32):
      ...
      tile.yield %max, %where : f32, i32
    } : (tensor<?x64xf32, #tile.dims<[b0, 64]>>, ...) -> (tensor<?xf32, #tile.dims<[b0]>>, ...)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, Variadic<Tile_Scalar>:$other, Optional<Index>:$valid,
                       I64Attr:$dim);
  let results = (outs Variadic<Tile_Value>:$results);
}

def Tile_ScanOp : Tile_CombinerOp<"scan"> {
  let summary = "the running combination along one dimension, of one or several values at once";
  let description = [{
    Lane i of a result combines lanes 0 to i, in order; with `reverse`, those from the last one that exists down to i.
    The combiner is as in `tile.combine`, but need not be commutative. Lanes that do not exist are passed over. In
    program IR `valid` is the number of lanes along the dimension. Level: both.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, Optional<Index>:$valid, I64Attr:$dim, UnitAttr:$reverse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
}

def Tile_LaneCountOp : Tile_Op<"lane_count", [Pure]> {
  let summary = "how many lanes of a value exist along some dimensions";
  let description = "What `mean` divides by. Level: tile IR.";
  let arguments = (ins AnyRankedTensor:$source, DenseI64ArrayAttr:$dims);
  let results = (outs Index:$count);
  let assemblyFormat = "$source `dims` $dims attr-dict `:` type($source)";
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product added to an accumulator";
  let description = [{
    `acc[..., m, n] + sum over k of a[..., m, k] * b[..., k, n]`. Leading dimensions are batches, equal in all three.
    Products are formed and added in the accumulator's type. Lanes of k that do not exist add nothing; in program IR
    `valid` is their number. A transposed operand is a `tile.transpose` before it, which backends look through.
    Level: both.
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, AnyRankedTensor:$acc, Optional<Index>:$valid);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`valid` $valid^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Program ids
//===----------------------------------------------------------------------===//

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "the number of this program in its launch";
  let description = "`axis` is for a program with a `grid` of several axes. Level: program IR.";
  let arguments = (ins DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs Index:$id);
  let assemblyFormat = "attr-dict";
}

def Tile_WorkerCountOp : Tile_Op<"worker_count", [Pure]> {
  let summary = "the number of workers of the launch, which is the number of programs of a persistent one";
  let description = "Level: program IR.";
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}

def Tile_MapProgramOp : Tile_Op<"map_program", [Pure]> {
  let summary = "the coordinates of the tile that a program works on";
  let description = [{
    `counts` is the number of tiles along each dimension, outermost first, a number or an index; `id` counts them with
    the last one running fastest. `group` > 1 (the last two dimensions) walks `group` tiles of the second-last dimension together before it
    steps along the last, so that neighbouring programs share operands in the cache. Level: program IR.
  }];
  let arguments = (ins Index:$id, Variadic<Index>:$run_time_counts, DenseI64ArrayAttr:$counts,
                       DefaultValuedAttr<I64Attr, "1">:$group);
  let results = (outs Variadic<Index>:$coordinates);
  let assemblyFormat = [{
    $id `into` custom<DynamicIndexList>($run_time_counts, $counts) attr-dict `:` type($coordinates)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$id, "::llvm::ArrayRef<::mlir::OpFoldResult>":$counts)>];
  let extraClassDeclaration = [{
    /// Along each dimension an index attribute or a value.
    ::llvm::SmallVector<::mlir::OpFoldResult> mixed_counts();
  }];
}

#endif
