// Searches: what they propose, and how fast they find what is best.
#include "autotune/differential_evolution.h"
#include "autotune/effort.h"
#include "autotune/random_search.h"
#include "autotune/synthetic_kernel.h"
#include "config/normalise.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace tilewright {
namespace {

using Objective = std::function<Trial(const Config&)>;

Trial synthetic_trial(const Config& config) { return {config, Outcome::measured, synthetic_time(config)}; }

/// Everything a search proposes until it ends or `most` trials are learned.
std::vector<Trial> run(Search& search, const Objective& objective, size_t most = 100000) {
  std::vector<Trial> all;
  while (all.size() < most) {
    std::vector<Config> batch = search.propose();
    if (batch.empty()) break;
    std::vector<Trial> trials;
    for (const Config& config : batch) trials.push_back(objective(config));
    search.learn(trials);
    all.insert(all.end(), trials.begin(), trials.end());
  }
  return all;
}

double fastest(const std::vector<Trial>& trials, size_t count) {
  double best = INFINITY;
  for (const Trial& trial : std::span(trials).first(std::min(count, trials.size())))
    if (trial.outcome == Outcome::measured) best = std::min(best, trial.microseconds);
  return best;
}

void expect_different_and_legal(const std::vector<Trial>& trials, const ConfigSpec& spec) {
  std::set<std::string> seen;
  for (const Trial& trial : trials) {
    EXPECT_TRUE(seen.insert(trial.config.to_json()).second) << "proposed twice: " << trial.config;
    EXPECT_EQ(normalise(spec, trial.config).config, trial.config);
  }
}

DifferentialEvolutionSearch evolution(uint64_t seed, std::vector<Config> first = {}) {
  return DifferentialEvolutionSearch(synthetic_spec(), {.seed = seed, .first = std::move(first)});
}

TEST(DifferentialEvolution, says_its_parameters) {
  EXPECT_EQ(evolution(0).description(),
            "DifferentialEvolutionSearch: population 40, generations 20, crossover rate 0.8, seed 0");
}

TEST(DifferentialEvolution, finds_the_best_region_in_a_few_hundred_trials) {
  double sum_after_200 = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    DifferentialEvolutionSearch search = evolution(seed);
    const std::vector<Trial> trials = run(search, synthetic_trial);
    sum_after_200 += fastest(trials, 200);
    EXPECT_LE(fastest(trials, 400), 111) << "seed " << seed;
    EXPECT_LE(fastest(trials, 840), 100.001) << "seed " << seed;
  }
  EXPECT_LE(sum_after_200 / 8, 108);
}

TEST(DifferentialEvolution, proposes_the_default_and_the_given_configs_first) {
  const Config known = normalise(synthetic_spec(), {{"block_sizes", {100, 200}}, {"pid_type", "xyz"}}).config;
  DifferentialEvolutionSearch search = evolution(0, {known, default_config(synthetic_spec())});
  const std::vector<Config> batch = search.propose();
  ASSERT_EQ(batch.size(), 40u);
  EXPECT_EQ(batch[0], default_config(synthetic_spec()));
  EXPECT_EQ(batch[1], known) << "as it is, though 100 is none of the sizes a search proposes";
  EXPECT_NE(batch[2], default_config(synthetic_spec()));
}

TEST(DifferentialEvolution, never_proposes_a_config_twice_and_only_legal_ones) {
  DifferentialEvolutionSearch search = evolution(1);
  const std::vector<Trial> trials = run(search, synthetic_trial);
  expect_different_and_legal(trials, synthetic_spec());
  EXPECT_EQ(trials.size(), 40u * 21u);
  EXPECT_EQ(search.why_finished(), "20 generations are done");
}

TEST(DifferentialEvolution, the_same_seed_and_times_give_the_same_search) {
  DifferentialEvolutionSearch one = evolution(5), same = evolution(5), other = evolution(6);
  auto configs = [](Search& search) {
    std::vector<Config> result;
    for (const Trial& trial : run(search, synthetic_trial, 200)) result.push_back(trial.config);
    return result;
  };
  const std::vector<Config> expected = configs(one);
  EXPECT_EQ(configs(same), expected);
  EXPECT_NE(configs(other), expected);
}

TEST(DifferentialEvolution, reports_population_and_replacements) {
  DifferentialEvolutionSearch search = evolution(2);
  run(search, synthetic_trial, 40);
  const SearchProgress first = search.progress();
  EXPECT_EQ(first.step, "first population");
  EXPECT_EQ(first.replaced, 0u);
  EXPECT_EQ(first.times.size(), 40u);
  run(search, synthetic_trial, 40);
  const SearchProgress second = search.progress();
  EXPECT_EQ(second.step, "generation 1");
  EXPECT_GT(second.replaced, 0u);
  EXPECT_EQ(second.times.size(), 40u);
  EXPECT_LE(std::ranges::max(second.times), std::ranges::max(first.times));
}

TEST(DifferentialEvolution, goes_around_candidates_that_fail) {
  // Whatever has a large first block fails to compile: most of the space, and what lies next to the best.
  auto objective = [](const Config& config) -> Trial {
    if (config.get_ints("block_sizes")[0] > 128) return {config, Outcome::compile_failed};
    return synthetic_trial(config);
  };
  DifferentialEvolutionSearch search = evolution(3);
  const std::vector<Trial> trials = run(search, objective);
  EXPECT_LE(fastest(trials, 400), 106);
  EXPECT_EQ(search.progress().times.size(), 40u) << "no failed one is left in the population";
}

TEST(DifferentialEvolution, goes_on_when_hardly_anything_works) {
  for (int working : {0, 1, 2, 3}) {
    int tried = 0;
    DifferentialEvolutionSearch search = evolution(4);
    const std::vector<Trial> trials = run(
        search,
        [&](const Config& config) -> Trial {
          return tried++ < working ? synthetic_trial(config) : Trial{config, Outcome::wrong_result};
        },
        400);
    EXPECT_GE(trials.size(), 400u);
    EXPECT_EQ(search.progress().times.size(), static_cast<size_t>(working));
  }
}

TEST(DifferentialEvolution, what_was_given_up_or_skipped_never_replaces_what_was_measured) {
  DifferentialEvolutionSearch search = evolution(7);
  run(search, synthetic_trial, 40);
  const SearchProgress before = search.progress();
  for (Outcome outcome : {Outcome::too_slow, Outcome::skipped, Outcome::crashed}) {
    run(search, [&](const Config& config) { return Trial{config, outcome, 1}; }, 40);
    EXPECT_EQ(search.progress().replaced, 0u);
    EXPECT_EQ(search.progress().times, before.times);
  }
}

TEST(DifferentialEvolution, ends_when_a_small_space_is_used_up) {
  ConfigSpec spec;
  spec.options = {{.name = "block_sizes",
                   .summary = "",
                   .entries = {SizeEntry{.min = 1, .max = 16, .default_value = 4},
                               SizeEntry{.min = 1, .max = 16, .default_value = 4}}}};
  DifferentialEvolutionSearch search(spec, {});
  const std::vector<Trial> trials =
      run(search, [](const Config& config) { return Trial{config, Outcome::measured, 1}; });
  EXPECT_EQ(trials.size(), 25u);
  expect_different_and_legal(trials, spec);
  EXPECT_EQ(search.why_finished(), "no config is left that was not tried");
}

TEST(DifferentialEvolution, a_kernel_without_options_has_one_candidate) {
  DifferentialEvolutionSearch search({}, {});
  const std::vector<Trial> trials =
      run(search, [](const Config& config) { return Trial{config, Outcome::measured, 1}; });
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].config, Config());
}

TEST(RandomSearch, tries_the_default_then_as_many_different_legal_configs_as_asked) {
  RandomSearch search(synthetic_spec(), {.count = 100, .batch = 30});
  const std::vector<Trial> trials = run(search, synthetic_trial);
  EXPECT_EQ(trials.size(), 100u);
  EXPECT_EQ(trials[0].config, default_config(synthetic_spec()));
  expect_different_and_legal(trials, synthetic_spec());
  EXPECT_EQ(search.progress().times.size(), 100u);
  EXPECT_EQ(search.why_finished(), "100 configs were tried");
}

TEST(RandomSearch, is_worse_than_differential_evolution) {
  double random_sum = 0, evolution_sum = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    RandomSearch random(synthetic_spec(), {.count = 300, .seed = seed});
    DifferentialEvolutionSearch evolved = evolution(seed);
    random_sum += fastest(run(random, synthetic_trial), 300);
    evolution_sum += fastest(run(evolved, synthetic_trial), 300);
  }
  EXPECT_LT(evolution_sum, 0.9 * random_sum);
}

TEST(RandomConfigs, a_small_space_gives_all_it_has) {
  ConfigSpec spec;
  spec.options = {{.name = "pid_type",
                   .summary = "",
                   .is_list = false,
                   .entries = {ChoiceEntry{.choices = {"a", "b", "c"}, .default_value = "a"}}}};
  EXPECT_EQ(random_configs(spec, 200, 0).size(), 3u);
  EXPECT_EQ(random_configs(synthetic_spec(), 200, 0).size(), 200u);
  EXPECT_EQ(random_configs(synthetic_spec(), 200, 0), random_configs(synthetic_spec(), 200, 0));
}

TEST(Effort, is_said_in_a_word) {
  EXPECT_EQ(parse_effort("none"), Effort::none);
  EXPECT_EQ(parse_effort("quick"), Effort::quick);
  EXPECT_EQ(parse_effort("full"), Effort::full);
  EXPECT_EQ(parse_effort("Full"), std::nullopt);
  EXPECT_EQ(make_search(Effort::full, synthetic_spec(), {}, 0)->description(), evolution(0).description());
  EXPECT_EQ(make_search(Effort::quick, synthetic_spec(), {}, 0)->propose().size(), 20u);
}

} // namespace
} // namespace tilewright
