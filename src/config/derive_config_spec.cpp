#include "config/derive_config_spec.h"

#include "config/access_choices.h"
#include "config/block_roles.h"
#include "config/default_blocks.h"
#include "config/resource_limits.h"
#include "config/starts.h"
#include "config/tile_size.h"
#include "ir/context.h"
#include "ir/flattening.h"
#include "ir/host_choices.h"
#include "ir/kernel_loops.h"
#include "ir/rolling.h"
#include "support/error.h"

#include "llvm/ADT/STLExtras.h"
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
constexpr int64_t kProgramsPerWorker[] = {1, 2, 4, 8};
constexpr int64_t kStages[] = {0, 1, 2, 3, 4, 5};
constexpr int64_t kLargestBlockOfUnknownExtent = 4096;
// The most that a loop which is unrolled wholly may come to: iterations times what is in one (weight_of).
constexpr int64_t kMostStaticTrips = 16, kMostStaticWeight = 64;
constexpr int64_t kWeightOfDot = 24, kWeightOfReduction = 6;
// What schedule can do; a backend may know more.
constexpr const char* kPidTypes[] = {"flat", "xyz", "persistent_blocked", "persistent_interleaved"};
// Options that some backend has, so that a config made for another one is understood.
constexpr const char* kOtherOptions[] = {"num_warps",           "num_stages",      "maxnreg",
                                         "epilogue_subtile",    "atomic_indexing", "range_num_stages",
                                         "range_multi_buffers", "range_flattens",  "range_warp_specializes",
                                         "num_threads",         "vector_width",    "register_tile"};

int64_t power_of_two_from(int64_t size) { return static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(size, 1))); }

/// " (softmax.cpp:12)", or nothing.
std::string place(Location location) {
  SourceLocation source = source_location(location);
  if (!source.known()) return "";
  std::string_view file = source.file;
  if (size_t slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return fmt::format(" ({}:{})", file, source.line);
}

bool has_dot(Operation* root) {
  return root->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// How much code the body of a loop is, in pointwise ops.
int64_t weight_of(ForOp loop) {
  int64_t weight = 0;
  loop.getBody().walk([&](Operation* op) {
    bool on_tensors = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) ||
                      llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    weight += isa<DotOp>(op) ? kWeightOfDot : isa<ReduceOp>(op) ? kWeightOfReduction : on_tensors ? 1 : 0;
  });
  return std::max<int64_t>(weight, 1);
}

class SpecBuilder {
public:
  SpecBuilder(KernelOp kernel, const BackendLimits& limits)
      : kernel_(kernel), limits_(limits), wholes_(kernel.whole_dims()), choices_(host_choices(kernel)),
        roles_(block_roles(kernel)) {}

  ConfigSpec run() {
    add_block_sizes();
    add_loop_orders();
    add_flatten_loops();
    add_reduction_loops();
    add_pid_type();
    add_num_sm_multiplier();
    add_l2_groupings();
    add_static_ranges();
    add_unroll_factors();
    add_loop_annotations();
    add_indexing();
    add_eviction_policies();
    add_own_options();
    add_tunables();
    add_element_limits();
    std::ranges::copy_if(dependences_, std::back_inserter(spec_.dependences), [&](const Dependence& dependence) {
      return spec_.find(dependence.entry.option) && spec_.find(dependence.on.option);
    });
    for (const char* name : kOtherOptions)
      if (!spec_.find(name) && !spec_.inapplicable.contains(name))
        spec_.inapplicable[name] = fmt::format("it has no meaning on the {} backend", limits_.backend);
    if (limits_.warp_threads > 0) spec_.resource_limits = resource_limits(kernel_, limits_, rollable_, spec_);
    if (limits_.has_starts) add_starts(kernel_, roles_, limits_, spec_);
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
      option.entries.emplace_back(block_entry(role, size, option.entries.size()));
      option.labels.push_back((role.extent ? fmt::format("tile over {}", *role.extent) : std::string("tile")) +
                              place(role.location));
    }
    offer(std::move(option), roles_.empty() ? "no tile of this kernel has a size of its own to choose" : "");
  }

  SizeEntry block_entry(const BlockRole& role, int64_t default_size, size_t block) const {
    SizeEntry entry;
    entry.extent = role.extent.value_or(0);
    entry.min = role.dot_row || role.dot_column || role.dot_sum ? limits_.min_dot_block : 1;
    int64_t longest = role.extent ? power_of_two_from(*role.extent) : kLargestBlockOfUnknownExtent;
    entry.max = std::min(longest, limits_.max_block_elements);
    for (const RegisteredBlock& registered : choices_.blocks) {
      if (registered.block != block) continue;
      entry.min = std::max(entry.min, registered.min);
      // Whoever gives bounds means them, however long the dimension is.
      if (registered.max) entry.max = std::min(limits_.max_block_elements, *registered.max);
    }
    entry.max = std::max(entry.max, entry.min);
    entry.powers_of_two = limits_.pads_extents;
    if (role.dot_batch && !limits_.dots_have_batches) entry.max = std::max<int64_t>(entry.min, 1);
    if (limits_.pads_extents) default_size = power_of_two_from(default_size);
    entry.default_value = std::clamp(default_size, entry.min, entry.max);
    if (role.dot_row) entry.multiples.push_back(limits_.dot_tile_rows);
    if (role.dot_column) entry.multiples.push_back(limits_.dot_tile_columns);
    entry.propose_extent = entry.extent > 0 && power_of_two_from(entry.extent) <= entry.max;
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

  void add_flatten_loops() {
    ConfigOptionSpec option{.name = "flatten_loops", .summary = "walks the dimensions of a loop as one"};
    bool useful = false;
    std::vector<Dependence> orders;
    for (auto [i, loop] : llvm::enumerate(permutable_loops(kernel_))) {
      ChoiceEntry entry{.choices = {false}, .default_value = false};
      std::string reason;
      if (find_flattening(kernel_, loop, reason)) {
        entry.choices.emplace_back(true);
        auto add = [&](const char* option, size_t other) {
          orders.push_back({.entry = {option, other},
                            .on = {"flatten_loops", i},
                            .values = {false},
                            .why = "the loop is walked as one"});
        };
        add("loop_orders", i);
        if (loop.getParallel()) add("l2_groupings", i); // these loops come first, and are grouped each by itself
      }
      useful |= entry.choices.size() > 1;
      option.entries.emplace_back(entry);
      option.labels.push_back(fmt::format("loop over {} dimensions", loop.rank()) + place(loop.getLoc()));
    }
    offer(std::move(option), useful ? "" : "no loop has dimensions that can be walked as one");
    dependences_.insert(dependences_.end(), orders.begin(), orders.end());
  }

  void add_reduction_loops() {
    ConfigOptionSpec option{.name = "reduction_loops",
                            .summary = "null keeps a reduced dimension whole, a number walks it in such blocks"};
    bool useful = false;
    rollable_ = rollable_dims(kernel_);
    for (uint32_t whole : rollable_) {
      if (!wholes_[whole].constant()) {
        // Rolled in any case: the length is known at run time only.
        SizeEntry entry;
        entry.min = 1;
        entry.max = std::min(kLargestBlockOfUnknownExtent, limits_.max_block_elements);
        entry.default_value = std::min(kRolledBlock, entry.max);
        useful = true;
        option.entries.emplace_back(entry);
        option.labels.push_back("whole dimension of run-time length");
        continue;
      }
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
    const bool data_bounds = llvm::any_of(parallel_loops(kernel_), has_data_bounds);
    const bool has_axes = parallel_loops(kernel_).size() == 1 && parallel_loop(kernel_).rank() > 1;
    for (const std::string& type : limits_.pid_types) {
      if (!llvm::is_contained(kPidTypes, StringRef(type)) || (type == "xyz" && !has_axes)) continue;
      if (data_bounds && !StringRef(type).starts_with("persistent_")) continue;
      // Persistent programs would have to wait for each other at a barrier.
      if (has_barrier(kernel_) && StringRef(type).starts_with("persistent_")) continue;
      entry.choices.emplace_back(type);
    }
    bool useful = entry.choices.size() > 1 || (data_bounds && !entry.choices.empty());
    if (useful) entry.default_value = entry.choices.front();
    offer({.name = "pid_type", .summary = "how tiles are mapped to programs", .is_list = false, .entries = {entry}},
          useful ? "" : "there is only one way to map tiles to programs");
  }

  std::vector<ConfigValue> persistent_types() const {
    std::vector<ConfigValue> persistent;
    if (const ConfigOptionSpec* types = spec_.find("pid_type"))
      for (const ConfigValue& type : std::get<ChoiceEntry>(types->entries[0]).choices)
        if (StringRef(type.as_string()).starts_with("persistent_")) persistent.push_back(type);
    return persistent;
  }

  void add_num_sm_multiplier() {
    std::vector<ConfigValue> persistent = persistent_types();
    ChoiceEntry entry{.choices = {}, .default_value = 1, .ordered = true};
    for (int64_t count : kProgramsPerWorker) entry.choices.emplace_back(count);
    offer({.name = "num_sm_multiplier",
           .summary = "how many persistent programs there are for each worker",
           .is_list = false,
           .entries = {entry}},
          persistent.empty() ? "there are no persistent programs" : "");
    dependences_.push_back({.entry = {"num_sm_multiplier", 0},
                            .on = {"pid_type", 0},
                            .values = persistent,
                            .why = "only persistent programs are so many for each worker"});
  }

  void add_l2_groupings() {
    ConfigOptionSpec option{.name = "l2_groupings",
                            .summary = "how many rows of tiles go together, for the cache's sake"};
    bool useful = false;
    for (ForOp loop : parallel_loops(kernel_)) {
      if (loop.rank() < 2) continue;
      int64_t longest = 1;
      for (unsigned dim = 0; dim < loop.rank(); ++dim)
        longest = std::max(longest, LoopDim{loop, dim}.length().value_or(1));
      ChoiceEntry entry{.choices = {}, .default_value = 1, .ordered = true};
      for (int64_t group = 1; group <= std::min(kLargestGroup, power_of_two_from(longest)); group *= 2)
        entry.choices.emplace_back(group);
      useful |= entry.choices.size() > 1;
      option.entries.emplace_back(std::move(entry));
      option.labels.push_back("outermost loop" + place(loop.getLoc()));
    }
    const size_t count = option.entries.size();
    offer(std::move(option), useful ? "" : "the outermost loop has no two dimensions of tiles to group");
    const ConfigOptionSpec* types = spec_.find("pid_type");
    std::vector<ConfigValue> grouped;
    if (types) grouped = std::get<ChoiceEntry>(types->entries[0]).choices;
    if (std::erase(grouped, ConfigValue("xyz")) == 0) return;
    for (size_t i = 0; i < count; ++i)
      dependences_.push_back({.entry = {"l2_groupings", i},
                              .on = {"pid_type", 0},
                              .values = grouped,
                              .why = "programs along several axes are not grouped"});
  }

  void add_static_ranges() {
    ConfigOptionSpec option{.name = "static_ranges", .summary = "repeats the body of a loop for each iteration"};
    bool useful = false;
    for (auto [i, loop] : llvm::enumerate(sequential_loops(kernel_))) {
      ChoiceEntry entry{.choices = {false}, .default_value = false};
      if (may_be_static(loop, i)) entry.choices.emplace_back(true);
      useful |= entry.choices.size() > 1;
      option.entries.emplace_back(entry);
      option.labels.push_back("loop" + place(loop.getLoc()));
    }
    offer(std::move(option), useful ? "" : "no loop inside a program is known to be short");
  }

  /// An innermost loop over one dimension of constant length. Where that depends on its block, it is static with such
  /// blocks only as make it short: so that the amount of code does not depend on sizes.
  bool may_be_static(ForOp loop, size_t i) {
    std::optional<int64_t> length = LoopDim{loop, 0}.length();
    if (loop.rank() != 1 || !length || *length < 2) return false;
    if (loop.getBody().walk([](ForOp) { return WalkResult::interrupt(); }).wasInterrupted()) return false;
    const int64_t most = std::min(kMostStaticTrips, kMostStaticWeight / weight_of(loop));
    if (most < 2) return false;
    Dim block = loop.getBlocks().getDims()[0].dim();
    if (std::optional<int64_t> size = block.constant()) {
      if (llvm::divideCeil(*length, *size) > static_cast<uint64_t>(most)) return false;
    } else {
      std::optional<Symbol> symbol = block.symbol();
      if (!symbol || symbol->kind != Symbol::Kind::Block) return false;
      dependences_.push_back({.entry = {"static_ranges", i},
                              .on = {"block_sizes", symbol->index},
                              .least = static_cast<int64_t>(llvm::divideCeil(*length, most)),
                              .why = fmt::format("the loop would run more than {} times, each time its body", most)});
    }
    dependences_.push_back({.entry = {"range_unroll_factors", i},
                            .on = {"static_ranges", i},
                            .values = {false},
                            .why = "the loop is unrolled wholly"});
    return true;
  }

  void add_unroll_factors() {
    ConfigOptionSpec option{.name = "range_unroll_factors", .summary = "how often the body of each loop is repeated"};
    bool useful = false;
    for (ForOp loop : sequential_loops(kernel_)) {
      ChoiceEntry entry{.choices = {}, .default_value = 1, .ordered = true};
      // The innermost dimension is the one that is unrolled.
      int64_t length = LoopDim{loop, loop.rank() - 1}.length().value_or(INT64_MAX);
      // A dot is a large piece of code already: more copies cost compile time and win nothing.
      const int64_t most = has_dot(loop) ? 2 : INT64_MAX;
      for (int64_t factor : kUnrollFactors)
        if (factor <= std::min(std::max<int64_t>(length, 1), most)) entry.choices.emplace_back(factor);
      useful |= entry.choices.size() > 1;
      option.entries.emplace_back(entry);
      option.labels.push_back("loop" + place(loop.getLoc()));
    }
    offer(std::move(option), useful ? "" : "no loop inside a program runs more than once");
  }

  /// How each loop is run by the compiler behind the backend (schedule/annotate_loops.h).
  void add_loop_annotations() {
    ConfigOptionSpec stages{.name = "range_num_stages",
                            .summary = "in how many stages each loop is pipelined; 0: as many as num_stages"};
    ConfigOptionSpec flattens{.name = "range_flattens", .summary = "runs a loop as one with the loop around it"};
    ConfigOptionSpec buffers{.name = "range_multi_buffers",
                             .summary = "whether a dot's accumulator may have several buffers"};
    ConfigOptionSpec warps{.name = "range_warp_specializes",
                           .summary = "gives loads and arithmetic of a loop warps of their own"};
    bool any = false, flattens_any = false, has_dots = false;
    for (auto [i, loop] : llvm::enumerate(sequential_loops(kernel_))) {
      any = true;
      ChoiceEntry stage{.choices = {}, .default_value = 0, .ordered = true};
      for (int64_t count : kStages) stage.choices.emplace_back(count);
      stages.entries.emplace_back(stage);
      auto choice = [&](ConfigOptionSpec& option, bool default_value, bool has_meaning) {
        ChoiceEntry entry{.choices = {default_value}, .default_value = default_value};
        if (has_meaning) entry.choices.emplace_back(!default_value);
        option.entries.emplace_back(entry);
        for (ConfigOptionSpec* each : {&option}) each->labels.push_back("loop" + place(loop.getLoc()));
      };
      stages.labels.push_back("loop" + place(loop.getLoc()));
      // The loop around it is another one of the kernel's, or that of a persistent program over its tiles.
      ForOp outer = loop->getParentOfType<ForOp>();
      const bool in_parallel = outer.getParallel();
      const std::vector<ConfigValue> persistent = persistent_types();
      const bool may_flatten = loop->getParentOp() == outer && (!in_parallel || !persistent.empty());
      if (in_parallel && may_flatten)
        dependences_.push_back({.entry = {"range_flattens", i},
                                .on = {"pid_type", 0},
                                .values = persistent,
                                .why = "only persistent programs have a loop around it"});
      choice(flattens, false, may_flatten);
      choice(buffers, true, has_dot(loop));
      choice(warps, false, true);
      flattens_any |= may_flatten;
      has_dots |= has_dot(loop);
      for (const char* name : {"range_num_stages", "range_flattens", "range_multi_buffers", "range_warp_specializes"})
        dependences_.push_back(
            {.entry = {name, i}, .on = {"static_ranges", i}, .values = {false}, .why = "the loop is unrolled wholly"});
    }
    const char* const none = "there is no loop inside a program";
    offer(std::move(stages), any ? "" : none);
    offer(std::move(flattens), flattens_any ? "" : "no loop inside a program is in another one");
    offer(std::move(buffers), has_dots ? "" : "no loop has a dot");
    offer(std::move(warps), any ? "" : none);
  }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  std::string access_label(Operation* op) {
    Value array = AccessOp(op).array();
    auto argument = dyn_cast<BlockArgument>(array);
    StringRef name = argument ? kernel_.argument_name(argument.getArgNumber()) : StringRef();
    std::string what = !name.empty() ? name.str() : argument ? "an argument" : "a new array";
    return (isa<LoadOp>(op) ? "load of " : "store to ") + what + place(op->getLoc());
  }

  void add_indexing() {
    ConfigOptionSpec option{
        .name = "indexing", .summary = "how each load and store reaches memory", .may_be_one_value = true};
    bool useful = false;
    for (const AccessChoice& access : access_choices(kernel_, limits_)) {
      ChoiceEntry entry{.choices = {}, .default_value = access.kinds.front()};
      for (const std::string& kind : access.kinds) entry.choices.emplace_back(kind);
      useful |= access.kinds.size() > 1;
      option.entries.emplace_back(entry);
      option.labels.push_back(access_label(access.op));
    }
    offer(std::move(option), useful ? "" : "no load or store can be done in two ways that differ");
  }

  void add_eviction_policies() {
    ConfigOptionSpec loads{.name = "load_eviction_policies",
                           .summary = "which of what is loaded shall leave the caches first or last",
                           .may_be_one_value = true};
    ConfigOptionSpec stores{.name = "store_eviction_policies",
                            .summary = "which of what is stored shall leave the caches first or last",
                            .may_be_one_value = true};
    bool load_useful = false, store_useful = false;
    for (const AccessChoice& access : access_choices(kernel_, limits_)) {
      const bool is_load = isa<LoadOp>(access.op);
      ChoiceEntry entry{.choices = {""}, .default_value = ""};
      if (access.walks) entry.choices.insert(entry.choices.end(), {"first", "last"});
      (is_load ? load_useful : store_useful) |= access.walks;
      ConfigOptionSpec& option = is_load ? loads : stores;
      option.entries.emplace_back(entry);
      option.labels.push_back(access_label(access.op));
    }
    offer(std::move(loads), load_useful ? "" : "no load walks an array in blocks");
    offer(std::move(stores), store_useful ? "" : "no store walks an array in blocks");
  }

  //===--------------------------------------------------------------------===//
  // The backend's own
  //===--------------------------------------------------------------------===//

  /// Of the kernel's own, of a rolled dimension, or of persistent programs.
  bool may_have_loop() const {
    return !sequential_loops(kernel_).empty() || spec_.find("reduction_loops") || !persistent_types().empty();
  }

  void add_own_options() {
    for (const BackendOption& own : limits_.own_options) {
      ChoiceEntry entry{.choices = own.choices, .default_value = own.default_value, .ordered = own.ordered};
      if (spec_.find(own.name)) continue; // there may be several of a name, for different kernels
      if (own.choices.size() < 2)
        spec_.inapplicable[own.name] = "there is nothing to choose on this machine";
      else if (own.kernels == BackendOption::Kernels::WithDot && !has_dot(kernel_))
        spec_.inapplicable[own.name] = "the kernel has no dot";
      else if (own.kernels == BackendOption::Kernels::WithoutDot && has_dot(kernel_))
        spec_.inapplicable[own.name] = "the kernel has a dot";
      else if (own.kernels == BackendOption::Kernels::WithLoop && !may_have_loop())
        spec_.inapplicable[own.name] = "no program has a loop";
      else {
        spec_.inapplicable.erase(own.name);
        if (!own.only_with.empty())
          dependences_.push_back({{own.name, 0}, {own.only_with, 0}, own.only_values, 0, own.only_why});
        spec_.options.push_back(
            {.name = own.name, .summary = own.summary, .is_list = false, .entries = {std::move(entry)}});
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // The user's own
  //===--------------------------------------------------------------------===//

  void add_tunables() {
    for (const Tunable& tunable : choices_.tunables) {
      if (spec_.find(tunable.name) || spec_.inapplicable.contains(tunable.name) ||
          llvm::is_contained(kOtherOptions, StringRef(tunable.name)))
        fail(source_location(kernel_.getLoc()),
             "tw::register_tunable(\"{}\"): configs have an option of this name already; choose another one",
             tunable.name);
      ChoiceEntry entry{
          .choices = {}, .default_value = tunable.choices[0], .ordered = llvm::is_sorted(tunable.choices)};
      for (int64_t choice : tunable.choices) entry.choices.emplace_back(choice);
      spec_.options.push_back({.name = tunable.name,
                               .summary = "registered by the kernel",
                               .is_list = false,
                               .entries = {std::move(entry)}});
    }
  }

  //===--------------------------------------------------------------------===//
  // Limits on tiles
  //===--------------------------------------------------------------------===//

  std::optional<ElementLimit> limit_of(Type type) const {
    std::optional<TileSize> size = tile_size(type, wholes_, rollable_);
    if (!size) return std::nullopt;
    return ElementLimit{"", std::move(size->factors), size->constant, limits_.max_block_elements};
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
  HostChoices choices_;
  SmallVector<BlockRole> roles_;
  SmallVector<uint32_t> rollable_;
  std::vector<Dependence> dependences_; // also of options that turn out not to be there
  ConfigSpec spec_;
};

} // namespace

ConfigSpec derive_config_spec(KernelOp pinned, const BackendLimits& limits) {
  return SpecBuilder(pinned, limits).run();
}

} // namespace tilewright
