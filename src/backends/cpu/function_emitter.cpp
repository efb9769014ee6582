#include "backends/cpu/function_emitter.h"

#include "backends/cpu/loops_to_llvm.h"
#include "ir/context.h"
#include "support/error.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Location.h"

namespace tilewright::cpu {

void refuse(mlir::Operation* op, const std::string& why) {
  fail(source_location(op->getLoc()), "the CPU code emitter does not know {}: {}", op->getName().getStringRef().str(),
       why);
}

llvm::Type* with_element(llvm::Type* shape, llvm::Type* element) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape);
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

llvm::Value* FunctionEmitter::get(mlir::Value value) const {
  auto found = values_.find(value);
  assert(found != values_.end() && "operands dominate their uses in verified IR");
  return found->second;
}

llvm::Type* FunctionEmitter::type(mlir::Type type, mlir::Operation* user) {
  if (type.isIndex()) return builder.getInt64Ty();
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) {
    unsigned bits = integer.getWidth();
    if (bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64) return builder.getIntNTy(bits);
  }
  if (type.isF32()) return builder.getFloatTy();
  if (type.isF64()) return builder.getDoubleTy();
  if (type.isF16()) return builder.getHalfTy();
  if (type.isBF16()) return builder.getInt16Ty();
  if (type.isFloat8E4M3FN() || type.isFloat8E5M2()) return builder.getInt8Ty();
  if (mlir::isa<mlir::MemRefType>(type)) return builder.getPtrTy();
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type)) {
    if (vector.getRank() != 1 || vector.isScalable()) refuse(user, "a vector that has not one static dimension");
    return llvm::FixedVectorType::get(this->type(vector.getElementType(), user), vector.getDimSize(0));
  }
  std::string text;
  llvm::raw_string_ostream(text) << type;
  refuse(user, "type " + text);
}

void FunctionEmitter::emit_ops(mlir::Block& block) {
  for (mlir::Operation& op : block.without_terminator()) {
    if (debug_locations_) builder.SetCurrentDebugLocation(debug_locations_->of(op.getLoc()));
    emit_op(op);
  }
}

void FunctionEmitter::emit_op(mlir::Operation& op) {
  llvm::StringRef dialect = op.getName().getDialectNamespace();
  bool known = dialect == "arith"    ? emit_arith(op)
               : dialect == "vector" ? emit_vector(op)
               : dialect == "memref" ? emit_memref(op)
               : dialect == "scf"    ? emit_scf(op)
               : dialect == "math"   ? emit_math(op)
               : dialect == "tile"   ? emit_tile(op)
                                     : false;
  if (!known) refuse(&op, "not an op of the loops stage");
}

void FunctionEmitter::use_flags_of(mlir::Operation& op) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(!op.hasAttr(kRounded));
  if (auto has_flags = mlir::dyn_cast<mlir::arith::ArithFastMathInterface>(op)) {
    auto given = has_flags.getFastMathFlagsAttr().getValue();
    auto has = [&](mlir::arith::FastMathFlags flag) { return mlir::arith::bitEnumContainsAll(given, flag); };
    if (has(mlir::arith::FastMathFlags::reassoc)) flags.setAllowReassoc();
    if (has(mlir::arith::FastMathFlags::nnan)) flags.setNoNaNs();
    if (has(mlir::arith::FastMathFlags::ninf)) flags.setNoInfs();
    if (has(mlir::arith::FastMathFlags::nsz)) flags.setNoSignedZeros();
    if (has(mlir::arith::FastMathFlags::arcp)) flags.setAllowReciprocal();
    if (has(mlir::arith::FastMathFlags::afn)) flags.setApproxFunc();
  }
  builder.setFastMathFlags(flags);
}

llvm::Value* FunctionEmitter::for_each_lane(llvm::Type* result_type, llvm::ArrayRef<llvm::Value*> operands,
                                            const std::function<llvm::Value*(llvm::ArrayRef<llvm::Value*>)>& lane) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(result_type);
  if (!vector) return lane(operands);
  llvm::Value* result = llvm::PoisonValue::get(vector);
  for (unsigned i = 0; i < vector->getNumElements(); ++i) {
    llvm::SmallVector<llvm::Value*> scalars;
    for (llvm::Value* operand : operands) scalars.push_back(builder.CreateExtractElement(operand, i));
    result = builder.CreateInsertElement(result, lane(scalars), i);
  }
  return result;
}

} // namespace tilewright::cpu
