#include "ir/rolling.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tilewright {

static bool has_dim(Value value, uint32_t whole) {
  return llvm::any_of(dims_of(value), [&](const Dim& dim) { return dim.mentions(Symbol::whole(whole)); });
}

bool is_wide(Operation* op, uint32_t whole) {
  if (isa<LaneCountOp>(op)) return false; // it reads no lanes, and is arithmetic before anything is rolled
  auto wide = [&](Value value) { return has_dim(value, whole); };
  return llvm::any_of(op->getOperands(), wide) || llvm::any_of(op->getResults(), wide);
}

bool is_sink(Operation* op, uint32_t whole) {
  if (auto store = dyn_cast<StoreOp>(op)) return has_dim(store.getValue(), whole);
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && has_dim(reduce.getSource(), whole) && !has_dim(reduce.getResult(), whole);
}

SetVector<Operation*> wide_slice(Operation* sink, uint32_t whole) {
  SetVector<Operation*> slice;
  SmallVector<Operation*> left{sink};
  while (!left.empty())
    for (Value operand : left.pop_back_val()->getOperands())
      if (has_dim(operand, whole) && slice.insert(operand.getDefiningOp())) left.push_back(operand.getDefiningOp());
  return slice;
}

//===----------------------------------------------------------------------===//
// Which ops a wide value may meet
//===----------------------------------------------------------------------===//

// Whether all subscripts along the dimension are `:` or slices that end with it; of others no part is known.
static bool has_plain_subscripts(AccessOp access, uint32_t whole) {
  SmallVector<Dim> dims = dims_of(access.block());
  return llvm::all_of(access.subscripts(), [&](const SubscriptUse& use) {
    if (use.kind != Subscript::Tile || !dims[use.block_dim].mentions(Symbol::whole(whole))) return true;
    auto slice = use.operand.getDefiningOp<SliceOp>();
    return slice && !slice.getEnd();
  });
}

// What keeps this op from working on one block of the dimension at a time; empty where nothing does.
static std::string obstacle(Operation* op, uint32_t whole) {
  for (Value value : op->getResults()) {
    unsigned times = 0;
    for (const Dim& dim : dims_of(value)) {
      if (!dim.mentions(Symbol::whole(whole))) continue;
      if (dim.symbol() != Symbol::whole(whole)) return "a value has it as part of a dimension";
      if (++times == 2) return "a value has it in two dimensions";
    }
  }
  if (!is_wide(op, whole)) return "";
  if (isa<ForOp, YieldOp>(op)) return "a loop carries a value that has it";
  if (AccessOp access(op); access && access.mask()) return "an access has a mask that has it";
  if (AccessOp access(op); access && !has_plain_subscripts(access, whole)) return "a tile has its length";
  if (isa<LoadOp, StoreOp, SplatOp, FullOp, BroadcastOp, ExpandDimsOp, TransposeOp, CompositeOp, ReduceOp>(op))
    return "";
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) return "";
  return ("'" + op->getName().getStringRef() + "' needs it whole").str();
}

//===----------------------------------------------------------------------===//
// Stages of one body
//===----------------------------------------------------------------------===//

namespace {

/// An access to memory in a body. Those inside a nested loop stand at the loop.
struct Access {
  Operation* op;
  Operation* at;
  Value array() const { return AccessOp(op).array(); }
  bool stores() const { return AccessOp(op).writes(); }
};

/// Finds the least stages of one body, as longest paths over "must come before".
class Staging {
public:
  Staging(Block* block, uint32_t whole) : block_(block), whole_(whole) {
    for (Operation& op : block->without_terminator()) {
      bool sink = is_sink(&op, whole);
      if (is_wide(&op, whole) && !sink) continue;
      index_[&op] = units_.size();
      units_.push_back({&op, sink, uses(&op), accesses(&op)});
    }
  }

  std::optional<RollingPlan::Body> run(std::string& reason) {
    for (unsigned i = 0; i < units_.size(); ++i)
      for (Value value : units_[i].uses) order_after_definition(i, value);
    for (unsigned i = 0; i < units_.size(); ++i)
      for (unsigned j = 0; j < units_.size(); ++j)
        if (!order_accesses(i, j)) return reason = "a block would overwrite what another one still reads", std::nullopt;
    if (!solve()) return reason = "a value would be loaded again after its array was stored to", std::nullopt;
    RollingPlan::Body body{block_, {}};
    for (auto [unit, stage] : llvm::zip(units_, stages_)) body.steps.push_back({unit.op, unit.sink, stage});
    return body;
  }

private:
  struct Unit {
    Operation* op;
    bool sink;
    SmallVector<Value> uses;      // narrow values it needs, also through the wide ops that it needs
    SmallVector<Access> accesses; // its own and those of the wide ops in this body that it needs
  };
  /// `after` runs in the same stage as `before` or `weight` stages later, at the least.
  struct Edge {
    unsigned before, after, weight;
  };

  SmallVector<Value> uses(Operation* unit) {
    SmallVector<Value> values;
    auto add = [&](Operation* op) {
      for (Value operand : op->getOperands())
        if (!has_dim(operand, whole_)) values.push_back(operand);
    };
    unit->walk([&](Operation* op) {
      add(op);
      if (is_wide(op, whole_))
        for (Operation* wide : wide_slice(op, whole_)) add(wide);
    });
    return values;
  }

  SmallVector<Access> accesses(Operation* unit) {
    SmallVector<Access> accesses;
    unit->walk([&](Operation* op) {
      if (AccessOp(op)) accesses.push_back({op, unit});
    });
    for (Operation* op : wide_slice(unit, whole_))
      if (isa<LoadOp>(op) && op->getBlock() == block_) accesses.push_back({op, op});
    return accesses;
  }

  void order_after_definition(unsigned after, Value value) {
    Operation* definition = value.getDefiningOp();
    if (definition) definition = block_->findAncestorOpInBlock(*definition);
    auto before = definition ? index_.find(definition) : index_.end();
    if (before != index_.end() && before->second != after)
      edges_.push_back({before->second, after, units_[before->second].sink ? 1u : 0u});
  }

  // Whether two wide accesses touch, in each iteration of a shared loop, the same elements and no others that the other
  // one touches.
  static bool same_elements(const Access& a, const Access& b) {
    return llvm::equal(AccessOp(a.op).subscripts(), AccessOp(b.op).subscripts(),
                       [](const SubscriptUse& x, const SubscriptUse& y) {
                         return x.kind == y.kind && x.operand == y.operand && !x.is_gather();
                       });
  }

  // Orders unit j after unit i where an access of i comes first in the source; false where that cannot be.
  bool order_accesses(unsigned i, unsigned j) {
    for (const Access& a : units_[i].accesses)
      for (const Access& b : units_[j].accesses) {
        if (a.array() != b.array() || !(a.stores() || b.stores()) || !a.at->isBeforeInBlock(b.at)) continue;
        bool both_wide = units_[i].sink && units_[j].sink;
        bool may_share = both_wide && same_elements(a, b);
        if (i == j) {
          if (units_[i].sink && !may_share) return false;
          continue;
        }
        edges_.push_back({i, j, units_[i].sink && !may_share ? 1u : 0u});
      }
    return true;
  }

  bool solve() {
    stages_.assign(units_.size(), 0);
    unsigned sinks = llvm::count_if(units_, [](const Unit& unit) { return unit.sink; });
    for (bool changed = true; changed;) {
      changed = false;
      for (const Edge& edge : edges_) {
        unsigned least = stages_[edge.before] + edge.weight;
        if (stages_[edge.after] >= least) continue;
        if (least > sinks) return false; // a cycle: each stage but the last has a sink
        stages_[edge.after] = least;
        changed = true;
      }
    }
    return true;
  }

  Block* block_;
  uint32_t whole_;
  SmallVector<Unit> units_;
  DenseMap<Operation*, unsigned> index_;
  SmallVector<Edge> edges_;
  SmallVector<unsigned> stages_;
};

} // namespace

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

static llvm::DenseSet<Value> stored_arrays(KernelOp kernel) {
  llvm::DenseSet<Value> arrays;
  kernel.walk([&](Operation* op) {
    if (AccessOp access(op); access && access.writes()) arrays.insert(access.array());
  });
  return arrays;
}

unsigned RollingPlan::Body::stage_count() const {
  unsigned count = 0;
  for (const Step& step : steps)
    if (step.sink) count = std::max(count, step.stage + 1);
  return count;
}

std::optional<RollingPlan> RollingPlan::of(KernelOp kernel, uint32_t whole, std::string& reason) {
  WalkResult walk = kernel.walk([&](Operation* op) {
    reason = obstacle(op, whole);
    return reason.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (walk.wasInterrupted()) return std::nullopt;

  llvm::DenseSet<Value> stored = stored_arrays(kernel);
  llvm::SetVector<Block*> blocks;
  walk = kernel.walk([&](Operation* op) {
    if (!is_sink(op, whole)) return WalkResult::advance();
    blocks.insert(op->getBlock());
    for (Operation* wide : wide_slice(op, whole)) {
      auto load = dyn_cast<LoadOp>(wide);
      if (!load || load->getBlock() == op->getBlock() || !stored.contains(load.getArray())) continue;
      reason = "a loop would load again, in each iteration, from an array that the kernel stores to";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted()) return std::nullopt;

  RollingPlan plan;
  for (Block* block : blocks) {
    std::optional<Body> body = Staging(block, whole).run(reason);
    if (!body) return std::nullopt;
    plan.bodies_.push_back(std::move(*body));
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Which dimensions, in which order
//===----------------------------------------------------------------------===//

// Whether some reduction over `reduced` leaves dimension `kept`.
static bool leaves(KernelOp kernel, uint32_t reduced, uint32_t kept) {
  return kernel
      .walk([&](ReduceOp reduce) {
        bool found = is_sink(reduce, reduced) && has_dim(reduce.getResult(), kept);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

// Takes, again and again, the first dimension that no reduction over another one left leaves to be; stops where there
// is none.
static SmallVector<uint32_t> order_of(KernelOp kernel, ArrayRef<uint32_t> dims) {
  SmallVector<uint32_t> left(dims), order;
  for (bool found = true; found && !left.empty();) {
    auto next = llvm::find_if(left, [&](uint32_t dim) {
      return llvm::none_of(left, [&](uint32_t other) { return other != dim && leaves(kernel, dim, other); });
    });
    found = next != left.end();
    if (!found) break;
    order.push_back(*next);
    left.erase(next);
  }
  return order;
}

SmallVector<uint32_t> rolling_order(KernelOp kernel, ArrayRef<uint32_t> dims) { return order_of(kernel, dims); }

static bool is_reduced(KernelOp kernel, uint32_t whole) {
  return kernel
      .walk([&](ReduceOp reduce) { return is_sink(reduce, whole) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

static bool loads_what_is_stored(KernelOp kernel, uint32_t whole) {
  llvm::DenseSet<Value> stored = stored_arrays(kernel);
  return kernel
      .walk([&](LoadOp load) {
        bool found = is_wide(load, whole) && stored.contains(load.getArray());
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<uint32_t> rollable_dims(KernelOp kernel) {
  SmallVector<uint32_t> dims;
  for (uint32_t whole = 0; whole < kernel.whole_dims().size(); ++whole) {
    std::string reason;
    bool wanted = is_reduced(kernel, whole) || !kernel.whole_dims()[whole].constant();
    if (wanted && RollingPlan::of(kernel, whole, reason)) dims.push_back(whole);
  }
  if (dims.size() < 2) return dims;
  // Rolling one may put the loads of another one inside its loops, where they run again; that is safe wherever nothing
  // they load is stored to. A cycle of reductions that leave each other would have the loop of each carry the other.
  llvm::erase_if(dims, [&](uint32_t dim) { return loads_what_is_stored(kernel, dim); });
  while (order_of(kernel, dims).size() != dims.size()) dims.pop_back();
  return dims;
}

} // namespace tilewright
