// vector: memory accesses, data movement between lanes, reductions, masks.
#include "backends/cpu/function_emitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilewright::cpu {
namespace {

namespace vector = mlir::vector;
using vector::CombiningKind;

// bfloat16 and the 8-bit floats are integers in LLVM.
bool is_held_as_bits(mlir::Type type) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  return element.isBF16() || element.isFloat8E4M3FN() || element.isFloat8E5M2();
}

// <0, 1, 2, ...>
llvm::Constant* lane_numbers(llvm::IRBuilder<>& builder, unsigned lanes, unsigned bits) {
  llvm::SmallVector<llvm::Constant*> numbers;
  for (unsigned i = 0; i < lanes; ++i) numbers.push_back(builder.getIntN(bits, i));
  return llvm::ConstantVector::get(numbers);
}

unsigned lanes_of(llvm::Type* type) { return llvm::cast<llvm::FixedVectorType>(type)->getNumElements(); }

// Both operands of a shuffle must have one type: the shorter is filled up with undefined lanes.
llvm::Value* widened(llvm::IRBuilder<>& builder, llvm::Value* value, unsigned lanes) {
  unsigned own = lanes_of(value->getType());
  if (own == lanes) return value;
  llvm::SmallVector<int> mask(lanes, llvm::PoisonMaskElem);
  for (unsigned i = 0; i < own; ++i) mask[i] = i;
  return builder.CreateShuffleVector(value, mask);
}

llvm::Value* emit_shuffle(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b, llvm::ArrayRef<int64_t> lanes) {
  unsigned from_a = lanes_of(a->getType());
  unsigned wide = std::max(from_a, lanes_of(b->getType()));
  llvm::SmallVector<int> mask;
  for (int64_t lane : lanes) mask.push_back(lane < from_a ? lane : lane - from_a + wide);
  return builder.CreateShuffleVector(widened(builder, a, wide), widened(builder, b, wide), mask);
}

// Lanes below `count`, which may lie outside [0, lanes].
llvm::Value* emit_create_mask(llvm::IRBuilder<>& builder, llvm::Value* count, unsigned lanes) {
  llvm::Value* clipped = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, builder.getInt64(lanes));
  clipped = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, clipped, builder.getInt64(0));
  llvm::Value* limit = builder.CreateVectorSplat(lanes, builder.CreateTrunc(clipped, builder.getInt32Ty()));
  return builder.CreateICmpULT(lane_numbers(builder, lanes, 32), limit);
}

// What combines two partial results of `kind`.
llvm::Value* combine(llvm::IRBuilder<>& builder, CombiningKind kind, llvm::Value* a, llvm::Value* b) {
  auto intrinsic = [&](llvm::Intrinsic::ID id) { return builder.CreateBinaryIntrinsic(id, a, b); };
  bool is_float = a->getType()->isFPOrFPVectorTy();
  switch (kind) {
  case CombiningKind::ADD: return is_float ? builder.CreateFAdd(a, b) : builder.CreateAdd(a, b);
  case CombiningKind::MUL: return is_float ? builder.CreateFMul(a, b) : builder.CreateMul(a, b);
  case CombiningKind::MINUI: return intrinsic(llvm::Intrinsic::umin);
  case CombiningKind::MINSI: return intrinsic(llvm::Intrinsic::smin);
  case CombiningKind::MAXUI: return intrinsic(llvm::Intrinsic::umax);
  case CombiningKind::MAXSI: return intrinsic(llvm::Intrinsic::smax);
  case CombiningKind::MINNUMF: return intrinsic(llvm::Intrinsic::minnum);
  case CombiningKind::MAXNUMF: return intrinsic(llvm::Intrinsic::maxnum);
  case CombiningKind::MINIMUMF: return intrinsic(llvm::Intrinsic::minimum);
  case CombiningKind::MAXIMUMF: return intrinsic(llvm::Intrinsic::maximum);
  case CombiningKind::AND: return builder.CreateAnd(a, b);
  case CombiningKind::OR: return builder.CreateOr(a, b);
  case CombiningKind::XOR: return builder.CreateXor(a, b);
  }
  llvm_unreachable("all kinds are above");
}

// Halves the vector until one lane is left. A lane count that is no power of two leaves an odd lane, which joins at the
// end.
llvm::Value* emit_reduction(llvm::IRBuilder<>& builder, CombiningKind kind, llvm::Value* value) {
  // Of conditions: a comparison of the whole mask.
  if (value->getType()->getScalarType()->isIntegerTy(1)) {
    if (kind == CombiningKind::OR) return builder.CreateOrReduce(value);
    if (kind == CombiningKind::AND) return builder.CreateAndReduce(value);
  }
  llvm::Value* odd = nullptr;
  unsigned lanes = lanes_of(value->getType());
  auto piece = [&](unsigned begin, unsigned count) {
    llvm::SmallVector<int> mask;
    for (unsigned i = 0; i < count; ++i) mask.push_back(begin + i);
    return builder.CreateShuffleVector(value, mask);
  };
  while (lanes > 1) {
    if (lanes % 2 == 1) {
      llvm::Value* last = builder.CreateExtractElement(value, lanes - 1);
      odd = odd ? combine(builder, kind, last, odd) : last;
    }
    lanes /= 2;
    value = combine(builder, kind, piece(0, lanes), piece(lanes, lanes));
  }
  llvm::Value* first = builder.CreateExtractElement(value, uint64_t{0});
  return odd ? combine(builder, kind, first, odd) : first;
}

} // namespace

bool FunctionEmitter::emit_vector_access(mlir::Operation& op) {
  llvm::Type* int1 = builder.getInt1Ty();
  auto is_provably_aligned = [&](const Address& address, llvm::Type* type) {
    return op.hasAttr("tile.aligned") || address.alignment >= module_.getDataLayout().getTypeStoreSize(type);
  };
  return llvm::TypeSwitch<mlir::Operation*, bool>(&op)
      .Case([&](vector::LoadOp load) {
        Address from = address(load.getBase(), load.getIndices(), &op);
        result(op, builder.CreateAlignedLoad(type(load.getType(), &op), from.pointer, from.alignment));
        return true;
      })
      .Case([&](vector::StoreOp store) {
        llvm::Value* value = get(store.getValueToStore());
        Address to = address(store.getBase(), store.getIndices(), &op);
        if (store.getNontemporal() && is_provably_aligned(to, value->getType())) {
          llvm::Align whole(llvm::PowerOf2Ceil(module_.getDataLayout().getTypeStoreSize(value->getType())));
          llvm::StoreInst* streaming = builder.CreateAlignedStore(value, to.pointer, whole);
          llvm::Metadata* one = llvm::ConstantAsMetadata::get(builder.getInt32(1));
          streaming->setMetadata("nontemporal", llvm::MDNode::get(builder.getContext(), one));
          has_streaming_stores_ = true;
        } else {
          builder.CreateAlignedStore(value, to.pointer, to.alignment);
        }
        return true;
      })
      .Case([&](vector::MaskedLoadOp load) {
        Address from = address(load.getBase(), load.getIndices(), &op);
        result(op, builder.CreateMaskedLoad(type(load.getType(), &op), from.pointer, from.alignment,
                                            get(load.getMask()), get(load.getPassThru())));
        return true;
      })
      .Case([&](vector::MaskedStoreOp store) {
        Address to = address(store.getBase(), store.getIndices(), &op);
        builder.CreateMaskedStore(get(store.getValueToStore()), to.pointer, to.alignment, get(store.getMask()));
        return true;
      })
      // The index vector counts elements from the address.
      .Case([&](vector::GatherOp gather) {
        llvm::Type* loaded = type(gather.getType(), &op);
        Address from = address(gather.getBase(), gather.getIndices(), &op);
        llvm::Value* pointers =
            builder.CreateGEP(loaded->getScalarType(), from.pointer, get(gather.getIndexVec()), "lanes");
        llvm::Align alignment(module_.getDataLayout().getTypeStoreSize(loaded->getScalarType()));
        result(op, builder.CreateMaskedGather(loaded, pointers, alignment, get(gather.getMask()),
                                              get(gather.getPassThru())));
        return true;
      })
      .Case([&](vector::ScatterOp scatter) {
        llvm::Value* value = get(scatter.getValueToStore());
        Address to = address(scatter.getBase(), scatter.getIndices(), &op);
        llvm::Type* element = value->getType()->getScalarType();
        llvm::Value* pointers = builder.CreateGEP(element, to.pointer, get(scatter.getIndexVec()), "lanes");
        llvm::Align alignment(module_.getDataLayout().getTypeStoreSize(element));
        builder.CreateMaskedScatter(value, pointers, alignment, get(scatter.getMask()));
        return true;
      })
      .Case([&](vector::CreateMaskOp mask) {
        llvm::Type* wanted = type(mask.getType(), &op);
        result(op, emit_create_mask(builder, operand(op, 0), lanes_of(wanted)));
        return true;
      })
      .Case([&](vector::ConstantMaskOp mask) {
        unsigned lanes = lanes_of(type(mask.getType(), &op));
        llvm::SmallVector<llvm::Constant*> bits;
        int64_t set = mlir::cast<mlir::IntegerAttr>(mask.getMaskDimSizes()[0]).getInt();
        for (int64_t i = 0; i < lanes; ++i) bits.push_back(llvm::ConstantInt::get(int1, i < set));
        result(op, llvm::ConstantVector::get(bits));
        return true;
      })
      .Default(false);
}

bool FunctionEmitter::emit_vector(mlir::Operation& op) {
  if (emit_vector_access(op)) return true;
  // Everything else yields one value; its type check refuses vectors of several dimensions.
  if (op.getNumResults() != 1) return false;
  llvm::Type* wanted = type(op.getResult(0).getType(), &op);
  for (mlir::Value used : op.getOperands()) type(used.getType(), &op);

  auto only_position = [&](auto positioned) -> llvm::Value* {
    if (positioned.getNumIndices() != 1) refuse(&op, "a position that is not one lane");
    mlir::OpFoldResult position = positioned.getMixedPosition()[0];
    if (auto value = mlir::dyn_cast<mlir::Value>(position)) return get(value);
    return builder.getInt64(*mlir::getConstantIntValue(position));
  };
  llvm::Value* emitted =
      llvm::TypeSwitch<mlir::Operation*, llvm::Value*>(&op)
          .Case<vector::BroadcastOp, vector::SplatOp>([&](auto) {
            llvm::Value* source = operand(op, 0);
            if (source->getType() == wanted) return source;
            if (source->getType()->isVectorTy()) source = builder.CreateExtractElement(source, uint64_t{0});
            return builder.CreateVectorSplat(lanes_of(wanted), source);
          })
          .Case([&](vector::FMAOp) { return emit_fma(operand(op, 0), operand(op, 1), operand(op, 2)); })
          .Case([&](vector::ReductionOp reduction) {
            if (is_held_as_bits(reduction.getVector().getType()))
              refuse(&op, "arithmetic on bfloat16 and 8-bit floats");
            use_flags_of(op);
            llvm::Value* reduced = emit_reduction(builder, reduction.getKind(), get(reduction.getVector()));
            if (mlir::Value initial = reduction.getAcc())
              reduced = combine(builder, reduction.getKind(), get(initial), reduced);
            return reduced;
          })
          .Case([&](vector::ShuffleOp shuffle) {
            llvm::SmallVector<int64_t> lanes;
            for (mlir::Attribute lane : shuffle.getMask())
              lanes.push_back(mlir::cast<mlir::IntegerAttr>(lane).getInt());
            return emit_shuffle(builder, operand(op, 0), operand(op, 1), lanes);
          })
          .Case([&](vector::ExtractOp extract) {
            return builder.CreateExtractElement(get(extract.getVector()), only_position(extract));
          })
          .Case([&](vector::InsertOp insert) {
            return builder.CreateInsertElement(get(insert.getDest()), get(insert.getSource()), only_position(insert));
          })
          .Case([&](vector::ExtractElementOp extract) {
            return builder.CreateExtractElement(get(extract.getVector()), get(extract.getPosition()));
          })
          .Case([&](vector::InsertElementOp insert) {
            return builder.CreateInsertElement(get(insert.getDest()), get(insert.getSource()),
                                               get(insert.getPosition()));
          })
          .Case([&](vector::BitCastOp) { return builder.CreateBitCast(operand(op, 0), wanted); })
          .Case([&](vector::StepOp) { return lane_numbers(builder, lanes_of(wanted), 64); })
          .Default([](mlir::Operation*) { return nullptr; });
  if (!emitted) return false;
  result(op, emitted);
  return true;
}

} // namespace tilewright::cpu
