// What happens to the config a user gives, and every refusal as the user reads it.
#include "config/normalise.h"

#include "config/example_spec.h"

#include "support/error_of.h"

#include <gtest/gtest.h>

using namespace tilewright;

namespace {

NormalisedConfig normalised(const Config& config) { return normalise(example_spec(), config); }

void expect_refused(const Config& config, const std::string& message) {
  EXPECT_EQ(error_of([&] { normalised(config); }), message);
}

TEST(Normalise, an_empty_config_is_the_default_config) {
  const Config defaults{{"block_sizes", {48, 64}},
                        {"loop_orders", {{0, 1, 2}}},
                        {"reduction_loops", {nullptr, 16}},
                        {"pid_type", "flat"},
                        {"range_unroll_factors", {1, 2}}};
  EXPECT_EQ(default_config(example_spec()), defaults);
  EXPECT_EQ(normalised({}).config, defaults);
  EXPECT_TRUE(normalised({}).warnings.empty());
}

TEST(Normalise, short_lists_are_padded_with_defaults) {
  auto [config, warnings] = normalised({{"reduction_loops", {64}}, {"range_unroll_factors", {}}});
  EXPECT_EQ(config.get_optional_ints("reduction_loops"), (std::vector<std::optional<int64_t>>{64, 16}));
  EXPECT_EQ(config.get_ints("range_unroll_factors"), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(warnings.empty());
}

TEST(Normalise, any_positive_block_is_legal_even_past_the_searched_maximum) {
  auto [config, warnings] = normalised({{"block_sizes", {7, 100000}}});
  EXPECT_EQ(config.get_ints("block_sizes"), (std::vector<int64_t>{7, 100000}));
  EXPECT_TRUE(warnings.empty());
}

TEST(Normalise, sizes_below_their_minimum_are_raised_with_a_warning) {
  auto [config, warnings] = normalised({{"block_sizes", {3, 5}}, {"reduction_loops", {2}}});
  EXPECT_EQ(config.get_ints("block_sizes"), (std::vector<int64_t>{3, 16}));
  EXPECT_EQ(config.get_optional_ints("reduction_loops")[0], 8);
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "config option 'block_sizes'[1] (tile over n): 5 is raised to 16, the least it can be here",
                          "config option 'reduction_loops'[0] (columns of x): 2 is raised to 8, the least it can be "
                          "here"}));
}

TEST(Normalise, options_without_a_meaning_here_are_left_out_with_a_warning) {
  auto [config, warnings] = normalised({{"num_warps", 4}, {"pid_type", "persistent_blocked"}});
  EXPECT_FALSE(config.has("num_warps"));
  EXPECT_EQ(config.get_string("pid_type"), "persistent_blocked");
  EXPECT_EQ(warnings, (std::vector<std::string>{"config option 'num_warps' is left out: a CPU has no warps"}));
}

TEST(Normalise, its_result_is_left_as_it_is) {
  Config once = normalised({{"block_sizes", {7, 5}}, {"reduction_loops", {2}}, {"num_warps", 4}}).config;
  auto [twice, warnings] = normalised(once);
  EXPECT_EQ(twice, once);
  EXPECT_TRUE(warnings.empty());
}

TEST(Normalise, unknown_options_are_refused_with_the_nearest_name) {
  expect_refused({{"block_size", {64, 64}}},
                 "there is no config option 'block_size'; did you mean 'block_sizes'? (this kernel has block_sizes, "
                 "loop_orders, reduction_loops, pid_type, range_unroll_factors)");
  expect_refused({{"colour", "red"}}, "there is no config option 'colour'; this kernel has block_sizes, loop_orders, "
                                      "reduction_loops, pid_type, range_unroll_factors");
}

TEST(Normalise, errors_name_the_place_they_are_given) {
  auto refuse = [] { normalise(example_spec(), {{"pid_type", 1}}, SourceLocation("matmul.cpp", 12)); };
  EXPECT_EQ(error_of(refuse), R"(config option 'pid_type': found 1, expected one of "flat", "persistent_blocked")");
  EXPECT_EQ(error_line_of(refuse), 12u);
}

TEST(Normalise, wrong_lengths_are_refused) {
  expect_refused({{"block_sizes", {64}}},
                 "config option 'block_sizes': found 1 value [64], expected 2: tile over m, tile over n");
  expect_refused({{"block_sizes", {64, 64, 64}}},
                 "config option 'block_sizes': found 3 values [64, 64, 64], expected 2: tile over m, tile over n");
  expect_refused({{"range_unroll_factors", {1, 1, 1}}},
                 "config option 'range_unroll_factors': found 3 values [1, 1, 1], expected at most 2");
}

TEST(Normalise, wrong_types_are_refused) {
  expect_refused({{"block_sizes", 64}},
                 "config option 'block_sizes': found 64, expected a list of 2: tile over m, tile over n");
  expect_refused({{"block_sizes", {64, "64"}}},
                 "config option 'block_sizes'[1] (tile over n): found \"64\", expected a positive integer");
  expect_refused({{"block_sizes", {true, 64}}},
                 "config option 'block_sizes'[0] (tile over m): found true, expected a positive integer");
  expect_refused({{"pid_type", {"flat"}}},
                 R"(config option 'pid_type': found ["flat"], expected one of "flat", "persistent_blocked")");
}

TEST(Normalise, illegal_values_are_refused_with_the_legal_ones) {
  expect_refused({{"block_sizes", {0, 64}}},
                 "config option 'block_sizes'[0] (tile over m): found 0, expected a positive integer");
  expect_refused({{"reduction_loops", {24}}}, "config option 'reduction_loops'[0] (columns of x): found 24, expected "
                                              "null or a power of two from 8 to 64");
  expect_refused({{"reduction_loops", {nullptr, 64}}}, "config option 'reduction_loops'[1] (columns of y): found 64, "
                                                       "expected null or a power of two from 8 to 32");
  expect_refused({{"loop_orders", {{0, 1, 1}}}},
                 "config option 'loop_orders'[0]: found [0, 1, 1], expected a permutation of [0, 1, 2]");
  expect_refused({{"loop_orders", {{1, 0}}}},
                 "config option 'loop_orders'[0]: found [1, 0], expected a permutation of [0, 1, 2]");
  expect_refused({{"range_unroll_factors", {3}}},
                 "config option 'range_unroll_factors'[0]: found 3, expected one of 1, 2, 4, 8");
}

TEST(Normalise, a_block_inside_another_is_lowered_to_it_with_a_warning) {
  ConfigSpec spec = example_spec();
  std::get<SizeEntry>(spec.options[0].entries[1]).no_larger_than = 0;
  auto [config, warnings] = normalise(spec, {{"block_sizes", {32, 128}}});
  EXPECT_EQ(config.get_ints("block_sizes"), (std::vector<int64_t>{32, 32}));
  EXPECT_EQ(warnings, (std::vector<std::string>{"config option 'block_sizes'[1] (tile over n): 128 is lowered to 32, "
                                                "the size of the block it walks in"}));
}

// An option that is one per access, three of which can do different things.
ConfigSpec spec_with_accesses() {
  ConfigSpec spec = example_spec();
  spec.options.push_back(
      {.name = "indexing",
       .summary = "how memory is reached",
       .may_be_one_value = true,
       .entries = {ChoiceEntry{.choices = {"block_ptr", "pointer"}, .default_value = "block_ptr"},
                   ChoiceEntry{.choices = {"pointer"}, .default_value = "pointer"},
                   ChoiceEntry{.choices = {"block_ptr", "tensor_descriptor"}, .default_value = "block_ptr"}}});
  return spec;
}

TEST(Normalise, one_value_stands_for_each_entry_that_can_have_it) {
  auto indexing = [](ConfigValue value) {
    return normalise(spec_with_accesses(), {{"indexing", value}}).config.get_strings("indexing");
  };
  EXPECT_EQ(indexing("pointer"), (std::vector<std::string>{"pointer", "pointer", "block_ptr"}));
  EXPECT_EQ(indexing("tensor_descriptor"), (std::vector<std::string>{"block_ptr", "pointer", "tensor_descriptor"}));
  EXPECT_EQ(indexing({"pointer"}), (std::vector<std::string>{"pointer", "pointer", "block_ptr"}));
  EXPECT_EQ(error_of([&] { indexing("pointers"); }),
            "config option 'indexing': found \"pointers\", which none of its 3 entries can be; expected a list of 3");
}

// Unrolling by a factor means something beside "flat" only; so does the second block, from a size on.
ConfigSpec spec_with_dependences() {
  ConfigSpec spec = example_spec();
  spec.dependences = {{.entry = {"pid_type", 0}, .on = {"block_sizes", 1}, .least = 64, .why = "the block is small"},
                      {.entry = {"range_unroll_factors", 1},
                       .on = {"pid_type", 0},
                       .values = {"flat"},
                       .why = "persistent programs do not unroll"}};
  return spec;
}

TEST(Normalise, what_has_no_meaning_beside_another_value_is_reset_with_a_warning) {
  auto [config, warnings] =
      normalise(spec_with_dependences(), {{"pid_type", "persistent_blocked"}, {"range_unroll_factors", {4, 8}}});
  EXPECT_EQ(config.get_string("pid_type"), "persistent_blocked");
  EXPECT_EQ(config.get_ints("range_unroll_factors"), (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(warnings, (std::vector<std::string>{"config option 'range_unroll_factors'[1]: 8 is reset to 2: persistent "
                                                "programs do not unroll"}));
}

TEST(Normalise, what_is_reset_no_longer_keeps_others_from_having_a_meaning) {
  auto [config, warnings] =
      normalise(spec_with_dependences(),
                {{"block_sizes", {48, 32}}, {"pid_type", "persistent_blocked"}, {"range_unroll_factors", {4, 8}}});
  EXPECT_EQ(config.get_string("pid_type"), "flat");
  EXPECT_EQ(config.get_ints("range_unroll_factors"), (std::vector<int64_t>{4, 8}));
  EXPECT_EQ(warnings, (std::vector<std::string>{"config option 'pid_type': \"persistent_blocked\" is reset to "
                                                "\"flat\": the block is small"}));
}

TEST(Normalise, a_tile_with_too_many_elements_is_refused_by_name) {
  ConfigSpec spec = example_spec();
  spec.element_limits = {{.what = "the tile at matmul.cpp:14",
                          .factors = {{"block_sizes", 0}, {"reduction_loops", 0}},
                          .constant_factor = 2,
                          .max_elements = 4096}};
  EXPECT_NO_THROW(normalise(spec, {{"block_sizes", {64, 64}}, {"reduction_loops", {32}}}));
  EXPECT_EQ(error_of([&] { normalise(spec, {{"block_sizes", {64, 64}}, {"reduction_loops", {64}}}); }),
            "config: the tile at matmul.cpp:14 would have 8192 elements, more than the 4096 a program can hold; "
            "choose smaller ones of block_sizes[0] = 64, reduction_loops[0] = 64");
  // A whole dimension counts with its extent, and the product may be past 64 bits.
  EXPECT_EQ(
      error_of([&] { normalise(spec, {{"block_sizes", {int64_t(1) << 62, 64}}, {"reduction_loops", {nullptr}}}); }),
      "config: the tile at matmul.cpp:14 would have 922337203685477580800 elements, more than the 4096 a "
      "program can hold; choose smaller ones of block_sizes[0] = 4611686018427387904, reduction_loops[0] = null");
}

} // namespace
