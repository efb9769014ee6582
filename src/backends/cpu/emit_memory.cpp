// memref, and how an element's address is computed for every op that reads or writes memory.
#include "backends/cpu/function_emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilewright::cpu {
namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;

// An index as a sum of values times constants, and a constant. All arithmetic wraps, as that of index does.
struct LinearIndex {
  llvm::MapVector<mlir::Value, int64_t> terms;
  int64_t constant = 0;

  // Adds factor * value, taking sums, differences and constant multiples apart. At most `budget` ops are looked
  // through, because sums may share operands.
  void add(mlir::Value value, int64_t factor, int& budget) {
    if (auto number = mlir::getConstantIntValue(value)) {
      constant += factor * *number;
      return;
    }
    if (mlir::Operation* op = value.getDefiningOp(); op && budget > 0) {
      --budget;
      if (auto sum = mlir::dyn_cast<arith::AddIOp>(op)) {
        add(sum.getLhs(), factor, budget);
        return add(sum.getRhs(), factor, budget);
      }
      if (auto difference = mlir::dyn_cast<arith::SubIOp>(op)) {
        add(difference.getLhs(), factor, budget);
        return add(difference.getRhs(), -factor, budget);
      }
      if (auto product = mlir::dyn_cast<arith::MulIOp>(op)) {
        if (auto number = mlir::getConstantIntValue(product.getRhs()))
          return add(product.getLhs(), factor * *number, budget);
        if (auto number = mlir::getConstantIntValue(product.getLhs()))
          return add(product.getRhs(), factor * *number, budget);
      }
    }
    terms[value] += factor;
  }
};

// How many loops and branches a value is computed in.
int nesting_depth(mlir::Value value) {
  int depth = 0;
  for (mlir::Operation* op = value.getParentBlock()->getParentOp(); op; op = op->getParentOp()) ++depth;
  return depth;
}

uint64_t lowest_bit(int64_t number) { return static_cast<uint64_t>(number) & -static_cast<uint64_t>(number); }

// A zero is divided by everything.
uint64_t divisor_of(int64_t number, uint64_t limit) {
  return number == 0 ? limit : std::min(lowest_bit(number), limit);
}

uint64_t divisor_within(mlir::Value index, uint64_t limit, int depth) {
  if (auto number = mlir::getConstantIntValue(index)) return divisor_of(*number, limit);
  if (depth == 0) return 1;
  auto of = [&](mlir::Value value) { return divisor_within(value, limit, depth - 1); };
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(index)) {
    auto loop = mlir::dyn_cast<mlir::scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar()) return 1;
    return std::min(of(loop.getLowerBound()), of(loop.getStep()));
  }
  return llvm::TypeSwitch<mlir::Operation*, uint64_t>(index.getDefiningOp())
      .Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(
          [&](auto op) { return std::min(of(op.getLhs()), of(op.getRhs())); })
      .Case([&](arith::MulIOp op) { return std::min(of(op.getLhs()) * of(op.getRhs()), limit); })
      .Case([&](arith::IndexCastOp op) { return of(op.getIn()); })
      .Default([](mlir::Operation*) { return uint64_t{1}; });
}

} // namespace

uint64_t known_divisor(mlir::Value index, uint64_t limit) { return divisor_within(index, limit, /*depth=*/8); }

// The terms are added from the outermost loop's to the innermost's, the constant last: so what does not change in a
// loop can be hoisted out of it, neighbouring accesses share all but the constant, and that fits an instruction's
// displacement.
FunctionEmitter::Address FunctionEmitter::address(mlir::Value memref, mlir::OperandRange indices, mlir::Operation* op) {
  auto type = mlir::cast<mlir::MemRefType>(memref.getType());
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
  if (mlir::failed(mlir::getStridesAndOffset(type, strides, offset)) || mlir::ShapedType::isDynamic(offset))
    refuse(op, "a memref whose strides or offset are not known");
  int64_t bytes = module_.getDataLayout().getTypeStoreSize(this->type(type.getElementType(), op));
  if (type.getElementType().isInteger(1)) refuse(op, "a memref of i1 (bool arrays hold i8)");

  // What is added to the base: value * factor * stride, the value or the stride missing where it is 1.
  struct Term {
    mlir::Value value, stride;
    int64_t factor;
    int depth() const { return std::max(value ? nesting_depth(value) : 0, stride ? nesting_depth(stride) : 0); }
  };
  llvm::SmallVector<Term> terms;
  LinearIndex index;
  index.constant = offset * bytes;
  int budget = 32;
  for (auto [dim, value, stride] : llvm::enumerate(indices, strides)) {
    if (!mlir::ShapedType::isDynamic(stride)) {
      index.add(value, stride * bytes, budget);
      continue;
    }
    auto view = memref.getDefiningOp<memref::ReinterpretCastOp>();
    if (!view) refuse(op, "a memref whose strides are not known");
    mlir::Value run_time_stride = mlir::cast<mlir::Value>(view.getMixedStrides()[dim]);
    LinearIndex along;
    along.add(value, bytes, budget);
    for (auto [part, factor] : along.terms) terms.push_back({part, run_time_stride, factor});
    if (along.constant != 0) terms.push_back({{}, run_time_stride, along.constant});
  }
  for (auto [value, factor] : index.terms) terms.push_back({value, {}, factor});

  auto* base = llvm::cast<llvm::Argument>(get(memref));
  uint64_t alignment = base->getParamAlign().valueOrOne().value();
  llvm::erase_if(terms, [](const Term& term) { return term.factor == 0; });
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.depth() < b.depth(); });

  llvm::Value* pointer = base;
  for (const Term& term : terms) {
    uint64_t divisor = divisor_of(term.factor, alignment);
    llvm::Value* displacement = builder.getInt64(term.factor);
    if (term.stride) displacement = builder.CreateMul(get(term.stride), displacement);
    if (term.value) {
      divisor *= known_divisor(term.value, alignment);
      displacement = builder.CreateMul(get(term.value), displacement);
    }
    alignment = std::min(alignment, divisor);
    pointer = builder.CreatePtrAdd(pointer, displacement);
  }
  alignment = std::min(alignment, divisor_of(index.constant, alignment));
  if (index.constant != 0) pointer = builder.CreatePtrAdd(pointer, builder.getInt64(index.constant));
  return {pointer, llvm::Align(alignment)};
}

// Computes what the element becomes and puts it there if the element has not changed meanwhile, until that succeeds.
// The result is what the element was. The element's bits are compared, so that NaN is equal to itself.
void FunctionEmitter::emit_atomic(memref::GenericAtomicRMWOp op) {
  Address at = address(op.getMemref(), op.getIndices(), op);
  llvm::Type* element = type(op.getResult().getType(), op);
  llvm::Type* bits = builder.getIntNTy(module_.getDataLayout().getTypeStoreSizeInBits(element));
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* attempt = llvm::BasicBlock::Create(builder.getContext(), "atomic", function);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(builder.getContext(), "atomic.after", function);
  llvm::Align natural(module_.getDataLayout().getTypeStoreSize(element));
  llvm::LoadInst* first = builder.CreateAlignedLoad(bits, at.pointer, natural);
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  builder.CreateBr(attempt);
  builder.SetInsertPoint(attempt);
  llvm::PHINode* expected = builder.CreatePHI(bits, 2, "was");
  expected->addIncoming(first, before);
  llvm::Value* old = builder.CreateBitCast(expected, element);
  set(op.getCurrentValue(), old);
  emit_ops(*op.getBody());
  llvm::Value* next = builder.CreateBitCast(get(op.getBody()->getTerminator()->getOperand(0)), bits);
  auto* exchange = builder.CreateAtomicCmpXchg(at.pointer, expected, next, natural,
                                               llvm::AtomicOrdering::AcquireRelease, llvm::AtomicOrdering::Acquire);
  expected->addIncoming(builder.CreateExtractValue(exchange, 0), builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateExtractValue(exchange, 1), after, attempt);
  builder.SetInsertPoint(after);
  result(*op, old);
}

bool FunctionEmitter::emit_memref(mlir::Operation& op) {
  return llvm::TypeSwitch<mlir::Operation*, bool>(&op)
      .Case([&](memref::AllocaOp) {
        // The entry block's became parameters.
        if (!values_.contains(op.getResult(0))) refuse(&op, "a scratch buffer outside the entry block");
        return true;
      })
      .Case([&](memref::LoadOp load) {
        Address from = address(load.getMemRef(), load.getIndices(), &op);
        result(op, builder.CreateAlignedLoad(type(load.getType(), &op), from.pointer, from.alignment));
        return true;
      })
      .Case([&](memref::StoreOp store) {
        Address to = address(store.getMemRef(), store.getIndices(), &op);
        builder.CreateAlignedStore(get(store.getValue()), to.pointer, to.alignment);
        return true;
      })
      .Case([&](memref::ReinterpretCastOp view) {
        result(op, get(view.getSource()));
        return true;
      })
      .Case([&](memref::GenericAtomicRMWOp atomic) {
        emit_atomic(atomic);
        return true;
      })
      .Case([&](memref::PrefetchOp prefetch) {
        Address at = address(prefetch.getMemref(), prefetch.getIndices(), &op);
        builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder.getPtrTy()},
                                {at.pointer, builder.getInt32(prefetch.getIsWrite()),
                                 builder.getInt32(prefetch.getLocalityHint()),
                                 builder.getInt32(prefetch.getIsDataCache())});
        return true;
      })
      .Default(false);
}

} // namespace tilewright::cpu
