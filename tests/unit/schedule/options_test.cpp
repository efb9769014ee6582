// Which options a kernel has, and that each of them changes its program.
#include "config/config_point.h"
#include "config/normalise.h"
#include "schedule/pinned_kernel.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

PinnedKernel pinned(std::string_view name, size_t shapes = 0) {
  const TestKernel& test = test_kernel(name);
  return PinnedKernel(test.text, test.shapes[shapes]);
}

/// "block_sizes 2, loop_orders 1": the options in order with their numbers of entries.
std::string options_of(const ConfigSpec& spec) {
  std::string text;
  for (const ConfigOptionSpec& option : spec.options)
    text += (text.empty() ? "" : ", ") + option.name + " " + std::to_string(option.entries.size());
  return text;
}

TEST(ConfigSpec, has_the_options_that_change_something) {
  EXPECT_EQ(options_of(pinned("add").spec()),
            "block_sizes 1, pid_type 1, num_sm_multiplier 1, load_eviction_policies 2, store_eviction_policies 1");
  EXPECT_EQ(options_of(pinned("matmul").spec()),
            "block_sizes 3, loop_orders 1, pid_type 1, num_sm_multiplier 1, l2_groupings 1, static_ranges 1, "
            "range_unroll_factors 1, indexing 3, load_eviction_policies 2, store_eviction_policies 1");
  EXPECT_EQ(options_of(pinned("softmax").spec()),
            "block_sizes 1, reduction_loops 1, pid_type 1, num_sm_multiplier 1, indexing 2, load_eviction_policies 1, "
            "store_eviction_policies 1");
  EXPECT_EQ(options_of(pinned("two_wholes").spec()),
            "block_sizes 1, reduction_loops 2, pid_type 1, num_sm_multiplier 1, load_eviction_policies 2, "
            "store_eviction_policies 2");
  EXPECT_EQ(options_of(pinned("nested").spec()),
            "block_sizes 3, pid_type 1, num_sm_multiplier 1, static_ranges 2, range_unroll_factors 2, indexing 3, "
            "load_eviction_policies 2, store_eviction_policies 1");
  EXPECT_EQ(options_of(pinned("grid").spec()),
            "block_sizes 1, loop_orders 1, reduction_loops 1, pid_type 1, num_sm_multiplier 1, l2_groupings 1, "
            "range_unroll_factors 1");
  EXPECT_EQ(options_of(pinned("planes").spec()),
            "block_sizes 6, loop_orders 2, pid_type 1, num_sm_multiplier 1, range_unroll_factors 3, "
            "load_eviction_policies 3, store_eviction_policies 2");
  EXPECT_EQ(options_of(pinned("elementwise").spec()),
            "block_sizes 2, loop_orders 1, flatten_loops 1, pid_type 1, num_sm_multiplier 1, l2_groupings 1, "
            "load_eviction_policies 1, store_eviction_policies 1");
  EXPECT_EQ(options_of(pinned("attention").spec()),
            "block_sizes 2, loop_orders 1, pid_type 1, num_sm_multiplier 1, l2_groupings 1, range_unroll_factors 1, "
            "indexing 4, load_eviction_policies 3, store_eviction_policies 1");
}

TEST(ConfigSpec, says_why_an_option_is_not_there) {
  ConfigSpec add = pinned("add").spec();
  EXPECT_EQ(add.inapplicable.at("l2_groupings"), "the outermost loop has no two dimensions of tiles to group");
  EXPECT_EQ(add.inapplicable.at("range_unroll_factors"), "no loop inside a program runs more than once");
  EXPECT_EQ(add.inapplicable.at("num_warps"), "it has no meaning on the cpu backend");
  EXPECT_EQ(add.inapplicable.at("range_flattens"), "it has no meaning on the cpu backend");
  EXPECT_EQ(add.inapplicable.at("flatten_loops"), "no loop has dimensions that can be walked as one");
  EXPECT_EQ(add.inapplicable.at("indexing"), "no load or store can be done in two ways that differ");
}

const SizeEntry& block(const ConfigSpec& spec, size_t i) {
  return std::get<SizeEntry>(spec.find("block_sizes")->entries[i]);
}

TEST(ConfigSpec, proposes_blocks_of_the_register_tile) {
  ConfigSpec spec = PinnedKernel(test_kernel("matmul").text, {{1000, 512}, {512, 300}}).spec();
  EXPECT_EQ(block(spec, 0).extent, 1000);
  EXPECT_EQ(block(spec, 0).max, 1024);
  EXPECT_EQ(block(spec, 0).default_value, 96);
  EXPECT_EQ(block(spec, 0).multiples, std::vector<int64_t>{6});
  EXPECT_EQ(block(spec, 1).default_value, 128);
  EXPECT_EQ(block(spec, 2).default_value, 256);
  EXPECT_EQ(spec.find("block_sizes")->labels[2].substr(0, 13), "tile over 512");
}

TEST(ConfigSpec, keeps_an_entry_where_there_is_nothing_to_walk) {
  ConfigSpec spec = PinnedKernel(test_kernel("matmul").text, {{1, 512}, {512, 0}}).spec();
  EXPECT_EQ(block(spec, 0).max, 1);
  EXPECT_EQ(block(spec, 1).max, 1);
}

TEST(ConfigSpec, starts_with_rows_that_fit_the_cache) {
  EXPECT_EQ(block(PinnedKernel(test_kernel("softmax").text, {{4096, 4096}}).spec(), 0).default_value, 1);
  EXPECT_EQ(block(PinnedKernel(test_kernel("softmax").text, {{4096, 256}}).spec(), 0).default_value, 8);
  EXPECT_EQ(block(PinnedKernel(test_kernel("add").text, {{1 << 20}, {1 << 20}}).spec(), 0).default_value, 1024);
}

TEST(ConfigSpec, keeps_a_tile_inside_the_one_it_walks) {
  ConfigSpec spec = pinned("nested").spec();
  EXPECT_EQ(block(spec, 1).no_larger_than, 0);
  EXPECT_LE(block(spec, 1).default_value, block(spec, 0).default_value);
  EXPECT_EQ(block(spec, 2).no_larger_than, -1);
}

TEST(ConfigSpec, rolls_below_the_length) {
  auto rolled = [](int64_t columns) {
    ConfigSpec spec = PinnedKernel(test_kernel("softmax").text, {{64, columns}}).spec();
    const ConfigOptionSpec* option = spec.find("reduction_loops");
    return option ? legal_values(option->entries[0]) : "none";
  };
  EXPECT_EQ(rolled(4096), "null or a power of two from 16 to 2048");
  EXPECT_EQ(rolled(33), "null or a power of two from 16 to 32");
  EXPECT_EQ(rolled(17), "null or a power of two from 16 to 16");
  EXPECT_EQ(rolled(16), "none");
}

TEST(ConfigSpec, unrolls_a_loop_over_a_dot_once_at_most) {
  auto factors = [](std::string_view name) {
    const TestKernel& test = test_kernel(name);
    return legal_values(PinnedKernel(test.text, test.shapes[0]).spec().find("range_unroll_factors")->entries[0]);
  };
  EXPECT_EQ(factors("matmul"), "one of 1, 2");
  EXPECT_EQ(factors("causal"), "one of 1, 2, 4");
}

// Of 512: a dot weighs 26, so that two iterations are the most.
TEST(ConfigSpec, unrolls_wholly_what_the_blocks_make_short) {
  ConfigSpec spec = PinnedKernel(test_kernel("matmul").text, {{1000, 512}, {512, 300}}).spec();
  auto is_static = [&](int64_t block) -> bool {
    Config config = default_config(spec);
    config.set("block_sizes", {64, 64, block}).set("static_ranges", {true});
    return normalise(spec, config).config.get_bools("static_ranges")[0];
  };
  EXPECT_TRUE(is_static(256));
  EXPECT_FALSE(is_static(255));
}

TEST(ConfigSpec, resets_what_a_static_or_flattened_loop_has_no_use_for) {
  ConfigSpec matmul = PinnedKernel(test_kernel("matmul").text, {{1000, 512}, {512, 300}}).spec();
  auto [config, warnings] = normalise(matmul, {{"block_sizes", {64, 64, 256}},
                                               {"static_ranges", {true}},
                                               {"range_unroll_factors", {2}},
                                               {"num_sm_multiplier", 2},
                                               {"pid_type", "xyz"},
                                               {"l2_groupings", {4}}});
  EXPECT_EQ(config.get_ints("range_unroll_factors"), std::vector<int64_t>{1});
  EXPECT_EQ(config.get_int("num_sm_multiplier"), 1);
  EXPECT_EQ(config.get_ints("l2_groupings"), std::vector<int64_t>{1});
  EXPECT_EQ(warnings.size(), 3u);
  NormalisedConfig flat =
      normalise(pinned("elementwise").spec(),
                {{"block_sizes", {4, 4}}, {"flatten_loops", {true}}, {"loop_orders", {{1, 0}}}, {"l2_groupings", {2}}});
  EXPECT_EQ(flat.config.get_int_lists("loop_orders")[0], (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(flat.warnings.size(), 2u);
}

TEST(ConfigSpec, limits_each_tile) {
  ConfigSpec spec = PinnedKernel(test_kernel("softmax").text, {{4096, 4096}}).spec();
  Config too_large = default_config(spec).set("block_sizes", {512});
  EXPECT_THROW(normalise(spec, too_large), Error);
  EXPECT_NO_THROW(normalise(spec, too_large.set("reduction_loops", {64})));
}

//===----------------------------------------------------------------------===//
// Two values of an option, two programs
//===----------------------------------------------------------------------===//

void expect_changes(PinnedKernel kernel, const char* option, std::vector<ConfigValue> values) {
  std::vector<std::string> programs;
  for (const ConfigValue& value : values) {
    programs.push_back(kernel.program_text({{option, value}}));
    for (size_t i = 0; i + 1 < programs.size(); ++i) EXPECT_NE(programs[i], programs.back()) << option;
  }
}

TEST(Options, change_the_program) {
  const std::vector<std::vector<int64_t>> shapes{{1000, 512}, {512, 300}};
  auto matmul = [&] { return PinnedKernel(test_kernel("matmul").text, shapes); };
  expect_changes(matmul(), "block_sizes", {{64, 64, 64}, {64, 64, 32}, {32, 64, 64}});
  expect_changes(matmul(), "loop_orders", {ConfigValue::List{{0, 1}}, ConfigValue::List{{1, 0}}});
  expect_changes(matmul(), "pid_type", {"flat", "xyz", "persistent_blocked", "persistent_interleaved"});
  expect_changes(matmul(), "l2_groupings", {{1}, {2}, {4}});
  expect_changes(matmul(), "range_unroll_factors", {{1}, {2}});
  expect_changes(PinnedKernel(test_kernel("softmax").text, {{100, 1000}}), "reduction_loops", {{nullptr}, {64}, {256}});
}

TEST(Options, that_are_about_one_loop_or_access_change_the_program) {
  auto elementwise = [] { return PinnedKernel(test_kernel("elementwise").text, {{170, 30}}); };
  expect_changes(elementwise(), "flatten_loops", {{false}, {true}});
  expect_changes(elementwise(), "load_eviction_policies",
                 {ConfigValue::List{""}, ConfigValue::List{"first"}, ConfigValue::List{"last"}});
  expect_changes(elementwise(), "store_eviction_policies",
                 {ConfigValue::List{""}, ConfigValue::List{"first"}, ConfigValue::List{"last"}});
  expect_changes(PinnedKernel(test_kernel("softmax").text, {{100, 1000}}), "indexing",
                 {"block_ptr", "tensor_descriptor"});
  expect_changes(PinnedKernel(test_kernel("plane_sums").text, {{10, 20, 30}}), "flatten_loops", {{false}, {true}});
  expect_changes(PinnedKernel(test_kernel("matmul").text, {{1000, 512}, {512, 300}}), "static_ranges",
                 {{false}, {true}});
}

TEST(Options, order_sequential_loops_too) {
  expect_changes(
      PinnedKernel(test_kernel("planes").text, {{64, 200, 3000}}), "loop_orders",
      {ConfigValue::List{{0, 1}, {0, 1}}, ConfigValue::List{{1, 0}, {0, 1}}, ConfigValue::List{{0, 1}, {1, 0}}});
}

} // namespace
} // namespace tilewright
