// arith: constants, integer and floating-point arithmetic, comparisons, selection. Conversions are in emit_cast.cpp.
#include "backends/cpu/function_emitter.h"
#include "backends/cpu/loops_to_llvm.h"
#include "support/planted_bug.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilewright::cpu {
namespace {

namespace arith = mlir::arith;
using llvm::Intrinsic::ID;

bool is_integral_power_of_two(mlir::Operation& op) {
  return mlir::isa<mlir::math::Exp2Op>(op) && op.hasAttr(kIntegral);
}

// Types that LLVM holds as integers.
bool is_held_as_bits(mlir::Type type) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  return element.isBF16() || element.isFloat8E4M3FN() || element.isFloat8E5M2();
}

llvm::CmpInst::Predicate predicate_of(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq: return llvm::CmpInst::ICMP_EQ;
  case arith::CmpIPredicate::ne: return llvm::CmpInst::ICMP_NE;
  case arith::CmpIPredicate::slt: return llvm::CmpInst::ICMP_SLT;
  case arith::CmpIPredicate::sle: return llvm::CmpInst::ICMP_SLE;
  case arith::CmpIPredicate::sgt: return llvm::CmpInst::ICMP_SGT;
  case arith::CmpIPredicate::sge: return llvm::CmpInst::ICMP_SGE;
  case arith::CmpIPredicate::ult: return llvm::CmpInst::ICMP_ULT;
  case arith::CmpIPredicate::ule: return llvm::CmpInst::ICMP_ULE;
  case arith::CmpIPredicate::ugt: return llvm::CmpInst::ICMP_UGT;
  case arith::CmpIPredicate::uge: return llvm::CmpInst::ICMP_UGE;
  }
  llvm_unreachable("all predicates are above");
}

llvm::CmpInst::Predicate predicate_of(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse: return llvm::CmpInst::FCMP_FALSE;
  case arith::CmpFPredicate::OEQ: return llvm::CmpInst::FCMP_OEQ;
  case arith::CmpFPredicate::OGT: return llvm::CmpInst::FCMP_OGT;
  case arith::CmpFPredicate::OGE: return llvm::CmpInst::FCMP_OGE;
  case arith::CmpFPredicate::OLT: return llvm::CmpInst::FCMP_OLT;
  case arith::CmpFPredicate::OLE: return llvm::CmpInst::FCMP_OLE;
  case arith::CmpFPredicate::ONE: return llvm::CmpInst::FCMP_ONE;
  case arith::CmpFPredicate::ORD: return llvm::CmpInst::FCMP_ORD;
  case arith::CmpFPredicate::UEQ: return llvm::CmpInst::FCMP_UEQ;
  case arith::CmpFPredicate::UGT: return llvm::CmpInst::FCMP_UGT;
  case arith::CmpFPredicate::UGE: return llvm::CmpInst::FCMP_UGE;
  case arith::CmpFPredicate::ULT: return llvm::CmpInst::FCMP_ULT;
  case arith::CmpFPredicate::ULE: return llvm::CmpInst::FCMP_ULE;
  case arith::CmpFPredicate::UNE: return llvm::CmpInst::FCMP_UNE;
  case arith::CmpFPredicate::UNO: return llvm::CmpInst::FCMP_UNO;
  case arith::CmpFPredicate::AlwaysTrue: return llvm::CmpInst::FCMP_TRUE;
  }
  llvm_unreachable("all predicates are above");
}

// Division rounding towards minus or plus infinity, from the truncating one: adjusted by one where there is a remainder
// and the quotient was rounded the other way.
llvm::Value* emit_rounded_division(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b, bool towards_plus) {
  llvm::Value* quotient = builder.CreateSDiv(a, b);
  llvm::Value* remainder = builder.CreateSub(a, builder.CreateMul(quotient, b));
  llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
  llvm::Value* inexact = builder.CreateICmpNE(remainder, zero);
  llvm::Value* signs_differ = builder.CreateICmpSLT(builder.CreateXor(remainder, b), zero);
  llvm::Value* adjust = builder.CreateAnd(inexact, towards_plus ? builder.CreateNot(signs_differ) : signs_differ);
  llvm::Value* one = llvm::ConstantInt::get(a->getType(), 1);
  llvm::Value* adjusted = towards_plus ? builder.CreateAdd(quotient, one) : builder.CreateSub(quotient, one);
  return builder.CreateSelect(adjust, adjusted, quotient);
}

llvm::Value* emit_ceildiv_unsigned(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b) {
  llvm::Value* quotient = builder.CreateUDiv(a, b);
  llvm::Value* remainder = builder.CreateSub(a, builder.CreateMul(quotient, b));
  llvm::Value* inexact = builder.CreateICmpNE(remainder, llvm::Constant::getNullValue(a->getType()));
  return builder.CreateAdd(quotient, builder.CreateZExt(inexact, a->getType()));
}

} // namespace

llvm::Constant* FunctionEmitter::element_constant(mlir::Attribute value, mlir::Type type, mlir::Operation* op) {
  llvm::Type* emitted = this->type(type, op);
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(value))
    return llvm::ConstantInt::get(emitted, integer.getValue().zextOrTrunc(emitted->getIntegerBitWidth()));
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(value)) {
    if (is_held_as_bits(type)) return llvm::ConstantInt::get(emitted, number.getValue().bitcastToAPInt());
    return llvm::ConstantFP::get(emitted, number.getValue());
  }
  refuse(op, "a constant of this kind");
}

llvm::Constant* FunctionEmitter::constant(mlir::Attribute value, mlir::Type type, mlir::Operation* op) {
  auto vector = mlir::dyn_cast<mlir::VectorType>(type);
  if (!vector) return element_constant(value, type, op);
  auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(value);
  if (!dense) refuse(op, "a vector constant that is not dense");
  mlir::Type element = vector.getElementType();
  if (dense.isSplat()) {
    auto count =
        llvm::ElementCount::getFixed(llvm::cast<llvm::FixedVectorType>(this->type(type, op))->getNumElements());
    return llvm::ConstantVector::getSplat(count, element_constant(dense.getSplatValue<mlir::Attribute>(), element, op));
  }
  llvm::SmallVector<llvm::Constant*> lanes;
  for (mlir::Attribute lane : dense.getValues<mlir::Attribute>()) lanes.push_back(element_constant(lane, element, op));
  return llvm::ConstantVector::get(lanes);
}

bool FunctionEmitter::emit_arith(mlir::Operation& op) {
  if (auto literal = mlir::dyn_cast<arith::ConstantOp>(op)) {
    result(op, constant(literal.getValue(), literal.getType(), &op));
    return true;
  }
  if (auto select = mlir::dyn_cast<arith::SelectOp>(op)) {
    result(op, builder.CreateSelect(operand(op, 0), operand(op, 1), operand(op, 2)));
    return true;
  }
  return emit_integer_arith(op) || emit_float_arith(op) || emit_cast(op);
}

bool FunctionEmitter::emit_integer_arith(mlir::Operation& op) {
  auto binary = [&](llvm::Instruction::BinaryOps opcode) {
    result(op, builder.CreateBinOp(opcode, operand(op, 0), operand(op, 1)));
    return true;
  };
  auto intrinsic = [&](ID id) {
    result(op, builder.CreateBinaryIntrinsic(id, operand(op, 0), operand(op, 1)));
    return true;
  };
  // The product of twice the width, as its low and its high half.
  auto extended_product = [&](bool is_signed) {
    llvm::Type* narrow = operand(op, 0)->getType();
    unsigned bits = narrow->getScalarSizeInBits();
    llvm::Type* wide = with_element(narrow, builder.getIntNTy(2 * bits));
    auto extend = [&](llvm::Value* v) { return is_signed ? builder.CreateSExt(v, wide) : builder.CreateZExt(v, wide); };
    llvm::Value* product = builder.CreateMul(extend(operand(op, 0)), extend(operand(op, 1)));
    set(op.getResult(0), builder.CreateTrunc(product, narrow));
    set(op.getResult(1), builder.CreateTrunc(builder.CreateLShr(product, bits), narrow));
    return true;
  };
  return llvm::TypeSwitch<mlir::Operation*, bool>(&op)
      .Case([&](arith::AddIOp) { return binary(llvm::Instruction::Add); })
      .Case([&](arith::SubIOp) { return binary(llvm::Instruction::Sub); })
      .Case([&](arith::MulIOp) { return binary(llvm::Instruction::Mul); })
      .Case([&](arith::DivSIOp) { return binary(llvm::Instruction::SDiv); })
      .Case([&](arith::DivUIOp) { return binary(llvm::Instruction::UDiv); })
      .Case([&](arith::RemSIOp) {
        return binary(planted(PlantedBug::unsigned_remainder) ? llvm::Instruction::URem : llvm::Instruction::SRem);
      })
      .Case([&](arith::RemUIOp) { return binary(llvm::Instruction::URem); })
      .Case([&](arith::AndIOp) { return binary(llvm::Instruction::And); })
      .Case([&](arith::OrIOp) { return binary(llvm::Instruction::Or); })
      .Case([&](arith::XOrIOp) { return binary(llvm::Instruction::Xor); })
      .Case([&](arith::ShLIOp) { return binary(llvm::Instruction::Shl); })
      .Case([&](arith::ShRSIOp) { return binary(llvm::Instruction::AShr); })
      .Case([&](arith::ShRUIOp) { return binary(llvm::Instruction::LShr); })
      .Case([&](arith::MaxSIOp) { return intrinsic(llvm::Intrinsic::smax); })
      .Case([&](arith::MaxUIOp) { return intrinsic(llvm::Intrinsic::umax); })
      .Case([&](arith::MinSIOp) { return intrinsic(llvm::Intrinsic::smin); })
      .Case([&](arith::MinUIOp) { return intrinsic(llvm::Intrinsic::umin); })
      .Case([&](arith::MulSIExtendedOp) { return extended_product(true); })
      .Case([&](arith::MulUIExtendedOp) { return extended_product(false); })
      .Case([&](arith::AddUIExtendedOp) {
        llvm::Value* sum = builder.CreateAdd(operand(op, 0), operand(op, 1));
        set(op.getResult(0), sum);
        set(op.getResult(1), builder.CreateICmpULT(sum, operand(op, 0)));
        return true;
      })
      .Case([&](arith::CeilDivSIOp) {
        result(op, emit_rounded_division(builder, operand(op, 0), operand(op, 1), true));
        return true;
      })
      .Case([&](arith::FloorDivSIOp) {
        result(op, emit_rounded_division(builder, operand(op, 0), operand(op, 1), false));
        return true;
      })
      .Case([&](arith::CeilDivUIOp) {
        result(op, emit_ceildiv_unsigned(builder, operand(op, 0), operand(op, 1)));
        return true;
      })
      .Case([&](arith::CmpIOp compare) {
        result(op, builder.CreateICmp(predicate_of(compare.getPredicate()), operand(op, 0), operand(op, 1)));
        return true;
      })
      .Default(false);
}

bool FunctionEmitter::emit_float_arith(mlir::Operation& op) {
  if (!mlir::isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::NegFOp,
                 arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp>(op))
    return false;
  if (is_held_as_bits(op.getOperand(0).getType())) refuse(&op, "arithmetic on bfloat16 and 8-bit floats");
  if (mlir::isa<arith::RemFOp>(op)) {
    result(op, call_runtime(op, op.getOperands()));
    return true;
  }
  use_flags_of(op);
  if (mlir::isa<arith::MulFOp>(op))
    if (mlir::Operation* power = op.getOperand(1).getDefiningOp(); power && is_integral_power_of_two(*power)) {
      result(op, emit_scaled(operand(op, 0), get(power->getOperand(0))));
      return true;
    }
  auto binary = [&](llvm::Instruction::BinaryOps opcode) {
    return builder.CreateBinOp(opcode, operand(op, 0), operand(op, 1));
  };
  auto intrinsic = [&](ID id) {
    return builder.CreateIntrinsic(id, {operand(op, 0)->getType()}, {operand(op, 0), operand(op, 1)});
  };
  result(op, llvm::TypeSwitch<mlir::Operation*, llvm::Value*>(&op)
                 .Case([&](arith::AddFOp) { return binary(llvm::Instruction::FAdd); })
                 .Case([&](arith::SubFOp) { return binary(llvm::Instruction::FSub); })
                 .Case([&](arith::MulFOp) { return binary(llvm::Instruction::FMul); })
                 .Case([&](arith::DivFOp) { return binary(llvm::Instruction::FDiv); })
                 .Case([&](arith::NegFOp) { return builder.CreateFNeg(operand(op, 0)); })
                 .Case([&](arith::MaximumFOp) { return intrinsic(llvm::Intrinsic::maximum); })
                 .Case([&](arith::MinimumFOp) { return intrinsic(llvm::Intrinsic::minimum); })
                 .Case([&](arith::MaxNumFOp) { return intrinsic(llvm::Intrinsic::maxnum); })
                 .Case([&](arith::MinNumFOp) { return intrinsic(llvm::Intrinsic::minnum); })
                 .Case([&](arith::CmpFOp compare) {
                   return builder.CreateFCmp(predicate_of(compare.getPredicate()), operand(op, 0), operand(op, 1));
                 }));
  return true;
}

} // namespace tilewright::cpu
