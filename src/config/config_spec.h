// What can be decided about one kernel on one backend: its options, their legal values, defaults, and what depends on
// what. Plain data; derive_config_spec.h makes it from tile IR and BackendLimits.
#pragma once

#include "config/config_entry.h"
#include "tilewright/config.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright {

struct ConfigOptionSpec {
  std::string name;
  std::string summary = {}; // one line: what it decides

  bool is_list = true; // a list with a value for each entry; otherwise there is one entry, and its value stands alone
  bool may_be_short = true;      // a list's missing last entries take their defaults
  bool may_be_one_value = false; // instead of a list: each entry has it where it is legal, the others their defaults

  std::vector<ConfigEntry> entries = {};
  std::vector<std::string> labels = {}; // what each entry stands for: "tile over m"; empty, or one per entry
};

/// One entry of one option.
struct EntryName {
  std::string option;
  size_t entry = 0;
};

/// A bound on a product of sizes: the elements of one tile value of the kernel.
struct ElementLimit {
  std::string what;                    // names the value in messages: "the tile [block 0, block 1] at matmul.cpp:14"
  std::vector<EntryName> factors = {}; // of block_sizes and reduction_loops
  int64_t constant_factor = 1;
  int64_t max_elements = INT64_MAX;
};

/// A bound that a search keeps to, on what a program needs of a resource; no rule, for it is an estimate: a config that
/// a user gives may be beyond it. What is needed is a sum of products of sizes.
struct ResourceLimit {
  struct Term {
    std::vector<EntryName> factors = {}; // of block_sizes and reduction_loops
    double constant_factor = 1;
    bool staged = false; // once for each stage
    /// It counts only where each of these entries has one of the values.
    std::vector<std::pair<EntryName, std::vector<ConfigValue>>> only_where = {};
  };
  std::string what; // "shared memory of the loop (matmul.cpp:12)"
  std::vector<Term> terms = {};
  std::vector<EntryName> stages = {};                 // the number of stages: the first of these that is not 0
  std::optional<EntryName> divided_by = std::nullopt; // shared out among so many
  int64_t most_divisor = 1;                           // beyond that sharing more is no help
  double most = 0;
};

/// An entry that decides something only where another one has some value. Elsewhere it has its default: two configs
/// that differ make different programs.
struct Dependence {
  EntryName entry;
  EntryName on;
  std::vector<ConfigValue> values = {}; // those of `on` with which `entry` has a meaning
  int64_t least = 0;                    // where there are no `values`: the least size that does
  std::string why;                      // for messages: "only persistent programs are several for a worker"
};

struct ConfigSpec {
  std::vector<ConfigOptionSpec> options;
  std::map<std::string, std::string>
      inapplicable; // options that exist, but not here -> why ("no dimension is reduced")
  std::vector<ElementLimit> element_limits;
  std::vector<ResourceLimit> resource_limits;
  std::vector<Config>
      starts; // complete configs that suit the machine for work of this kind, the default first; or none
  std::vector<Dependence> dependences; // an entry comes before those that depend on it

  /// Null when there is no such option.
  const ConfigOptionSpec* find(std::string_view name) const;
};

/// The config of every default; sizes are lowered where an element limit asks for it.
Config default_config(const ConfigSpec& spec);

/// Whether `on`, which has this value, lets the entry decide something.
bool is_met(const Dependence& dependence, const ConfigValue& on);

/// How many configs a search can propose; as a double, for it is a product of many numbers. What depends on something
/// else is counted as if it did not.
double space_size(const ConfigSpec& spec);

/// The spec for `show`: every option with its entries' kind, label, default, legal and proposed values.
std::string to_json(const ConfigSpec& spec);

} // namespace tilewright
