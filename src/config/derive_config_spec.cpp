#include "config/derive_config_spec.h"

#include "config/block_roles.h"
#include "config/default_blocks.h"
#include "ir/context.h"
#include "ir/kernel_loops.h"
#include "ir/rolling.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

using namespace mlir;

namespace tilewright {
namespace {

constexpr int64_t kLeastRolledBlock = 16;
constexpr int64_t kLargestGroup = 32;
constexpr int64_t kUnrollFactors[] = {1, 2, 4};
constexpr int64_t kLargestBlockOfUnknownExtent = 4096;
// What schedule can do; a backend may know more.
constexpr const char* kPidTypes[] = {"flat", "persistent_blocked"};
constexpr const char* kGpuOptions[] = {"num_warps", "num_stages", "maxnreg"};

int64_t power_of_two_from(int64_t size) { return static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(size, 1))); }

/// " (softmax.cpp:12)", or nothing.
std::string place(Location location) {
  SourceLocation source = source_location(location);
  if (!source.known()) return "";
  std::string_view file = source.file;
  if (size_t slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return fmt::format(" ({}:{})", file, source.line);
}

class SpecBuilder {
public:
  SpecBuilder(KernelOp kernel, const BackendLimits& limits)
      : kernel_(kernel), limits_(limits), wholes_(kernel.whole_dims()), roles_(block_roles(kernel)) {}

  ConfigSpec run() {
    add_block_sizes();
    add_loop_orders();
    add_reduction_loops();
    add_pid_type();
    add_l2_groupings();
    add_unroll_factors();
    add_element_limits();
    for (const char* name : kGpuOptions)
      if (!llvm::is_contained(limits_.options, name))
        spec_.inapplicable[name] = fmt::format("it has no meaning on the {} backend", limits_.backend);
    return std::move(spec_);
  }

private:
  /// Offers an option, or says why not: `reason` where the kernel has no use for it.
  void offer(ConfigOptionSpec option, std::string reason) {
    if (!llvm::is_contained(limits_.options, option.name))
      reason = fmt::format("it has no meaning on the {} backend", limits_.backend);
    if (reason.empty())
      spec_.options.push_back(std::move(option));
    else
      spec_.inapplicable[option.name] = reason;
  }

  void add_block_sizes() {
    ConfigOptionSpec option{.name = "block_sizes", .summary = "the size of each tile", .may_be_short = false};
    SmallVector<int64_t> defaults = default_blocks(kernel_, roles_, limits_);
    for (auto [role, size] : llvm::zip(roles_, defaults)) {
      option.entries.emplace_back(block_entry(role, size));
      option.labels.push_back((role.extent ? fmt::format("tile over {}", *role.extent) : std::string("tile")) +
                              place(role.location));
    }
    offer(std::move(option), roles_.empty() ? "no tile of this kernel has a size of its own to choose" : "");
  }

  SizeEntry block_entry(const BlockRole& role, int64_t default_size) const {
    SizeEntry entry;
    entry.extent = role.extent.value_or(0);
    entry.min = role.dot_row || role.dot_column || role.dot_sum ? limits_.min_dot_block : 1;
    int64_t longest = role.extent ? power_of_two_from(*role.extent) : kLargestBlockOfUnknownExtent;
    entry.max = std::max(std::min(longest, limits_.max_block_elements), entry.min);
    entry.default_value = std::clamp(default_size, entry.min, entry.max);
    if (role.dot_row) entry.multiples.push_back(limits_.dot_tile_rows);
    if (role.dot_column) entry.multiples.push_back(limits_.dot_tile_columns);
    entry.propose_extent = entry.extent > 0;
    entry.no_larger_than = role.inside ? static_cast<int64_t>(*role.inside) : -1;
    return entry;
  }

  void add_loop_orders() {
    ConfigOptionSpec option{.name = "loop_orders", .summary = "the dimensions of each loop from the outermost on"};
    for (ForOp loop : permutable_loops(kernel_)) {
      option.entries.emplace_back(PermutationEntry{.rank = loop.rank()});
      option.labels.push_back(fmt::format("loop over {} dimensions", loop.rank()) + place(loop.getLoc()));
    }
    bool none = option.entries.empty();
    offer(std::move(option), none ? "no loop has several dimensions whose order is free" : "");
  }

  void add_reduction_loops() {
    ConfigOptionSpec option{.name = "reduction_loops",
                            .summary = "null keeps a reduced dimension whole, a number walks it in such blocks"};
    bool useful = false;
    rollable_ = rollable_dims(kernel_);
    for (uint32_t whole : rollable_) {
      int64_t length = *wholes_[whole].constant();
      RolledEntry entry{.min = kLeastRolledBlock, .max = 0, .extent = length};
      if (length > kLeastRolledBlock) entry.max = power_of_two_from(length) / 2; // below the length
      useful |= entry.max >= entry.min;
      option.entries.emplace_back(entry);
      option.labels.push_back(fmt::format("whole dimension of {}", length));
    }
    if (!useful) rollable_.clear();
    offer(std::move(option), useful ? "" : "no whole dimension that a reduction runs over can be rolled into a loop");
  }

  void add_pid_type() {
    ChoiceEntry entry{.choices = {}, .default_value = nullptr};
    for (const std::string& type : limits_.pid_types)
      if (llvm::is_contained(kPidTypes, StringRef(type))) entry.choices.emplace_back(type);
    bool useful = entry.choices.size() > 1;
    if (useful) entry.default_value = entry.choices.front();
    offer({.name = "pid_type", .summary = "how tiles are mapped to programs", .is_list = false, .entries = {entry}},
          useful ? "" : "there is only one way to map tiles to programs");
  }

  void add_l2_groupings() {
    ForOp loop = parallel_loop(kernel_);
    int64_t longest = 1;
    for (unsigned dim = 0; dim < loop.rank(); ++dim)
      longest = std::max(longest, LoopDim{loop, dim}.length().value_or(1));
    ChoiceEntry entry{.choices = {}, .default_value = 1, .ordered = true};
    for (int64_t group = 1; group <= std::min(kLargestGroup, power_of_two_from(longest)); group *= 2)
      entry.choices.emplace_back(group);
    bool useful = loop.rank() > 1 && entry.choices.size() > 1;
    offer({.name = "l2_groupings",
           .summary = "how many rows of tiles go together, for the cache's sake",
           .entries = {entry},
           .labels = {"outermost loop" + place(loop.getLoc())}},
          useful ? "" : "the outermost loop has no two dimensions of tiles to group");
  }

  void add_unroll_factors() {
    ConfigOptionSpec option{.name = "range_unroll_factors", .summary = "how often the body of each loop is repeated"};
    bool useful = false;
    for (ForOp loop : sequential_loops(kernel_)) {
      ChoiceEntry entry{.choices = {}, .default_value = 1, .ordered = true};
      // The innermost dimension is the one that is unrolled.
      int64_t length = LoopDim{loop, loop.rank() - 1}.length().value_or(INT64_MAX);
      // A dot is a large piece of code already: more copies cost compile time and win nothing.
      bool has_dot = loop.walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
      for (int64_t factor : kUnrollFactors)
        if (factor <= std::max<int64_t>(length, 1) && (!has_dot || factor <= 2)) entry.choices.emplace_back(factor);
      useful |= entry.choices.size() > 1;
      option.entries.emplace_back(entry);
      option.labels.push_back("loop" + place(loop.getLoc()));
    }
    offer(std::move(option), useful ? "" : "no loop inside a program runs more than once");
  }

  //===--------------------------------------------------------------------===//
  // Limits on tiles
  //===--------------------------------------------------------------------===//

  /// What the size of a value depends on; nothing where it has a dimension of another form than one symbol.
  std::optional<ElementLimit> limit_of(Type type) const {
    ElementLimit limit{.what = "", .max_elements = limits_.max_block_elements};
    for (const Dim& dim : dims_of(type)) {
      std::optional<Symbol> symbol = dim.symbol();
      if (!symbol && !dim.constant()) return std::nullopt;
      auto rolled =
          symbol && symbol->kind == Symbol::Kind::Whole ? llvm::find(rollable_, symbol->index) : rollable_.end();
      if (symbol && symbol->kind == Symbol::Kind::Block)
        limit.factors.push_back({"block_sizes", symbol->index});
      else if (rolled != rollable_.end())
        limit.factors.push_back({"reduction_loops", static_cast<size_t>(rolled - rollable_.begin())});
      else
        limit.constant_factor *= symbol ? *wholes_[symbol->index].constant() : *dim.constant();
    }
    return limit;
  }

  void add_element_limits() {
    if (limits_.max_block_elements == INT64_MAX) return;
    using Key = std::pair<std::vector<std::pair<std::string, size_t>>, int64_t>;
    std::set<Key> seen;
    kernel_.walk([&](Operation* op) {
      for (Value result : op->getResults()) {
        if (!isa<RankedTensorType>(result.getType())) continue;
        std::optional<ElementLimit> limit = limit_of(result.getType());
        if (!limit || limit->factors.empty()) continue;
        Key key{{}, limit->constant_factor};
        for (const auto& [option, entry] : limit->factors) key.first.emplace_back(option, entry);
        std::sort(key.first.begin(), key.first.end());
        if (!seen.insert(key).second) continue;
        std::string dims;
        for (const Dim& dim : dims_of(result)) dims += (dims.empty() ? "" : ", ") + dim.str();
        limit->what = fmt::format("the tile [{}]{}", dims, place(op->getLoc()));
        spec_.element_limits.push_back(std::move(*limit));
      }
    });
  }

  KernelOp kernel_;
  const BackendLimits& limits_;
  SmallVector<Dim> wholes_;
  SmallVector<BlockRole> roles_;
  SmallVector<uint32_t> rollable_;
  ConfigSpec spec_;
};

} // namespace

ConfigSpec derive_config_spec(KernelOp pinned, const BackendLimits& limits) {
  return SpecBuilder(pinned, limits).run();
}

} // namespace tilewright
