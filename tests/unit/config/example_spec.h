// The spec of a kernel like a matmul, with an entry of every kind.
#pragma once

#include "config/config_spec.h"

inline tilewright::ConfigSpec example_spec() {
  using namespace tilewright;
  ConfigSpec spec;
  spec.options = {
      {.name = "block_sizes",
       .summary = "the size of each block",
       .may_be_short = false,
       .entries = {SizeEntry{.min = 1, .max = 256, .default_value = 48, .extent = 1000, .multiples = {6}},
                   SizeEntry{.min = 16, .max = 512, .default_value = 64, .extent = 1024}},
       .labels = {"tile over m", "tile over n"}},
      {.name = "loop_orders", .summary = "which loop is outermost", .entries = {PermutationEntry{.rank = 3}}},
      {.name = "reduction_loops",
       .summary = "the block a whole dimension is rolled into",
       .entries = {RolledEntry{.min = 8, .max = 64, .default_value = std::nullopt, .extent = 100},
                   RolledEntry{.min = 8, .max = 32, .default_value = 16, .extent = 50}},
       .labels = {"columns of x", "columns of y"}},
      {.name = "pid_type",
       .summary = "how programs are numbered",
       .is_list = false,
       .entries = {ChoiceEntry{.choices = {"flat", "persistent_blocked"}, .default_value = "flat"}}},
      {.name = "range_unroll_factors",
       .summary = "how often each loop is unrolled",
       .entries = {ChoiceEntry{.choices = {1, 2, 4, 8}, .default_value = 1, .ordered = true},
                   ChoiceEntry{.choices = {1, 2, 4, 8}, .default_value = 2, .ordered = true}}},
  };
  spec.inapplicable = {{"num_warps", "a CPU has no warps"}};
  return spec;
}
