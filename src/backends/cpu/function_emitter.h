// What the emit_*.cpp files share: the state of turning one func.func of the loops stage into LLVM IR. Private to
// loops_to_llvm.
#pragma once

#include "backends/cpu/debug_locations.h"
#include "backends/cpu/target.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <functional>
#include <string>

namespace tilewright::cpu {

class FunctionEmitter {
public:
  FunctionEmitter(llvm::Module& module, const CpuTarget& target)
      : builder(module.getContext()), module_(module), target_(target) {}

  // Emits `block`'s ops at the builder's position, up to its terminator, which the caller looks after.
  void emit_ops(mlir::Block& block);

  llvm::Value* get(mlir::Value value) const;
  void set(mlir::Value value, llvm::Value* emitted) { values_[value] = emitted; }

  // bf16 is i16, 8-bit floats are i8, index is i64, a memref is a pointer.
  llvm::Type* type(mlir::Type type, mlir::Operation* user);

  // The table of scalar functions, an argument of the kernel.
  void set_runtime_table(llvm::Value* table) { runtime_table_ = table; }

  // Gives what is emitted the source lines of its ops.
  void set_debug_locations(DebugLocations* locations) { debug_locations_ = locations; }

  // True once a streaming store was emitted: the kernel must then end with a store fence.
  bool has_streaming_stores() const { return has_streaming_stores_; }

  llvm::IRBuilder<> builder;

private:
  void emit_op(mlir::Operation& op);

  // One function a dialect; false for an op outside the set.
  bool emit_scf(mlir::Operation& op);
  bool emit_arith(mlir::Operation& op);
  bool emit_math(mlir::Operation& op);
  bool emit_memref(mlir::Operation& op);
  bool emit_vector(mlir::Operation& op);
  bool emit_vector_access(mlir::Operation& op);

  void emit_for(mlir::scf::ForOp op);
  void emit_only_trip(mlir::scf::ForOp op);
  void emit_if(mlir::scf::IfOp op);
  void emit_while(mlir::scf::WhileOp op);
  void emit_atomic(mlir::memref::GenericAtomicRMWOp op);
  void emit_print(mlir::Operation& op);
  void emit_sort(mlir::Operation& op);

  bool emit_integer_arith(mlir::Operation& op);
  bool emit_float_arith(mlir::Operation& op);
  bool emit_cast(mlir::Operation& op);
  llvm::Value* extend_float(llvm::Value* value, mlir::Type from, mlir::Type to, mlir::Operation* op);
  llvm::Value* truncate_float(llvm::Value* value, mlir::Type from, mlir::Type to, mlir::Operation* op);
  llvm::Constant* constant(mlir::Attribute value, mlir::Type type, mlir::Operation* op);
  llvm::Constant* element_constant(mlir::Attribute value, mlir::Type type, mlir::Operation* op);

  // a * b + c.
  llvm::Value* emit_fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  // y 2^n for integral n.
  llvm::Value* emit_scaled(llvm::Value* y, llvm::Value* n);
  // tile.composite, for the functions of the runtime table, tile.print and tile.sort_lanes.
  bool emit_tile(mlir::Operation& op);
  // The function that the runtime table has for `op`, lane by lane.
  llvm::Value* call_runtime(mlir::Operation& op, mlir::ValueRange arguments);

  // The address of memref[indices], and the alignment in bytes that it provably has.
  struct Address {
    llvm::Value* pointer;
    llvm::Align alignment;
  };
  Address address(mlir::Value memref, mlir::OperandRange indices, mlir::Operation* op);

  // Sets the builder's fast-math flags: contraction, and what `op` allows itself.
  void use_flags_of(mlir::Operation& op);

  llvm::Value* operand(mlir::Operation& op, unsigned index) const { return get(op.getOperand(index)); }
  void result(mlir::Operation& op, llvm::Value* value) { set(op.getResult(0), value); }

  // Applies `lane` to each lane of a vector or to a scalar.
  llvm::Value* for_each_lane(llvm::Type* result_type, llvm::ArrayRef<llvm::Value*> operands,
                             const std::function<llvm::Value*(llvm::ArrayRef<llvm::Value*>)>& lane);

  llvm::Module& module_;
  const CpuTarget& target_;
  llvm::DenseMap<mlir::Value, llvm::Value*> values_;
  llvm::Value* runtime_table_ = nullptr;
  DebugLocations* debug_locations_ = nullptr;
  bool has_streaming_stores_ = false;
};

// The largest power of two that provably divides an index, at most `limit`.
uint64_t known_divisor(mlir::Value index, uint64_t limit = 4096);

// Throws Error at the op's location.
[[noreturn]] void refuse(mlir::Operation* op, const std::string& why);

// The type `shape` has (scalar or vector), with elements of type `element`.
llvm::Type* with_element(llvm::Type* shape, llvm::Type* element);

} // namespace tilewright::cpu
