#include "config/starts.h"

#include "config/config_point.h"
#include "ir/kernel_accesses.h"
#include "ir/kernel_loops.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright {
namespace {

constexpr int64_t kGroup = 8; // rows of tiles that go together, for the L2 cache's sake
constexpr int64_t kLongRow = 16384;
constexpr int64_t kLeastOfThread = 4, kUsualOfThread = 32, kMostOfThread = 128; // elements of a row tile
constexpr int64_t kMostWarps = 32;

int64_t ceil_to_power_of_two(int64_t size) {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(std::max<int64_t>(size, 1))));
}

class Starts {
public:
  Starts(KernelOp kernel, ArrayRef<BlockRole> roles, const BackendLimits& limits, ConfigSpec& spec)
      : kernel_(kernel), roles_(roles), limits_(limits), spec_(spec), usual_(default_config(spec)) {}

  void run() {
    SmallVector<DotOp> dots;
    kernel_.walk([&](DotOp dot) { dots.push_back(dot); });
    if (has_two_dots_in_a_loop(dots))
      add_attentions();
    else if (!dots.empty())
      add_matmuls(dots.front());
    else if (has_rows())
      add_rows();
    else
      add_pointwise();
    if (spec_.starts.empty()) spec_.starts.push_back(usual_);
    make_default(spec_.starts.front());
  }

private:
  //===--------------------------------------------------------------------===//
  // What the kernel does
  //===--------------------------------------------------------------------===//

  static bool has_two_dots_in_a_loop(ArrayRef<DotOp> dots) {
    for (size_t i = 0; i < dots.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        ForOp loop = dots[i]->getParentOfType<ForOp>();
        if (loop && !loop.getParallel() && loop == dots[j]->getParentOfType<ForOp>()) return true;
      }
    return false;
  }

  bool has_rows() {
    if (!kernel_.whole_dims().empty()) return true;
    return kernel_
        .walk([](Operation* op) { return isa<ReduceOp>(op) ? WalkResult::interrupt() : WalkResult::advance(); })
        .wasInterrupted();
  }

  /// Of the longest whole dimension, else of the longest block inside a program.
  int64_t row_length() {
    int64_t length = 1;
    for (const Dim& whole : kernel_.whole_dims()) length = std::max(length, whole.constant().value_or(1));
    if (length > 1) return ceil_to_power_of_two(length);
    for (const BlockRole& role : roles_)
      if (!role.parallel) length = std::max(length, role.extent.value_or(1));
    return ceil_to_power_of_two(length);
  }

  //===--------------------------------------------------------------------===//
  // Making configs
  //===--------------------------------------------------------------------===//

  /// Each block by its role: what `size` gives, at most the extent.
  ConfigValue blocks(llvm::function_ref<int64_t(size_t block, const BlockRole&)> size) const {
    ConfigValue::List list;
    const std::vector<int64_t> usual = usual_.get_ints("block_sizes");
    for (auto [i, role] : llvm::enumerate(roles_)) {
      int64_t wanted = size(i, role);
      if (wanted <= 0) wanted = usual[i];
      if (role.extent) wanted = std::min(wanted, ceil_to_power_of_two(*role.extent));
      if (role.in_dot() && !role.dot_batch) wanted = std::max(wanted, limits_.min_dot_block);
      list.emplace_back(wanted);
    }
    return list;
  }

  /// Sets an option where the kernel has it.
  void set(Config& config, const std::string& option, ConfigValue value) const {
    if (spec_.find(option)) config.set(option, std::move(value));
  }

  /// For each entry of a list, the value where it is legal, else its default.
  void set_all(Config& config, const std::string& option, const ConfigValue& value) const {
    const ConfigOptionSpec* found = spec_.find(option);
    if (!found) return;
    ConfigValue::List list;
    for (const ConfigEntry& entry : found->entries) {
      std::optional<ConfigValue> legal = legalise(entry, value);
      list.push_back(legal ? *legal : default_value(entry));
    }
    config.set(option, std::move(list));
  }

  /// Made to keep the spec's limits; one that is there already is left out.
  void add(const Config& config) {
    Config fitted = decode(spec_, encode(spec_, config));
    if (std::ranges::find(spec_.starts, fitted) == spec_.starts.end()) spec_.starts.push_back(std::move(fitted));
  }

  void make_default(const Config& config) {
    for (ConfigOptionSpec& option : spec_.options) {
      const ConfigValue& value = *config.find(option.name);
      for (auto [i, entry] : llvm::enumerate(option.entries)) {
        const ConfigValue& one = option.is_list ? value.as_list()[i] : value;
        if (auto* size = std::get_if<SizeEntry>(&entry)) size->default_value = one.as_int();
        if (auto* rolled = std::get_if<RolledEntry>(&entry))
          rolled->default_value = one.is_null() ? std::nullopt : std::optional(one.as_int());
        if (auto* choice = std::get_if<ChoiceEntry>(&entry)) choice->default_value = one;
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  struct Shape {
    int64_t rows, columns, warps;
  };

  int64_t tiles(const Shape& shape) const {
    int64_t count = 1;
    for (const BlockRole& role : roles_) {
      if (!role.parallel || !role.extent) continue;
      const int64_t block = role.dot_batch ? 1 : role.dot_row ? shape.rows : role.dot_column ? shape.columns : 1;
      count *= static_cast<int64_t>(llvm::divideCeil(*role.extent, block));
    }
    return count;
  }

  void add_matmuls(DotOp dot) {
    const int64_t bytes = std::max<int64_t>(element_type(dot.getA().getType()).getIntOrFloatBitWidth() / 8, 1);
    // Tensor cores take operands of up to 16 bits; wider ones are multiplied by ordinary arithmetic.
    const bool on_tensor_cores = bytes <= 2;
    std::vector<Shape> shapes = {{128, 256, 8}, {128, 128, 4}, {256, 128, 8}, {128, 128, 8},
                                 {64, 256, 4},  {64, 128, 4},  {64, 64, 4},   {256, 64, 4}};
    if (!on_tensor_cores) shapes = {{64, 64, 4}, {64, 128, 8}, {128, 64, 8}, {128, 128, 8}, {32, 64, 4}, {32, 32, 4}};
    const int64_t sum = on_tensor_cores ? 128 / bytes : 32;
    // The largest tile of which most multiprocessors have one begins.
    auto first =
        std::ranges::find_if(shapes, [&](const Shape& shape) { return 4 * tiles(shape) >= 3 * limits_.worker_count; });
    if (first == shapes.end()) first = std::ranges::min_element(shapes, {}, [&](const Shape& s) { return -tiles(s); });
    std::rotate(shapes.begin(), first, first + 1);
    for (int64_t stages : {3, 4})
      for (const Shape& shape : shapes) add_products(shape, sum, stages);
    for (const Shape& shape : shapes)
      if (on_tensor_cores && shape.rows == 128) add_products(shape, 2 * sum, 3);
  }

  void add_products(const Shape& shape, int64_t sum, int64_t stages) {
    Config config = usual_;
    set(config, "block_sizes", blocks([&](size_t, const BlockRole& role) -> int64_t {
          if (role.dot_batch) return 1;
          if (role.dot_sum) return sum;
          return role.dot_row ? shape.rows : role.dot_column ? shape.columns : 0;
        }));
    set(config, "num_warps", shape.warps);
    set(config, "num_stages", stages);
    set_all(config, "l2_groupings", kGroup);
    for (const char* indexing : {"pointer", "tensor_descriptor"}) {
      set_all(config, "indexing", indexing);
      add(config);
    }
    if (tiles(shape) <= limits_.worker_count) return;
    set_all(config, "indexing", "tensor_descriptor");
    set(config, "pid_type", "persistent_interleaved");
    for (bool flatten : {true, false}) {
      set_all(config, "range_flattens", flatten);
      add(config);
    }
  }

  void add_attentions() {
    struct Blocks {
      int64_t rows, columns, warps, stages;
    };
    for (const Blocks& each : {Blocks{128, 128, 8, 3},
                               {128, 64, 4, 2},
                               {128, 128, 8, 2},
                               {128, 64, 4, 3},
                               {128, 64, 8, 3},
                               {64, 64, 4, 3},
                               {64, 64, 4, 2},
                               {128, 32, 4, 3},
                               {128, 32, 4, 4},
                               {64, 128, 4, 2},
                               {64, 32, 4, 4}}) {
      Config config = usual_;
      set(config, "block_sizes", blocks([&](size_t, const BlockRole& role) -> int64_t {
            if (role.dot_batch) return 1;
            if (!role.in_dot()) return 0;
            return role.parallel ? each.rows : each.columns;
          }));
      set(config, "num_warps", each.warps);
      set(config, "num_stages", each.stages);
      for (const char* indexing : {"pointer", "tensor_descriptor"}) {
        set_all(config, "indexing", indexing);
        add(config);
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  /// A block that goes along the rows inside a program: of kernels that walk them in two and more steps.
  static bool walks_row(const BlockRole& role) { return !role.parallel; }

  void add_rows() {
    const int64_t length = row_length();
    const bool is_walked = llvm::any_of(roles_, walks_row);
    if (is_walked) {
      // Along the rows, or over whole ones, of which a tile is then so many.
      const bool over_rows = !kernel_.whole_dims().empty();
      for (int64_t elements : {int64_t(4096), int64_t(8192), kLongRow, int64_t(1024)}) {
        const int64_t block = over_rows ? std::max<int64_t>(elements / length, 1) : std::min(length, elements);
        for (int64_t warps : {8, 16, 4}) add_row(1, block, std::nullopt, warps);
      }
      return;
    }
    std::vector<std::pair<int64_t, int64_t>> found; // rows and warps, by how near the usual part of a thread is
    for (int64_t rows : {1, 2, 4, 8})
      for (int64_t warps = 1; warps <= kMostWarps; warps *= 2) {
        const int64_t of_thread = rows * length / (limits_.warp_threads * warps);
        if (rows > 1 && rows * length > kLongRow) continue;
        if (of_thread >= kLeastOfThread && of_thread <= kMostOfThread) found.emplace_back(rows, warps);
      }
    auto distance = [&](const std::pair<int64_t, int64_t>& each) {
      const auto of_thread =
          static_cast<double>(each.first * length) / static_cast<double>(limits_.warp_threads * each.second);
      return std::abs(std::log2(of_thread / kUsualOfThread)) + 0.1 * std::log2(each.first);
    };
    std::ranges::stable_sort(found, {}, distance);
    for (const auto& [rows, warps] : found) add_row(rows, 0, std::nullopt, warps);
    if (length < kLongRow) {
      if (found.empty()) // short rows, many together
        for (int64_t rows = std::max<int64_t>(1, 1024 / length), i = 0; i < 3; ++i, rows *= 2)
          for (int64_t warps : {4, 8}) add_row(rows, 0, std::nullopt, warps);
      return;
    }
    for (int64_t block : {4096, 8192, 16384})
      for (int64_t warps : {8, 16})
        if (block < length) add_row(1, 0, block, warps);
  }

  /// `block`: of what walks along the row. `rolled`: of whole dimensions.
  void add_row(int64_t rows, int64_t block, std::optional<int64_t> rolled, int64_t warps) {
    Config config = usual_;
    set(config, "block_sizes", blocks([&](size_t, const BlockRole& role) { return walks_row(role) ? block : rows; }));
    set(config, "num_warps", warps);
    if (rolled) set_all(config, "reduction_loops", *rolled);
    if (block > 0) set_last_readers_first(config);
    add(config);
    if (block > 0 || rolled) return;
    set_all(config, "load_eviction_policies", "first");
    add(config);
  }

  /// Of several loads of an array, all but the last one ask that it stays.
  void set_last_readers_first(Config& config) {
    const ConfigOptionSpec* evictions = spec_.find("load_eviction_policies");
    if (!evictions) return;
    SmallVector<Value> arrays;
    for (Operation* op : loads_and_stores(kernel_))
      if (isa<LoadOp>(op)) arrays.push_back(AccessOp(op).array());
    ConfigValue::List list;
    for (auto [i, array] : llvm::enumerate(arrays)) {
      const bool is_read_again = llvm::is_contained(ArrayRef(arrays).drop_front(i + 1), array);
      const bool was_read = llvm::is_contained(ArrayRef(arrays).take_front(i), array);
      std::optional<ConfigValue> hint = legalise(evictions->entries[i], is_read_again ? "last"
                                                                        : was_read    ? "first"
                                                                                      : "");
      list.push_back(hint ? *hint : default_value(evictions->entries[i]));
    }
    config.set("load_eviction_policies", std::move(list));
  }

  //===--------------------------------------------------------------------===//
  // Pointwise
  //===--------------------------------------------------------------------===//

  void add_pointwise() {
    for (const auto& [elements, warps] : {std::pair<int64_t, int64_t>{1024, 4},
                                          {1024, 8},
                                          {2048, 8},
                                          {2048, 4},
                                          {4096, 8},
                                          {4096, 4},
                                          {8192, 8},
                                          {512, 4}})
      for (int64_t rows : {1, 2, 4}) {
        Config config = usual_;
        set(config, "block_sizes", blocks([&, elements = elements](size_t i, const BlockRole& role) -> int64_t {
              if (role.unit_stride) return std::max<int64_t>(elements / rows, 1);
              if (!is_next_to_last(i)) return 1;
              return rows;
            }));
        set(config, "num_warps", warps);
        add(config);
      }
  }

  /// The block of the dimension before the one along neighbours.
  bool is_next_to_last(size_t block) const {
    for (size_t i = roles_.size(); i-- > 0;)
      if (!roles_[i].unit_stride) return i == block;
    return false;
  }

  KernelOp kernel_;
  ArrayRef<BlockRole> roles_;
  const BackendLimits& limits_;
  ConfigSpec& spec_;
  const Config usual_; // what default_blocks() and the options' own defaults make
};

} // namespace

void add_starts(KernelOp pinned, ArrayRef<BlockRole> roles, const BackendLimits& limits, ConfigSpec& spec) {
  Starts(pinned, roles, limits, spec).run();
}

} // namespace tilewright
