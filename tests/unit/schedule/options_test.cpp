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
  EXPECT_EQ(options_of(pinned("add").spec()), "block_sizes 1, pid_type 1");
  EXPECT_EQ(options_of(pinned("matmul").spec()),
            "block_sizes 3, loop_orders 1, pid_type 1, l2_groupings 1, range_unroll_factors 1");
  EXPECT_EQ(options_of(pinned("softmax").spec()), "block_sizes 1, reduction_loops 1, pid_type 1");
  EXPECT_EQ(options_of(pinned("two_wholes").spec()), "block_sizes 1, reduction_loops 2, pid_type 1");
  EXPECT_EQ(options_of(pinned("nested").spec()), "block_sizes 3, pid_type 1, range_unroll_factors 2");
  EXPECT_EQ(options_of(pinned("grid").spec()), "block_sizes 1, loop_orders 1, reduction_loops 1, pid_type 1, "
                                               "l2_groupings 1, range_unroll_factors 1");
  EXPECT_EQ(options_of(pinned("planes").spec()), "block_sizes 6, loop_orders 2, pid_type 1, range_unroll_factors 3");
  EXPECT_EQ(options_of(pinned("whole_in_loop").spec()),
            "block_sizes 2, reduction_loops 1, pid_type 1, range_unroll_factors 1");
  EXPECT_EQ(options_of(pinned("attention").spec()),
            "block_sizes 2, loop_orders 1, pid_type 1, l2_groupings 1, range_unroll_factors 1");
}

TEST(ConfigSpec, says_why_an_option_is_not_there) {
  ConfigSpec add = pinned("add").spec();
  EXPECT_EQ(add.inapplicable.at("l2_groupings"), "the outermost loop has no two dimensions of tiles to group");
  EXPECT_EQ(add.inapplicable.at("range_unroll_factors"), "no loop inside a program runs more than once");
  EXPECT_EQ(add.inapplicable.at("num_warps"), "it has no meaning on the cpu backend");
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
  expect_changes(matmul(), "pid_type", {"flat", "persistent_blocked"});
  expect_changes(matmul(), "l2_groupings", {{1}, {2}, {4}});
  expect_changes(matmul(), "range_unroll_factors", {{1}, {2}});
  expect_changes(PinnedKernel(test_kernel("softmax").text, {{100, 1000}}), "reduction_loops", {{nullptr}, {64}, {256}});
}

TEST(Options, order_sequential_loops_too) {
  expect_changes(
      PinnedKernel(test_kernel("planes").text, {{64, 200, 3000}}), "loop_orders",
      {ConfigValue::List{{0, 1}, {0, 1}}, ConfigValue::List{{1, 0}, {0, 1}}, ConfigValue::List{{0, 1}, {1, 0}}});
}

} // namespace
} // namespace tilewright
