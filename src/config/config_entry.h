// One entry of an option: the smallest thing that a config decides, and that a search varies.
//
// The values a search proposes for an entry are numbered 0 .. proposal_count - 1. More values may be legal than are
// proposed: any positive block size is, while the search keeps to those that can be expected to be fast.
#pragma once

#include "config/random.h"
#include "tilewright/config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilewright {

/// A block size. Legal: any positive integer, or any power of two; smaller ones than `min` are raised to it.
/// Proposed: the powers of two from `min` to `max`, `multiples` times powers of two, the default, and on request the
/// whole extent.
struct SizeEntry {
  int64_t min = 1;
  int64_t max = 1;
  int64_t default_value = 1;
  int64_t extent = 0;                  // length of the dimension that is walked in such blocks; 0 when not known
  std::vector<int64_t> multiples = {}; // of a register tile, say: 6 proposes 6, 12, 24, ...
  bool propose_extent = false;         // also the block that walks the dimension in one step
  bool powers_of_two = false;          // nothing else is legal
  int64_t no_larger_than = -1;         // index, in the same option, of the block inside which this one walks; -1: none
};

/// Whether a full dimension is kept whole (null) or rolled into a loop over blocks of a power of two.
/// Legal and proposed: null, and the powers of two from `min` to `max`; smaller ones are raised to `min`.
struct RolledEntry {
  int64_t min = 1;
  int64_t max = 1;
  std::optional<int64_t> default_value = std::nullopt;
  int64_t extent = 0; // of the dimension; 0 when not known
};

/// An order of `rank` loops, outermost first. The default is the order in the source.
struct PermutationEntry {
  int64_t rank = 1; // at most 20
};

/// One of a few values. `ordered`: neighbours in the list can be expected to perform alike (unroll factors), so a
/// search may step along it.
struct ChoiceEntry {
  std::vector<ConfigValue> choices;
  ConfigValue default_value;
  bool ordered = false;
};

using ConfigEntry = std::variant<SizeEntry, RolledEntry, PermutationEntry, ChoiceEntry>;

ConfigValue default_value(const ConfigEntry& entry);

/// For people: `a positive integer`, `null or a power of two from 8 to 4096`, `one of "flat", "persistent_blocked"`.
std::string legal_values(const ConfigEntry& entry);

/// The value as the kernel is compiled with it (raised to the minimum if need be), or nothing when it is not legal.
std::optional<ConfigValue> legalise(const ConfigEntry& entry, const ConfigValue& value);

int64_t proposal_count(const ConfigEntry& entry);
ConfigValue proposal(const ConfigEntry& entry, int64_t index);

/// The proposal equal to a legal value, or else the closest one (by ratio).
int64_t nearest_proposal(const ConfigEntry& entry, const ConfigValue& value);

/// The size that a value stands for in a tile: a whole dimension counts by its extent; 1 for what is no size.
int64_t size_of(const ConfigEntry& entry, const ConfigValue& value);

/// Differential evolution's a + weight * (b - c), on proposals. Sizes are combined by their logarithm, ordered choices
/// by their position; where a difference has no meaning, b or c is taken if they differ, else a.
int64_t combine_proposals(const ConfigEntry& entry, int64_t a, int64_t b, int64_t c, double weight, Random& random);

/// The proposals one step away: the next smaller and larger size, any other unordered choice, two loops exchanged.
std::vector<int64_t> neighbour_proposals(const ConfigEntry& entry, int64_t index);

} // namespace tilewright
