// The `tile` dialect: types, attributes and ops of tile IR and program IR. Documented in tile_types.td and tile_ops.td.
#pragma once

#include "ir/dim.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "ir/tile_dialect.h.inc"
#include "ir/tile_enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/tile_attrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/tile_types.h.inc"
namespace tilewright {
class YieldOp;
}
#define GET_OP_CLASSES
#include "ir/tile_ops.h.inc"

namespace tilewright {

/// What one subscript of a load or a store is; see tile.load.
enum class Subscript : int32_t { Whole, Tile, Scalar, Block, Gather, GatherWith };

/// One subscript with its operand and the dimension of the block it gives.
struct SubscriptUse {
  Subscript kind;
  mlir::Value operand;    // none for Whole
  int block_dim = -1;     // dimension of the loaded or stored value, the first one of a gather; -1 for Scalar
  mlir::Value valid = {}; // number of lanes that exist along block_dim; none: all. Not of a gather
  int block_rank = 1;     // of a gather: how many dimensions of the value are its tensor's
  bool is_gather() const { return kind == Subscript::Gather || kind == Subscript::GatherWith; }
};

/// The subscripts of an access in order, one per dimension of its array.
llvm::SmallVector<SubscriptUse> subscripts_of(LoadOp load);
llvm::SmallVector<SubscriptUse> subscripts_of(StoreOp store);
llvm::SmallVector<SubscriptUse> subscripts_of(AtomicOp atomic);
llvm::SmallVector<SubscriptUse> subscripts_of(AtomicCasOp atomic);

/// A load, store or atomic access, whichever it is.
class AccessOp {
public:
  /// Null where `op` is none of them.
  explicit AccessOp(mlir::Operation* op);
  explicit operator bool() const { return op_ != nullptr; }
  mlir::Operation* operation() const { return op_; }
  mlir::Value array() const;
  ArrayType array_type() const { return mlir::cast<ArrayType>(array().getType()); }
  /// The type of the block that is loaded, stored or exchanged.
  mlir::Type block() const;
  llvm::SmallVector<SubscriptUse> subscripts() const;
  mlir::Value mask() const; // null: none
  /// Which dimensions of the block have a bound, and how many of their lanes exist.
  llvm::SmallVector<std::pair<int32_t, mlir::Value>> bounds() const;
  mlir::OperandRange indices() const;
  bool reads() const { return !mlir::isa<StoreOp>(op_); }
  bool writes() const { return !mlir::isa<LoadOp>(op_); }

private:
  mlir::Operation* op_;
};

/// The dimensions of a device value: named by the encoding, or the static shape. Empty for a scalar.
llvm::SmallVector<Dim> dims_of(mlir::Type type);
inline llvm::SmallVector<Dim> dims_of(mlir::Value value) { return dims_of(value.getType()); }

/// The type of a device value with these dimensions: a tensor with its encoding, or the plain element type for rank 0.
mlir::Type value_type(mlir::Type element, llvm::ArrayRef<Dim> dims);

/// The type of a program IR value: a static tensor without encoding, or the plain element type for rank 0.
mlir::Type block_type(mlir::Type element, llvm::ArrayRef<int64_t> shape);

inline mlir::Type element_type(mlir::Type type) { return mlir::getElementTypeOrSelf(type); }

/// The value that changes nothing when combined, of the element type: 0 for add, -inf for max, ...
mlir::TypedAttr neutral_element(Reduction kind, mlir::Type element);

} // namespace tilewright
