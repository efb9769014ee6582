// What can be decided about one kernel on one backend: its options, their legal values, defaults, and what depends on
// what. Plain data; derive_config_spec.h makes it from tile IR and BackendLimits.
#pragma once

#include "config/config_entry.h"
#include "tilewright/config.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct ConfigOptionSpec {
  std::string name;
  std::string summary = {}; // one line: what it decides

  bool is_list = true; // a list with a value for each entry; otherwise there is one entry, and its value stands alone
  bool may_be_short = true; // a list's missing last entries take their defaults

  std::vector<ConfigEntry> entries = {};
  std::vector<std::string> labels = {}; // what each entry stands for: "tile over m"; empty, or one per entry
};

/// A bound on a product of sizes: the elements of one tile value of the kernel.
struct ElementLimit {
  struct Factor {
    std::string option; // block_sizes or reduction_loops
    size_t entry = 0;
  };
  std::string what; // names the value in messages: "the tile [block 0, block 1] at matmul.cpp:14"
  std::vector<Factor> factors = {};
  int64_t constant_factor = 1;
  int64_t max_elements = INT64_MAX;
};

struct ConfigSpec {
  std::vector<ConfigOptionSpec> options;
  std::map<std::string, std::string>
      inapplicable; // options that exist, but not here -> why ("no dimension is reduced")
  std::vector<ElementLimit> element_limits;

  /// Null when there is no such option.
  const ConfigOptionSpec* find(std::string_view name) const;
};

/// The config of every default; sizes are lowered where an element limit asks for it.
Config default_config(const ConfigSpec& spec);

/// How many configs a search can propose; as a double, for it is a product of many numbers.
double space_size(const ConfigSpec& spec);

/// The spec for `show`: every option with its entries' kind, label, default, legal and proposed values.
std::string to_json(const ConfigSpec& spec);

} // namespace tilewright
