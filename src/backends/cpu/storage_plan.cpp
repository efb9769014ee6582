#include "backends/cpu/storage_plan.h"

#include "support/planted_bug.h"

using namespace mlir;

namespace tilewright::cpu {

bool is_inlinable(Operation* op) {
  return isa<LoadOp, SplatOp, IotaOp, BroadcastOp, ExpandDimsOp, TransposeOp, TakeOp, CompositeOp>(op) ||
         isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

static bool is_tensor(Value value) { return isa<RankedTensorType>(value.getType()); }

StoragePlan::DotOperand StoragePlan::look_through_transpose(Value operand) {
  auto transpose = operand.getDefiningOp<TransposeOp>();
  if (!transpose) return {operand, false};
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  int64_t rank = permutation.size();
  for (int64_t dim = 0; dim + 2 < rank; ++dim)
    if (permutation[dim] != dim) return {operand, false};
  return {transpose.getSource(), permutation[rank - 1] == rank - 2};
}

llvm::ArrayRef<DotOp> StoragePlan::packed_here(Value value) const {
  auto found = packed_.find(value);
  return found == packed_.end() ? ArrayRef<DotOp>() : ArrayRef<DotOp>(found->second);
}

// Costly enough that writing it to scratch and reading it back is cheaper than computing it again.
static bool is_costly(Operation* op) {
  if (isa<CompositeOp, arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp>(op))
    return true;
  return isa<math::MathDialect>(op->getDialect()) &&
         !isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FmaOp, math::FloorOp, math::CeilOp, math::TruncOp,
              math::RoundEvenOp>(op);
}

bool StoragePlan::is_computed_lane_by_lane(Value value, Operation* user) const {
  bool used = false;
  for (const Site& site : sites_.find(value)->second) {
    if (site.op != user) continue;
    if (site.repeated || !site.aligned) return false;
    used = true;
  }
  return used;
}

static bool has_element_of(Value operand, DotOp dot) {
  return element_type(operand.getType()) == element_type(dot.getType());
}

StoragePlan::StoragePlan(ProgramOp program) {
  number(program);
  SmallVector<Operation*> ops;
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation* op) { ops.push_back(op); });
  for (Operation* op : ops) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      // A left operand that lies in memory as it is needed is broadcast from there.
      Value left = look_through_transpose(dot.getA()).source;
      for (Value value : {left, Value(dot.getAcc()), Value(dot.getResult())}) dot_operands_.insert(value);
      if (!left.getDefiningOp<LoadOp>() || !has_element_of(left, dot)) kept_.insert(left);
      packed_[look_through_transpose(dot.getB()).source].push_back(dot);
    }
    if (auto take = dyn_cast<TakeOp>(op)) kept_.insert(take.getSource());
    // What the next iteration begins with is computed before its place is overwritten.
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      for (Value yielded : loop.getYieldedValues())
        if (is_tensor(yielded) && yielded.getDefiningOp() && loop->isProperAncestor(yielded.getDefiningOp()))
          kept_.insert(yielded);
  }
  // A dot's accumulator and what a loop makes of it share a buffer, so padding spreads along carried values.
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation* op : ops) {
      auto loop = dyn_cast<scf::ForOp>(op);
      if (!loop) continue;
      for (auto [result, init, argument, yielded] :
           llvm::zip(loop.getResults(), loop.getInitArgs(), loop.getRegionIterArgs(),
                     cast<scf::YieldOp>(loop.getBody()->getTerminator()).getOperands())) {
        Value group[] = {result, init, argument, yielded};
        if (llvm::none_of(group, [&](Value value) { return dot_operands_.contains(value); })) continue;
        for (Value value : group) changed |= dot_operands_.insert(value).second;
      }
    }
  }
  for (Operation* write : writes_) {
    auto store = dyn_cast<StoreOp>(write);
    if (!store) continue;
    Operation* stored = store.getValue().getDefiningOp();
    bool through_copy = store.getAccess() == Access::TensorDescriptor && is_tensor(store.getValue());
    if (through_copy && stored && is_inlinable(stored)) kept_.insert(store.getValue());
  }
  // Consumers come before what they use, so that a value's sites are known when it is decided upon.
  for (Operation* op : llvm::reverse(ops)) {
    for (Value result : op->getResults())
      if (is_tensor(result)) decide(result);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (Value argument : loop.getRegionIterArgs())
        if (is_tensor(argument)) sites_[argument] = collect_sites(argument);
  }
  for (Operation* op : ops)
    if (auto loop = dyn_cast<scf::ForOp>(op)) plan_loop(loop);
}

void StoragePlan::number(ProgramOp program) {
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation* op) {
    numbers_[op] = numbers_.size();
    if (AccessOp access(op); access && access.writes()) writes_.push_back(op);
  });
}

StoragePlan::Sites StoragePlan::collect_sites(Value value) const {
  Sites sites;
  auto add = [&](Site site) {
    if (!llvm::is_contained(sites, site)) sites.push_back(site);
  };
  for (OpOperand& use : value.getUses()) {
    Operation* user = use.getOwner();
    if (auto dot = dyn_cast<DotOp>(user)) {
      add({user, false, use.getOperandNumber() == 2}); // the accumulator, lane by lane
      continue;
    }
    if (!is_inlinable(user)) {
      add({user, false, isa<StoreOp, ReduceOp, scf::YieldOp>(user)});
      continue;
    }
    Value result = user->getResult(0);
    // Indices and masks of a gather, and what is taken from, are used in places of their own.
    bool addresses = isa<LoadOp, TakeOp>(user);
    bool broadcast = addresses || (isa<BroadcastOp>(user) && value.getType() != result.getType());
    bool moves = broadcast || isa<TransposeOp>(user);
    if (kept_.contains(result)) {
      add({user, broadcast, !moves});
      continue;
    }
    for (const Site& site : sites_.find(result)->second) {
      bool is_moved_shape = isa<ExpandDimsOp>(user); // keeps lanes in order, but not the index of each
      add({site.op, site.repeated || broadcast, site.aligned && !moves && !is_moved_shape});
    }
  }
  return sites;
}

void StoragePlan::decide(Value value) {
  Sites sites = collect_sites(value);
  if (is_inlinable(value.getDefiningOp()) && !kept_.contains(value) && must_keep(value, sites)) kept_.insert(value);
  sites_[value] = std::move(sites);
}

// Whether computing `value` anew takes an elementary function or the like, not counting what is kept already.
bool computes_costly(Value value, const llvm::DenseSet<Value>& kept, int depth) {
  Operation* op = value.getDefiningOp();
  if (!op || !is_inlinable(op) || !is_tensor(value)) return false;
  if (is_costly(op) || depth > 12) return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return !kept.contains(operand) && computes_costly(operand, kept, depth + 1);
  });
}

bool StoragePlan::must_keep(Value value, ArrayRef<Site> sites) const {
  Operation* op = value.getDefiningOp();
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getAccess() == Access::TensorDescriptor || is_overwritten_before_use(load, sites);
  // Keep the costly op itself, or a value at the end of a chain where it branches: a value whose one user is inlined is
  // computed as often as that user, which is decided on first.
  if (!is_costly(op) && !(value.hasOneUse() ? false : computes_costly(value, kept_))) return false;
  if (sites.size() > 1) return true;
  for (const Site& site : sites) {
    if (site.repeated) return true;
    for (Operation* parent = site.op->getParentOp(); parent != op->getParentOp(); parent = parent->getParentOp())
      if (isa<scf::ForOp, scf::WhileOp>(parent) && !parent->isAncestor(op)) return true;
  }
  return false;
}

// The number of the last op before which `site` may still compute a value defined by `definition`: its own, or the end
// of the outermost loop around it that the definition is not in.
unsigned StoragePlan::last_number(Operation* site, Operation* definition) const {
  Operation* outermost = nullptr;
  for (Operation* parent = site->getParentOp(); parent && !parent->isAncestor(definition);
       parent = parent->getParentOp())
    outermost = parent;
  if (!outermost) return numbers_.find(site)->second;
  unsigned last = numbers_.find(site)->second;
  outermost->walk([&](Operation* op) { last = std::max(last, numbers_.find(op)->second); });
  return last;
}

bool StoragePlan::is_overwritten_before_use(LoadOp load, ArrayRef<Site> sites) const {
  if (planted(PlantedBug::overwritten_before_read)) return false;
  unsigned from = numbers_.find(load)->second;
  for (Operation* write : writes_) {
    if (AccessOp(write).array() != load.getArray()) continue;
    unsigned at = numbers_.find(write)->second;
    // A store of the very lanes that it reads, and nothing else of the array, may read them as it goes.
    auto same_lanes = [&] {
      auto store = dyn_cast<StoreOp>(write);
      return store && store.getIndices() == load.getIndices() && store.getSubscripts() == load.getSubscripts() &&
             store.getValue().getType() == load.getType() &&
             llvm::none_of(subscripts_of(load), [](const SubscriptUse& use) { return use.is_gather(); });
    };
    for (const Site& site : sites) {
      if (site.op == write && site.aligned && same_lanes() && last_number(site.op, load) == at) continue;
      if (from < at && at <= last_number(site.op, load)) return true;
    }
  }
  return false;
}

void StoragePlan::plan_loop(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!is_tensor(argument)) continue;
    Value next = yield.getOperand(index);
    Operation* definition = next.getDefiningOp();
    if (!definition || definition->getBlock() != loop.getBody()) continue;
    if (isa<scf::ForOp>(definition)) continue; // has a buffer of its own
    if (llvm::count(yield.getOperands(), next) != 1) continue;
    unsigned at = numbers_.find(definition)->second;
    bool safe = llvm::all_of(sites_.find(argument)->second, [&](const Site& site) {
      unsigned used = numbers_.find(site.op)->second;
      return used < at || (site.op == definition && site.aligned);
    });
    if (isa<ReduceOp, CombineOp, ScanOp, SortOp, ReshapeOp, AtomicOp, AtomicCasOp, scf::IfOp, scf::WhileOp>(definition))
      safe = false;
    if (safe) in_place_.insert({loop.getOperation(), index});
  }
}

} // namespace tilewright::cpu
