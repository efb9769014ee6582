#include "config/resource_limits.h"

#include "config/tile_size.h"
#include "ir/kernel_accesses.h"
#include "ir/kernel_loops.h"

#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

using namespace mlir;

namespace tilewright {
namespace {

// More warps than these no longer help a dot: its instruction is one of four warps, and takes 64 rows.
constexpr int64_t kMostDotWarps = 8, kMostWarps = 32;

/// The loads whose values an operand of a dot is made of, by pointwise ops and rearrangement.
void loads_behind(Value operand, llvm::SetVector<Operation*>& loads) {
  SmallVector<Value> waiting = {operand};
  llvm::SmallPtrSet<Operation*, 16> seen;
  while (!waiting.empty()) {
    Operation* op = waiting.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second) continue;
    if (isa<LoadOp>(op))
      loads.insert(op);
    else if (!isa<DotOp, ReduceOp>(op) && op->getNumRegions() == 0)
      llvm::append_range(waiting, op->getOperands());
  }
}

class ResourceLimits {
public:
  ResourceLimits(KernelOp kernel, const BackendLimits& limits, ArrayRef<uint32_t> rollable, const ConfigSpec& spec)
      : kernel_(kernel), limits_(limits), wholes_(kernel.whole_dims()), rollable_(rollable), spec_(spec) {}

  std::vector<ResourceLimit> run() {
    if (limits_.value_registers > 0) add_registers_of_tiles();
    for (ForOp loop : parallel_loops(kernel_)) add_dots_of(loop, std::nullopt);
    for (auto [i, loop] : llvm::enumerate(sequential_loops(kernel_))) add_dots_of(loop, i);
    return std::move(result_);
  }

private:
  /// Those of the loop itself, not of loops inside it.
  static SmallVector<DotOp> dots_in(ForOp loop) {
    SmallVector<DotOp> dots;
    loop.getBody().walk([&](DotOp dot) {
      if (dot->getParentOfType<ForOp>() == loop) dots.push_back(dot);
    });
    return dots;
  }

  /// `index`: of a sequential loop among all of them.
  void add_dots_of(ForOp loop, std::optional<size_t> index) {
    SmallVector<DotOp> dots = dots_in(loop);
    if (dots.empty()) return;
    if (limits_.dot_registers > 0) add_registers_of_dots(dots);
    if (limits_.shared_bytes > 0) add_shared_memory(loop, index, dots);
  }

  std::optional<ResourceLimit::Term> term(Type type, double each) const {
    std::optional<TileSize> size = tile_size(type, wholes_, rollable_);
    if (!size) return std::nullopt;
    return ResourceLimit::Term{std::move(size->factors), each * static_cast<double>(size->constant)};
  }

  std::optional<EntryName> warps() const {
    if (!spec_.find("num_warps")) return std::nullopt;
    return EntryName{"num_warps", 0};
  }

  /// Registers of 32 bits for one element.
  static double registers_of(Type type) {
    Type element = element_type(type);
    const double bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
    return std::max(bits, 8.0) / 32;
  }

  void add(ResourceLimit limit) {
    if (std::ranges::any_of(limit.terms, [](const ResourceLimit::Term& t) { return !t.factors.empty(); }))
      result_.push_back(std::move(limit));
  }

  void add_registers_of_tiles() {
    std::set<std::pair<std::vector<std::pair<std::string, size_t>>, double>> seen;
    kernel_.walk([&](Operation* op) {
      for (Value value : op->getResults()) {
        if (!isa<RankedTensorType>(value.getType())) continue;
        std::optional<ResourceLimit::Term> one = term(value.getType(), registers_of(value.getType()));
        if (!one) continue;
        std::vector<std::pair<std::string, size_t>> factors;
        for (const auto& [option, entry] : one->factors) factors.emplace_back(option, entry);
        std::ranges::sort(factors);
        if (!seen.insert({factors, one->constant_factor}).second) continue;
        add({.what = "registers of a tile",
             .terms = {*one},
             .divided_by = warps(),
             .most_divisor = kMostWarps,
             .most = static_cast<double>(limits_.value_registers * limits_.warp_threads)});
      }
    });
  }

  void add_registers_of_dots(ArrayRef<DotOp> dots) {
    ResourceLimit limit{.what = "registers of accumulators",
                        .divided_by = warps(),
                        .most_divisor = kMostDotWarps,
                        .most = static_cast<double>(limits_.dot_registers * limits_.warp_threads)};
    for (DotOp dot : dots)
      if (auto one = term(dot.getType(), registers_of(dot.getType()))) limit.terms.push_back(*one);
    add(std::move(limit));
  }

  void add_shared_memory(ForOp loop, std::optional<size_t> index, ArrayRef<DotOp> dots) {
    ResourceLimit limit{.what = "shared memory", .most = static_cast<double>(limits_.shared_bytes)};
    if (index && spec_.find("range_num_stages")) limit.stages.push_back({"range_num_stages", *index});
    if (index && spec_.find("num_stages")) limit.stages.push_back({"num_stages", 0});
    llvm::SetVector<Operation*> loads;
    for (DotOp dot : dots)
      for (Value operand : {dot.getA(), dot.getB()}) loads_behind(operand, loads);
    for (Operation* load : loads) {
      AccessOp access(load);
      auto one = term(load->getResult(0).getType(), static_cast<double>(access.array_type().element_bytes()));
      if (!one) continue;
      one->staged = index && loop->isProperAncestor(load);
      limit.terms.push_back(*one);
    }
    add_stores_beside(limit);
    add(std::move(limit));
  }

  /// Of the next tile, whose loads begin before the last one's stores have ended.
  void add_stores_beside(ResourceLimit& limit) const {
    const ConfigOptionSpec* types = spec_.find("pid_type");
    if (!types) return;
    std::vector<ConfigValue> persistent;
    for (const ConfigValue& type : std::get<ChoiceEntry>(types->entries[0]).choices)
      if (StringRef(type.as_string()).starts_with("persistent_")) persistent.push_back(type);
    for (Operation* op : loads_and_stores(kernel_)) {
      auto store = dyn_cast<StoreOp>(op);
      if (!store) continue;
      AccessOp access(op);
      auto one = term(access.block(), static_cast<double>(access.array_type().element_bytes()));
      if (!one || persistent.empty()) continue;
      one->only_where = {{{"pid_type", 0}, persistent}};
      limit.terms.push_back(*one);
    }
  }

  KernelOp kernel_;
  const BackendLimits& limits_;
  SmallVector<Dim> wholes_;
  ArrayRef<uint32_t> rollable_;
  const ConfigSpec& spec_;
  std::vector<ResourceLimit> result_;
};

} // namespace

std::vector<ResourceLimit> resource_limits(KernelOp pinned, const BackendLimits& limits, ArrayRef<uint32_t> rollable,
                                           const ConfigSpec& spec) {
  return ResourceLimits(pinned, limits, rollable, spec).run();
}

} // namespace tilewright
