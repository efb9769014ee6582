// How searches move through the space of configs.
#include "config/config_point.h"

#include "config/example_spec.h"
#include "config/normalise.h"

#include <gtest/gtest.h>
#include <set>

using namespace tilewright;

namespace {

std::vector<std::string> proposals(const ConfigEntry& entry) {
  std::vector<std::string> result;
  for (int64_t i = 0; i < proposal_count(entry); ++i) result.push_back(proposal(entry, i).to_json());
  return result;
}

using Strings = std::vector<std::string>;

TEST(ConfigEntry, sizes_propose_powers_of_two_multiples_default_and_extent) {
  EXPECT_EQ(proposals(SizeEntry{.min = 4, .max = 32, .default_value = 8}), (Strings{"4", "8", "16", "32"}));
  EXPECT_EQ(proposals(SizeEntry{.min = 4, .max = 32, .default_value = 20, .multiples = {6}}),
            (Strings{"4", "6", "8", "12", "16", "20", "24", "32"}));
  EXPECT_EQ(proposals(SizeEntry{.min = 1, .max = 8, .default_value = 1, .extent = 7, .propose_extent = true}),
            (Strings{"1", "2", "4", "7", "8"}));
  EXPECT_EQ(proposals(SizeEntry{.min = 1, .max = 1, .default_value = 1}), (Strings{"1"}));
}

TEST(ConfigEntry, rolled_dimensions_propose_powers_of_two_and_then_the_whole) {
  EXPECT_EQ(proposals(RolledEntry{.min = 8, .max = 32}), (Strings{"8", "16", "32", "null"}));
  EXPECT_EQ(proposals(RolledEntry{.min = 8, .max = 4}), (Strings{"null"}));
}

TEST(ConfigEntry, permutations_are_numbered_without_gaps) {
  EXPECT_EQ(proposals(PermutationEntry{.rank = 1}), (Strings{"[0]"}));
  EXPECT_EQ(proposals(PermutationEntry{.rank = 3}),
            (Strings{"[0, 1, 2]", "[0, 2, 1]", "[1, 0, 2]", "[1, 2, 0]", "[2, 0, 1]", "[2, 1, 0]"}));
  const ConfigEntry large = PermutationEntry{.rank = 20};
  for (int64_t index : {int64_t(0), int64_t(123456789123456789), proposal_count(large) - 1})
    EXPECT_EQ(nearest_proposal(large, proposal(large, index)), index);
}

TEST(ConfigEntry, every_proposal_is_legal_and_is_its_own_nearest) {
  for (const ConfigOptionSpec& option : example_spec().options)
    for (const ConfigEntry& entry : option.entries) {
      bool has_default = false;
      for (int64_t i = 0; i < proposal_count(entry); ++i) {
        EXPECT_EQ(legalise(entry, proposal(entry, i)), proposal(entry, i));
        EXPECT_EQ(nearest_proposal(entry, proposal(entry, i)), i);
        has_default |= proposal(entry, i) == default_value(entry);
      }
      EXPECT_TRUE(has_default) << option.name;
    }
}

TEST(ConfigEntry, sizes_that_are_not_proposed_are_near_by_ratio) {
  const ConfigEntry entry = SizeEntry{.min = 1, .max = 64, .default_value = 1};
  EXPECT_EQ(proposal(entry, nearest_proposal(entry, 23)).as_int(), 32); // 22.6 is halfway
  EXPECT_EQ(proposal(entry, nearest_proposal(entry, 22)).as_int(), 16);
  EXPECT_EQ(proposal(entry, nearest_proposal(entry, 1000)).as_int(), 64);
}

TEST(ConfigEntry, combining_steps_along_sizes_by_their_logarithm) {
  Random random(1);
  const ConfigEntry entry = SizeEntry{.min = 1, .max = 256, .default_value = 1};
  auto combined = [&](int64_t a, int64_t b, int64_t c, double weight) {
    return proposal(entry, combine_proposals(entry, nearest_proposal(entry, a), nearest_proposal(entry, b),
                                             nearest_proposal(entry, c), weight, random))
        .as_int();
  };
  EXPECT_EQ(combined(8, 64, 16, 1.0), 32); // 8 * (64 / 16)
  EXPECT_EQ(combined(8, 64, 16, 0.5), 16);
  EXPECT_EQ(combined(8, 16, 64, 1.0), 2);
  EXPECT_EQ(combined(8, 16, 16, 1.0), 8);
  EXPECT_EQ(combined(128, 256, 1, 1.0), 256); // kept inside
  EXPECT_EQ(combined(2, 1, 256, 1.0), 1);
}

TEST(ConfigEntry, combining_choices_takes_one_of_those_that_differ) {
  Random random(1);
  const ConfigEntry entry = ChoiceEntry{.choices = {"a", "b", "c", "d"}, .default_value = "a"};
  std::set<int64_t> seen;
  for (int i = 0; i < 100; ++i) seen.insert(combine_proposals(entry, 0, 1, 2, 0.5, random));
  EXPECT_EQ(seen, (std::set<int64_t>{1, 2}));
  EXPECT_EQ(combine_proposals(entry, 0, 3, 3, 0.5, random), 0);
}

TEST(ConfigEntry, neighbours_are_one_step_away) {
  EXPECT_EQ(neighbour_proposals(SizeEntry{.min = 1, .max = 8, .default_value = 1}, 0), (std::vector<int64_t>{1}));
  EXPECT_EQ(neighbour_proposals(SizeEntry{.min = 1, .max = 8, .default_value = 1}, 2), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(neighbour_proposals(ChoiceEntry{.choices = {"a", "b", "c"}, .default_value = "a"}, 2),
            (std::vector<int64_t>{0, 1}));
  // From [0, 1, 2], exchanging two: [1, 0, 2], [2, 1, 0], [0, 2, 1].
  EXPECT_EQ(neighbour_proposals(PermutationEntry{.rank = 3}, 0), (std::vector<int64_t>{2, 5, 1}));
}

TEST(ConfigPoint, random_points_are_normalised_configs_and_reach_the_whole_space) {
  const ConfigSpec spec = example_spec();
  Random random(7);
  std::set<std::string> blocks;
  for (int i = 0; i < 2000; ++i) {
    const Config config = decode(spec, random_point(spec, random));
    auto [normal, warnings] = normalise(spec, config);
    EXPECT_EQ(normal, config);
    EXPECT_TRUE(warnings.empty());
    blocks.insert(config.find("block_sizes")->to_json());
  }
  EXPECT_EQ(blocks.size(), 15u * 6u); // 1 2 4 6 8 12 16 24 32 48 64 96 128 192 256, and 16 to 512
}

TEST(ConfigPoint, the_same_seed_gives_the_same_points) {
  const ConfigSpec spec = example_spec();
  Random one(42), other(42);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random_point(spec, one), random_point(spec, other));
}

TEST(ConfigPoint, encode_undoes_decode) {
  const ConfigSpec spec = example_spec();
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    const ConfigPoint point = random_point(spec, random);
    EXPECT_EQ(encode(spec, decode(spec, point)), point);
  }
}

TEST(ConfigPoint, space_size_counts_every_combination) {
  EXPECT_EQ(space_size(example_spec()), 15.0 * 6 * 6 * 5 * 4 * 2 * 4 * 4);
  EXPECT_EQ(space_size({}), 1);
}

TEST(ConfigPoint, every_way_to_move_keeps_element_limits_and_inner_blocks) {
  ConfigSpec spec = example_spec();
  spec.element_limits = {
      {.what = "a tile", .factors = {{"block_sizes", 0}, {"reduction_loops", 0}}, .max_elements = 2000}};
  std::get<SizeEntry>(spec.options[0].entries[0]).no_larger_than = 1;
  Random random(5);
  auto expect_legal = [&](const ConfigPoint& point) {
    const Config config = decode(spec, point);
    auto [normal, warnings] = normalise(spec, config);
    EXPECT_EQ(normal, config);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
  };
  for (int i = 0; i < 50; ++i) {
    const ConfigPoint a = random_point(spec, random), b = random_point(spec, random), c = random_point(spec, random);
    expect_legal(a);
    expect_legal(mutate(spec, a, random));
    expect_legal(evolve(spec, a, b, c, a, 0.8, 0.8, random));
    for (const ConfigPoint& neighbour : neighbours(spec, a)) expect_legal(neighbour);
  }
  expect_legal(default_point(spec));
}

TEST(ConfigPoint, every_way_to_move_keeps_dependences) {
  ConfigSpec spec = example_spec();
  spec.dependences = {{.entry = {"pid_type", 0}, .on = {"block_sizes", 1}, .least = 64, .why = "it is small"},
                      {.entry = {"range_unroll_factors", 1}, .on = {"pid_type", 0}, .values = {"flat"}, .why = "so"}};
  Random random(5);
  std::set<std::string> seen; // of what depends on something else
  auto expect_legal = [&](const ConfigPoint& point) {
    const Config config = decode(spec, point);
    auto [normal, warnings] = normalise(spec, config);
    EXPECT_EQ(normal, config);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    seen.insert(config.get_string("pid_type") + config.find("range_unroll_factors")->as_list()[1].to_json());
  };
  for (int i = 0; i < 50; ++i) {
    const ConfigPoint a = random_point(spec, random), b = random_point(spec, random), c = random_point(spec, random);
    expect_legal(a);
    expect_legal(mutate(spec, a, random));
    expect_legal(evolve(spec, a, b, c, a, 0.8, 0.8, random));
    for (const ConfigPoint& neighbour : neighbours(spec, a)) expect_legal(neighbour);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"flat1", "flat2", "flat4", "flat8", "persistent_blocked2"}));
}

TEST(ConfigPoint, a_default_past_a_limit_is_lowered) {
  ConfigSpec spec = example_spec();
  spec.element_limits = {{.what = "a tile", .factors = {{"block_sizes", 0}, {"block_sizes", 1}}, .max_elements = 1024}};
  EXPECT_EQ(default_config(spec).get_ints("block_sizes"), (std::vector<int64_t>{32, 32}));
}

TEST(ConfigPoint, mutation_moves_and_neighbours_differ_in_one_entry) {
  const ConfigSpec spec = example_spec();
  const ConfigPoint start = default_point(spec);
  for (const ConfigPoint& neighbour : neighbours(spec, start)) {
    int different = 0;
    for (size_t i = 0; i < start.size(); ++i) different += start[i] != neighbour[i];
    EXPECT_EQ(different, 1);
  }
  // Sizes 2 + 2, orders 3, rolled 1 + 2, pid_type 1, unrolling 1 + 2.
  EXPECT_EQ(neighbours(spec, start).size(), 14u);
}

TEST(ConfigPoint, a_space_of_one_config_has_nowhere_to_go) {
  ConfigSpec spec;
  spec.options = {{.name = "block_sizes", .summary = "", .entries = {SizeEntry{}}}};
  Random random(1);
  EXPECT_EQ(mutate(spec, default_point(spec), random), default_point(spec));
  EXPECT_TRUE(neighbours(spec, default_point(spec)).empty());
  EXPECT_TRUE(default_point({}).empty());
  EXPECT_TRUE(mutate({}, {}, random).empty());
  EXPECT_TRUE(evolve({}, {}, {}, {}, {}, 0.8, 0.8, random).empty());
}

TEST(ConfigPoint, a_spec_prints_as_json_with_what_show_needs) {
  const std::string json = to_json(example_spec());
  for (const char* part : {R"("name": "block_sizes")", R"("label": "tile over n")", R"("legal": "a positive integer")",
                           R"("default": "flat")", R"("num_warps": "a CPU has no warps")", R"("space_size")"})
    EXPECT_NE(json.find(part), json.npos) << part;
}

} // namespace
