// math: what has instructions becomes intrinsics; elementary functions become calls through the runtime table, lane by
// lane.
#include "backends/cpu/function_emitter.h"
#include "backends/cpu/loops_to_llvm.h"
#include "backends/cpu/runtime_functions.h"
#include "ir/tile_dialect.h"
#include "runtime/kernel_abi.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"
#include <algorithm>
#include <numeric>

namespace tilewright::cpu {
namespace {

namespace math = mlir::math;
using llvm::Intrinsic::ID;

ID intrinsic_of(mlir::Operation& op) {
  return llvm::TypeSwitch<mlir::Operation*, ID>(&op)
      .Case([](math::SqrtOp) { return llvm::Intrinsic::sqrt; })
      .Case([](math::AbsFOp) { return llvm::Intrinsic::fabs; })
      .Case([](math::FloorOp) { return llvm::Intrinsic::floor; })
      .Case([](math::CeilOp) { return llvm::Intrinsic::ceil; })
      .Case([](math::RoundOp) { return llvm::Intrinsic::round; })
      .Case([](math::RoundEvenOp) { return llvm::Intrinsic::roundeven; })
      .Case([](math::TruncOp) { return llvm::Intrinsic::trunc; })
      .Case([](math::CopySignOp) { return llvm::Intrinsic::copysign; })
      .Case([](math::CtPopOp) { return llvm::Intrinsic::ctpop; })
      .Default([](mlir::Operation*) { return llvm::Intrinsic::not_intrinsic; });
}

} // namespace

// Without the instruction, an exact fused multiply-add is a library call: then two roundings have to do.
llvm::Value* FunctionEmitter::emit_fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  builder.clearFastMathFlags();
  if (target_.has_fma) return builder.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  return builder.CreateFAdd(builder.CreateFMul(a, b), c);
}

// VSCALEF, on as many whole vectors as it takes.
llvm::Value* FunctionEmitter::emit_scaled(llvm::Value* y, llvm::Value* n) {
  bool is_float64 = y->getType()->getScalarType()->isDoubleTy();
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(y->getType());
  unsigned lanes = vector ? vector->getNumElements() : 1, most = is_float64 ? 8 : 16;
  unsigned width = std::clamp<unsigned>(llvm::PowerOf2Ceil(lanes), most / 4, most);
  ID id = is_float64 ? (width == 8   ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_512
                        : width == 4 ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_256
                                     : llvm::Intrinsic::x86_avx512_mask_scalef_pd_128)
                     : (width == 16  ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_512
                        : width == 8 ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_256
                                     : llvm::Intrinsic::x86_avx512_mask_scalef_ps_128);
  auto* whole = llvm::FixedVectorType::get(y->getType()->getScalarType(), width);
  auto scaled = [&](llvm::Value* a, llvm::Value* b) -> llvm::Value* {
    llvm::Value* all_lanes = llvm::ConstantInt::getAllOnesValue(width > 8 ? builder.getInt16Ty() : builder.getInt8Ty());
    llvm::SmallVector<llvm::Value*> operands = {a, b, llvm::PoisonValue::get(whole), all_lanes};
    if (width == most) operands.push_back(builder.getInt32(4)); // the current rounding mode
    return builder.CreateIntrinsic(id, {}, operands);
  };
  if (!vector) {
    auto widened = [&](llvm::Value* v) {
      return builder.CreateInsertElement(llvm::Constant::getNullValue(whole), v, uint64_t{0});
    };
    return builder.CreateExtractElement(scaled(widened(y), widened(n)), uint64_t{0});
  }
  if (lanes == width) return scaled(y, n);
  llvm::SmallVector<llvm::Value*> pieces;
  for (unsigned begin = 0; begin < lanes; begin += width) {
    llvm::SmallVector<int> mask(width, llvm::PoisonMaskElem);
    for (unsigned i = 0; i < width && begin + i < lanes; ++i) mask[i] = begin + i;
    pieces.push_back(scaled(builder.CreateShuffleVector(y, mask), builder.CreateShuffleVector(n, mask)));
  }
  llvm::Value* joined = llvm::concatenateVectors(builder, pieces);
  llvm::SmallVector<int> mask(lanes);
  std::iota(mask.begin(), mask.end(), 0);
  return builder.CreateShuffleVector(joined, mask);
}

llvm::Value* FunctionEmitter::call_runtime(mlir::Operation& op, mlir::ValueRange arguments) {
  mlir::Type element = mlir::getElementTypeOrSelf(op.getResult(0).getType());
  std::optional<int64_t> offset = runtime_function_offset(op, element);
  if (!offset) refuse(&op, "no function for it in the runtime table");
  llvm::Type* wanted = type(op.getResult(0).getType(), &op);
  llvm::SmallVector<llvm::Value*> operands;
  llvm::SmallVector<llvm::Type*> scalars;
  for (mlir::Value argument : arguments) {
    operands.push_back(get(argument));
    scalars.push_back(operands.back()->getType()->getScalarType());
  }
  llvm::Value* slot = builder.CreatePtrAdd(runtime_table_, builder.getInt64(*offset));
  llvm::LoadInst* function = builder.CreateLoad(builder.getPtrTy(), slot, op.getName().stripDialect());
  // The table never changes, so the load leaves every loop.
  function->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
  auto* signature = llvm::FunctionType::get(wanted->getScalarType(), scalars, /*isVarArg=*/false);
  return for_each_lane(wanted, operands, [&](llvm::ArrayRef<llvm::Value*> lane) {
    llvm::CallInst* call = builder.CreateCall(signature, function, lane);
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    return call;
  });
}

bool FunctionEmitter::emit_math(mlir::Operation& op) {
  mlir::Type element = mlir::getElementTypeOrSelf(op.getOperand(0).getType());
  if (element.isBF16() || element.isF16()) refuse(&op, "arithmetic on 16-bit floating point");
  use_flags_of(op);
  if (ID id = intrinsic_of(op); id != llvm::Intrinsic::not_intrinsic) {
    llvm::SmallVector<llvm::Value*> operands;
    for (mlir::Value argument : op.getOperands()) operands.push_back(get(argument));
    result(op, builder.CreateIntrinsic(id, {operands[0]->getType()}, operands));
    return true;
  }
  if (mlir::isa<math::Exp2Op>(op) && op.hasAttr(kIntegral)) {
    if (!target_.has_scaling) refuse(&op, "powers of two on a CPU without an instruction for them");
    llvm::Value* n = operand(op, 0);
    result(op, emit_scaled(llvm::ConstantFP::get(n->getType(), 1.0), n));
    return true;
  }
  llvm::Value* emitted =
      llvm::TypeSwitch<mlir::Operation*, llvm::Value*>(&op)
          .Case([&](math::FmaOp) { return emit_fma(operand(op, 0), operand(op, 1), operand(op, 2)); })
          // A square root and a division, each correctly rounded: the approximate instruction differs between makers.
          .Case([&](math::RsqrtOp) {
            llvm::Value* root = builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, operand(op, 0));
            return builder.CreateFDiv(llvm::ConstantFP::get(root->getType(), 1.0), root);
          })
          .Case([&](math::AbsIOp) {
            return builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, operand(op, 0), builder.getFalse());
          })
          .Case([&](math::CountLeadingZerosOp) {
            return builder.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, operand(op, 0), builder.getFalse());
          })
          .Case([&](math::CountTrailingZerosOp) {
            return builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, operand(op, 0), builder.getFalse());
          })
          .Default([&](mlir::Operation*) { return call_runtime(op, op.getOperands()); });
  result(op, emitted);
  return true;
}

// The lane's indices go through memory of the stack.
void FunctionEmitter::emit_print(mlir::Operation& op) {
  auto print = mlir::cast<PrintOp>(op);
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  auto* number = builder.getInt64Ty();
  mlir::ValueRange places = print.getValid();
  unsigned rank = places.size() - 1;
  llvm::Value* index = nullptr;
  {
    llvm::IRBuilder<>::InsertPointGuard guard(builder);
    builder.SetInsertPoint(&function->getEntryBlock(), function->getEntryBlock().begin());
    index = builder.CreateAlloca(llvm::ArrayType::get(number, std::max(rank, 1u)));
  }
  for (unsigned dim = 0; dim < rank; ++dim)
    builder.CreateStore(get(places[dim + 1]), builder.CreateConstGEP1_64(number, index, dim));
  PrintedKind kind = PrintedKind::nothing;
  llvm::Value* bits = builder.getInt64(0);
  if (mlir::Value value = print.getValue()) {
    bool boolean = value.getType().isInteger(1), real = value.getType().isF64();
    kind = real ? PrintedKind::real : boolean ? PrintedKind::boolean : PrintedKind::integer;
    bits = real ? builder.CreateBitCast(get(value), number) : builder.CreateZExtOrTrunc(get(value), number);
  }
  llvm::Value* slot = builder.CreatePtrAdd(runtime_table_, builder.getInt64(offsetof(RuntimeTable, print)));
  llvm::Value* callee = builder.CreateLoad(builder.getPtrTy(), slot, "print");
  auto* pointer = builder.getPtrTy();
  auto* signature = llvm::FunctionType::get(builder.getVoidTy(),
                                            {pointer, number, pointer, number, builder.getInt32Ty(), number}, false);
  builder.CreateCall(signature, callee,
                     {builder.CreateGlobalString(print.getText(), "text"), get(places[0]), index,
                      builder.getInt64(rank), builder.getInt32(static_cast<int32_t>(kind)), bits});
}

void FunctionEmitter::emit_sort(mlir::Operation& op) {
  auto sort = mlir::cast<SortLanesOp>(op);
  mlir::Type element = mlir::cast<mlir::MemRefType>(sort.getKeys().getType()).getElementType();
  const bool real = mlir::isa<mlir::FloatType>(element), wide = element.getIntOrFloatBitWidth() == 64;
  const size_t which = (real ? 0 : 2) + (wide ? 1 : 0);
  llvm::Value* slot =
      builder.CreatePtrAdd(runtime_table_, builder.getInt64(offsetof(RuntimeTable, sort) + which * sizeof(void*)));
  auto* pointer = builder.getPtrTy();
  llvm::Value* callee = builder.CreateLoad(pointer, slot, "sort");
  auto* signature = llvm::FunctionType::get(builder.getVoidTy(),
                                            {pointer, pointer, builder.getInt64Ty(), builder.getInt1Ty()}, false);
  llvm::CallInst* call = builder.CreateCall(signature, callee,
                                            {address(sort.getKeys(), sort.getKeysAt(), &op).pointer,
                                             address(sort.getOrder(), sort.getOrderAt(), &op).pointer,
                                             builder.getInt64(sort.getCount()), builder.getInt1(sort.getDescending())});
  call->addParamAttr(3, llvm::Attribute::ZExt); // a bool, as C++ passes it
}

bool FunctionEmitter::emit_tile(mlir::Operation& op) {
  if (mlir::isa<PrintOp>(op)) return emit_print(op), true;
  if (mlir::isa<SortLanesOp>(op)) return emit_sort(op), true;
  if (!mlir::isa<CompositeOp>(op)) return false;
  result(op, call_runtime(op, op.getOperands()));
  return true;
}

} // namespace tilewright::cpu
