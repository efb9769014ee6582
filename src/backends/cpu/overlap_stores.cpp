#include "backends/cpu/overlap_stores.h"

#include "backends/cpu/memory_access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright::cpu {
namespace {

using Values = llvm::SmallSetVector<Value, 8>;

// What is moved, and where to.
struct Overlap {
  scf::ForOp programs;                   // the loop over programs
  SmallVector<Operation*> end;           // of its body: what comes late. The first is a loop, which is merged
  scf::ForOp host;                       // into this one
  SmallVector<memref::AllocaOp> buffers; // what the end reads
};

SmallVector<scf::ForOp> loops_of(Block& block) { return llvm::to_vector(block.getOps<scf::ForOp>()); }

//===----------------------------------------------------------------------===//
// What can be moved
//===----------------------------------------------------------------------===//

scf::ForOp loop_over_programs(func::FuncOp function) {
  if (function.isDeclaration() || function.getNumArguments() < 3) return {};
  Block& entry = function.getBody().front();
  unsigned arguments = entry.getNumArguments();
  for (auto loop : entry.getOps<scf::ForOp>())
    if (loop.getLowerBound() == entry.getArgument(arguments - 3) &&
        loop.getUpperBound() == entry.getArgument(arguments - 2) && loop.getNumResults() == 0)
      return loop;
  return {};
}

// Whether all that an op does with memory is known: it reads or writes one memref, or none and gives none.
bool is_understood(Operation* op) {
  if (memory_access(op) || isa<memref::AllocaOp, func::FuncOp, func::ReturnOp>(op)) return true;
  auto is_memref = [](Type type) { return isa<BaseMemRefType>(type); };
  if (llvm::any_of(op->getOperandTypes(), is_memref) || llvm::any_of(op->getResultTypes(), is_memref)) return false;
  return isMemoryEffectFree(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
}

bool is_array(Value memref) { return isa<BlockArgument>(memref); }

// Where arrays are read and written: how often, so that what is inside of an op can be told from what is outside.
struct ArrayUse {
  int reads = 0, writes = 0;
};
using ArrayUses = llvm::SmallDenseMap<Value, ArrayUse>;

void add_array_uses(Operation* root, ArrayUses& uses) {
  root->walk([&](Operation* op) {
    std::optional<MemoryAccess> access = memory_access(op);
    if (!access || !is_array(access->memref->get())) return;
    ArrayUse& use = uses[access->memref->get()];
    ++(access->writes ? use.writes : use.reads);
  });
}

// Whether the op changes nothing but arrays, and depends on no array that is written.
bool may_come_late(Operation* root, const ArrayUses& all) {
  return !root->walk([&](Operation* op) {
                std::optional<MemoryAccess> access = memory_access(op);
                if (!access) return WalkResult::advance();
                Value memref = access->memref->get();
                bool allowed = access->writes ? is_array(memref) : !is_array(memref) || all.lookup(memref).writes == 0;
                return allowed ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool has_streaming_stores(Operation* root) {
  return root
      ->walk([](vector::StoreOp store) {
        return store.getNontemporal() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

// The ops from the first loop of streaming stores on, as far as all that follows may come late.
SmallVector<Operation*> find_end(scf::ForOp programs, const ArrayUses& all) {
  SmallVector<Operation*> end;
  size_t length = 0;
  for (Operation& op : llvm::reverse(programs.getBody()->without_terminator())) {
    if (!may_come_late(&op, all)) break;
    end.push_back(&op);
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && loop.getNumResults() == 0 && has_streaming_stores(&op)) length = end.size();
  }
  end.truncate(length);
  std::reverse(end.begin(), end.end());
  // Nobody else may look at what is written late.
  ArrayUses late;
  for (Operation* op : end) add_array_uses(op, late);
  for (auto& [array, use] : late)
    if (use.writes > 0 && (all.lookup(array).writes != use.writes || all.lookup(array).reads > 0)) return {};
  return end;
}

bool is_defined_in(Value value, scf::ForOp loop) { return loop.getRegion().isAncestor(value.getParentRegion()); }

bool is_same_for_all_programs(Value a, Value b, scf::ForOp programs) {
  if (a == b && !is_defined_in(a, programs)) return true;
  std::optional<int64_t> first = getConstantIntValue(a), second = getConstantIntValue(b);
  return first && second && *first == *second;
}

// An integer division whose divisor may be 0, as what is carried from no program is.
bool may_trap(Operation* op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
           arith::CeilDivUIOp>(op))
    return false;
  APInt divisor;
  return !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || divisor.isZero() || divisor.isAllOnes();
}

// Whether the op may be run for a program that does not exist: it reads scratch at most.
bool is_harmless(Operation* op) {
  if (may_trap(op)) return false;
  std::optional<MemoryAccess> access = memory_access(op);
  return access ? !access->writes && !is_array(access->memref->get()) : isMemoryEffectFree(op);
}

bool walks_the_same(scf::ForOp stores, scf::ForOp host, scf::ForOp programs);

// Loops that are merged: one of the stores', and the place where it goes.
using Pairs = SmallVector<std::pair<scf::ForOp, scf::ForOp>>;

// Loops of two blocks that walk the same, both in order.
Pairs pair_loops(Block& stores, Block& host, scf::ForOp programs) {
  Pairs pairs;
  SmallVector<scf::ForOp> places = loops_of(host);
  auto* next = places.begin();
  for (scf::ForOp loop : loops_of(stores)) {
    auto* found =
        std::find_if(next, places.end(), [&](scf::ForOp each) { return walks_the_same(loop, each, programs); });
    if (found == places.end()) continue;
    pairs.emplace_back(loop, *found);
    next = found + 1;
  }
  return pairs;
}

// The ops of a block around the loops that are merged, one piece more than there are such loops. Of a piece the first
// ops are harmless and may be run for no program; the rest is guarded. All of a block without loops is guarded.
struct Piece {
  SmallVector<Operation*> harmless, guarded;
};

SmallVector<Piece> pieces_of(Block& block, const Pairs& pairs) {
  SmallVector<Piece> pieces(1);
  for (Operation& op : block.without_terminator()) {
    Piece& piece = pieces.back();
    if (pieces.size() <= pairs.size() && pairs[pieces.size() - 1].first == &op)
      pieces.emplace_back();
    else if (!pairs.empty() && piece.guarded.empty() && is_harmless(&op))
      piece.harmless.push_back(&op);
    else
      piece.guarded.push_back(&op);
  }
  return pieces;
}

// Whether nothing outside of the ops uses what they define.
bool keep_their_results(ArrayRef<Operation*> ops) {
  for (Operation* op : ops)
    for (Operation* user : op->getUsers())
      if (!llvm::is_contained(ops, op->getBlock()->findAncestorOpInBlock(*user))) return false;
  return true;
}

// Whether `stores` can be merged into `host`: bounds are equal, and both are innermost or have such loops inside.
bool walks_the_same(scf::ForOp stores, scf::ForOp host, scf::ForOp programs) {
  auto same = [&](Value a, Value b) { return is_same_for_all_programs(a, b, programs); };
  if (stores.getNumResults() != 0 || !same(stores.getLowerBound(), host.getLowerBound()) ||
      !same(stores.getUpperBound(), host.getUpperBound()) || !same(stores.getStep(), host.getStep()))
    return false;
  Pairs pairs = pair_loops(*stores.getBody(), *host.getBody(), programs);
  bool innermost = loops_of(*stores.getBody()).empty() && loops_of(*host.getBody()).empty();
  return (innermost || !pairs.empty()) && llvm::all_of(pieces_of(*stores.getBody(), pairs), [](const Piece& piece) {
           return keep_their_results(piece.guarded);
         });
}

bool reads_an_array(scf::ForOp loop) {
  ArrayUses uses;
  add_array_uses(loop, uses);
  return llvm::any_of(uses, [](const auto& use) { return use.second.reads > 0; });
}

bool fetches_ahead(scf::ForOp loop) {
  return loop.getBody()->walk([](memref::PrefetchOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

// Of the loops before the end that walk the same lanes, the one in which the program's data come from memory: it
// fetches ahead, or else is the first to read an array.
scf::ForOp find_host(scf::ForOp programs, scf::ForOp stores) {
  scf::ForOp first;
  for (auto loop : programs.getBody()->getOps<scf::ForOp>()) {
    if (loop == stores) break;
    if (!reads_an_array(loop) || !walks_the_same(stores, loop, programs)) continue;
    if (fetches_ahead(loop)) return loop;
    if (!first) first = loop;
  }
  return first;
}

// The scratch buffers that the ops read.
SmallVector<memref::AllocaOp> buffers_read(ArrayRef<Operation*> ops) {
  llvm::SmallSetVector<memref::AllocaOp, 4> buffers;
  for (Operation* root : ops)
    root->walk([&](Operation* op) {
      std::optional<MemoryAccess> access = memory_access(op);
      if (!access) return;
      if (auto buffer = access->memref->get().getDefiningOp<memref::AllocaOp>()) buffers.insert(buffer);
    });
  return llvm::to_vector(buffers);
}

int64_t bytes_of(MemRefType type) {
  Type element = type.getElementType();
  return type.getNumElements() * (element.isIndex() ? 8 : element.getIntOrFloatBitWidth() / 8);
}

// Gathers and scatters carry offsets that were computed for the buffer's strides.
bool must_keep_strides(memref::AllocaOp buffer) {
  return llvm::any_of(buffer->getUsers(), llvm::IsaPred<vector::GatherOp, vector::ScatterOp>);
}

// Room for two copies. What is walked together must not begin at equal places of its pages, nor rows at equal sets of
// the first-level cache: so rows of large buffers get some cache lines more, where strides may change.
MemRefType type_of_two(memref::AllocaOp buffer) {
  MemRefType type = buffer.getType();
  constexpr int64_t kPage = 4096, kAliasing = 1024, kLine = 64, kMostLines = 64;
  int64_t element = bytes_of(type) / type.getNumElements();
  SmallVector<int64_t> shape(type.getShape());
  auto aliases = [&] {
    int64_t apart = bytes_of(MemRefType::get(shape, type.getElementType())) % kPage;
    return apart < kAliasing || apart > kPage - kAliasing ||
           (shape.size() > 1 && shape.back() * element % kAliasing == 0);
  };
  if (bytes_of(type) >= kPage && !must_keep_strides(buffer))
    for (int64_t line = 0; line < kMostLines && aliases(); ++line) shape.back() += kLine / element;
  shape.front() *= 2;
  return MemRefType::get(shape, type.getElementType());
}

std::optional<Overlap> find_overlap(func::FuncOp function, int64_t l2_bytes) {
  Overlap found;
  found.programs = loop_over_programs(function);
  if (!found.programs) return std::nullopt;
  bool understood =
      !function->walk([](Operation* op) { return is_understood(op) ? WalkResult::advance() : WalkResult::interrupt(); })
           .wasInterrupted();
  if (!understood) return std::nullopt;
  ArrayUses uses;
  add_array_uses(function, uses);
  found.end = find_end(found.programs, uses);
  if (found.end.empty()) return std::nullopt;
  found.host = find_host(found.programs, cast<scf::ForOp>(found.end.front()));
  if (!found.host) return std::nullopt;
  found.buffers = buffers_read(found.end);
  int64_t bytes = 0;
  for (memref::AllocaOp buffer : found.buffers) {
    MemRefType type = buffer.getType();
    if (is_defined_in(buffer, found.programs) || type.getRank() == 0 || !type.hasStaticShape() ||
        !type.getLayout().isIdentity())
      return std::nullopt;
    bytes += bytes_of(type_of_two(buffer));
  }
  if (bytes > l2_bytes / 2) return std::nullopt;
  return found;
}

//===----------------------------------------------------------------------===//
// Moving it
//===----------------------------------------------------------------------===//

// Values of the body of the loop over programs that the end uses and does not define.
Values values_used(Overlap& what) {
  Block& body = *what.programs.getBody();
  Values used;
  auto add = [&](Value value) {
    if (!is_defined_in(value, what.programs)) return;
    Operation* around = value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp();
    around = body.findAncestorOpInBlock(*around); // none for the body's own arguments
    if (!around || !llvm::is_contained(what.end, around)) used.insert(value);
  };
  for (Operation* root : what.end) root->walk([&](Operation* op) { llvm::for_each(op->getOperands(), add); });
  return used;
}

class StoreMover {
public:
  explicit StoreMover(Overlap& what) : what_(what), b_(what.programs.getContext()), loc_(what.programs.getLoc()) {}

  void run() {
    carry();
    double_buffers();
    merge_end();
    finish_last_program();
    for (Operation* op : llvm::reverse(what_.end)) b_.eraseOp(op);
  }

private:
  void carry();
  void double_buffers();
  void merge_end();
  void finish_last_program();
  bool is_recomputed(Value value);
  void recompute(Value value);
  void merge(Block& stores, Block& host);
  void copy(ArrayRef<Operation*> ops);
  void copy_guarded(ArrayRef<Operation*> ops);
  Value other(Value slot);

  Overlap& what_;
  IRRewriter b_;
  Location loc_;
  SmallVector<Value> carried_;   // values of the body that the end of the program finds in the next iteration
  SmallVector<Value> arguments_; // of the new loop: the slot, the previous program, what is carried
  IRMapping previous_;           // from values of a program to those of the one before
  Value has_previous_;
};

Value StoreMover::other(Value slot) {
  Value one = b_.create<arith::ConstantIndexOp>(loc_, 1);
  return b_.create<arith::SubIOp>(loc_, one, slot);
}

// Whether a value is computed anew from what says which program it is: cheap, and known to be a legal index.
bool StoreMover::is_recomputed(Value value) {
  if (!is_defined_in(value, what_.programs) || previous_.contains(value)) return true;
  Operation* op = value.getDefiningOp();
  if (!op) return false;
  if (op->hasTrait<OpTrait::ConstantLike>()) return true;
  return value.getType().isIndex() && isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return is_recomputed(operand); });
}

void StoreMover::recompute(Value value) {
  if (!is_defined_in(value, what_.programs) || previous_.contains(value)) return;
  Operation* op = value.getDefiningOp();
  for (Value operand : op->getOperands()) recompute(operand);
  b_.clone(*op, previous_);
}

// The loop over programs again, carrying what the next iteration needs.
void StoreMover::carry() {
  scf::ForOp loop = what_.programs;
  previous_.map(loop.getInductionVar(), loop.getInductionVar());
  for (Value value : values_used(what_))
    if (!is_recomputed(value)) carried_.push_back(value);
  previous_.clear();
  b_.setInsertionPoint(loop);
  SmallVector<Value> starts = {b_.create<arith::ConstantIndexOp>(loc_, 0), loop.getLowerBound()};
  for (Value value : carried_)
    starts.push_back(b_.create<arith::ConstantOp>(loc_, cast<TypedAttr>(b_.getZeroAttr(value.getType()))));
  auto next = [&](OpBuilder&, Location, ArrayRef<BlockArgument> arguments) {
    SmallVector<Value> values = {other(arguments[0]), loop.getInductionVar()};
    values.append(carried_);
    return values;
  };
  auto replaced = loop.replaceWithAdditionalYields(b_, starts, /*replaceInitOperandUsesInLoop=*/false, next);
  what_.programs = cast<scf::ForOp>(replaced->getOperation());
  llvm::append_range(arguments_, what_.programs.getRegionIterArgs());
}

// Programs use the copies in turns.
void StoreMover::double_buffers() {
  for (memref::AllocaOp buffer : what_.buffers) {
    b_.setInsertionPointToStart(what_.programs.getBody());
    Value rows = b_.create<arith::ConstantIndexOp>(loc_, buffer.getType().getShape().front());
    Value first = b_.createOrFold<arith::MulIOp>(loc_, arguments_[0], rows);
    for (OpOperand& use : buffer.getResult().getUses()) {
      Operation* op = use.getOwner();
      OpOperand& index = op->getOpOperand(use.getOperandNumber() + 1);
      b_.setInsertionPoint(op);
      index.set(b_.createOrFold<arith::AddIOp>(op->getLoc(), first, index.get()));
    }
    buffer.getResult().setType(type_of_two(buffer));
  }
}

void StoreMover::merge_end() {
  scf::ForOp loop = what_.programs;
  b_.setInsertionPointToStart(loop.getBody());
  previous_.map(arguments_[0], other(arguments_[0]));
  previous_.map(loop.getInductionVar(), arguments_[1]);
  for (auto [value, argument] : llvm::zip(carried_, ArrayRef(arguments_).drop_front(2))) previous_.map(value, argument);
  for (Value value : values_used(what_)) recompute(value);
  has_previous_ =
      b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());

  auto stores = cast<scf::ForOp>(what_.end.front());
  previous_.map(stores.getInductionVar(), what_.host.getInductionVar());
  merge(*stores.getBody(), *what_.host.getBody());
  b_.setInsertionPointAfter(what_.host);
  copy_guarded(ArrayRef(what_.end).drop_front());
}

void StoreMover::merge(Block& stores, Block& host) {
  Pairs pairs = pair_loops(stores, host, what_.programs);
  SmallVector<Piece> pieces = pieces_of(stores, pairs);
  b_.setInsertionPoint(pairs.empty() ? host.getTerminator() : pairs.front().second);
  for (size_t i = 0; i < pieces.size(); ++i) {
    copy(pieces[i].harmless);
    copy_guarded(pieces[i].guarded);
    if (i == pairs.size()) break;
    auto [loop, place] = pairs[i];
    previous_.map(loop.getInductionVar(), place.getInductionVar());
    merge(*loop.getBody(), *place.getBody());
    b_.setInsertionPointAfter(place);
  }
}

void StoreMover::copy(ArrayRef<Operation*> ops) {
  for (Operation* op : ops) b_.clone(*op, previous_);
}

void StoreMover::copy_guarded(ArrayRef<Operation*> ops) {
  if (ops.empty()) return;
  auto guard = b_.create<scf::IfOp>(loc_, has_previous_, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard restore(b_);
  b_.setInsertionPointToStart(guard.thenBlock());
  copy(ops);
}

// The last program has no next one.
void StoreMover::finish_last_program() {
  scf::ForOp loop = what_.programs;
  b_.setInsertionPointAfter(loop);
  has_previous_ = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  previous_.clear();
  previous_.map(arguments_[0], other(loop.getResult(0)));
  previous_.map(loop.getInductionVar(), loop.getResult(1));
  for (auto [value, result] : llvm::zip(carried_, loop.getResults().drop_front(2))) previous_.map(value, result);
  for (Value value : values_used(what_)) recompute(value);
  copy_guarded(what_.end);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct OverlapStores : PassWrapper<OverlapStores, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OverlapStores)

  OverlapStores() = default;
  OverlapStores(const OverlapStores& other) : PassWrapper(other) {}
  explicit OverlapStores(const CpuTarget& target) { l2_bytes = target.l2_bytes; }

  StringRef getArgument() const override { return "overlap-stores"; }
  StringRef getDescription() const override { return "The stores of one program inside a loop of the next"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect>();
  }
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) overlap_stores(function, l2_bytes);
  }

  Option<int64_t> l2_bytes{*this, "l2-bytes", llvm::cl::desc("size of the second-level cache"),
                           llvm::cl::init(int64_t(1) << 20)};
};

} // namespace

bool overlap_stores(func::FuncOp function, int64_t l2_bytes) {
  std::optional<Overlap> what = find_overlap(function, l2_bytes);
  if (!what) return false;
  StoreMover(*what).run();
  return true;
}

std::unique_ptr<Pass> create_overlap_stores_pass(const CpuTarget& target) {
  return std::make_unique<OverlapStores>(target);
}

void register_overlap_stores_pass() { PassRegistration<OverlapStores>(); }

} // namespace tilewright::cpu
