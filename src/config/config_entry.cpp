#include "config/config_entry.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace tilewright {
namespace {

template <class... Functions> struct Overloaded : Functions... {
  using Functions::operator()...;
};

bool is_power_of_two(int64_t value) { return value > 0 && std::has_single_bit(static_cast<uint64_t>(value)); }

std::vector<int64_t> proposed_sizes(const SizeEntry& entry) {
  std::vector<int64_t> sizes{entry.default_value};
  auto propose = [&](int64_t size) {
    if (size < entry.min || size > entry.max || (entry.powers_of_two && !is_power_of_two(size))) return;
    sizes.push_back(size);
  };
  auto propose_doublings = [&](int64_t size) {
    for (; size > 0 && size <= entry.max; size = size > INT64_MAX / 2 ? 0 : size * 2) propose(size);
  };
  propose_doublings(1);
  for (int64_t multiple : entry.multiples) propose_doublings(multiple);
  if (entry.propose_extent) propose(entry.extent);
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  return sizes;
}

/// Null, the whole dimension, comes last: it is the largest block.
int64_t rolled_count(const RolledEntry& entry) {
  return entry.max < entry.min ? 1 : 1 + std::bit_width(static_cast<uint64_t>(entry.max / entry.min));
}

/// The permutation number `index` of the orders of `rank` loops in lexicographic order, and back.
std::vector<int64_t> permutation(int64_t rank, int64_t index) {
  std::vector<int64_t> left(rank), order;
  std::iota(left.begin(), left.end(), 0);
  int64_t block = 1; // orders of what is left after the next element
  for (int64_t i = 2; i < rank; ++i) block *= i;
  while (!left.empty()) {
    auto next = left.begin() + index / block;
    order.push_back(*next);
    left.erase(next);
    index %= block;
    if (!left.empty()) block /= static_cast<int64_t>(left.size());
  }
  return order;
}

int64_t permutation_index(const std::vector<int64_t>& order) {
  int64_t index = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    int64_t smaller_after = std::count_if(order.begin() + i, order.end(), [&](int64_t x) { return x < order[i]; });
    index = index * static_cast<int64_t>(order.size() - i) + smaller_after;
  }
  return index;
}

/// Nothing when the value is no permutation of 0 .. rank - 1.
std::optional<std::vector<int64_t>> as_permutation(int64_t rank, const ConfigValue& value) {
  if (!value.is_list() || std::ssize(value.as_list()) != rank) return std::nullopt;
  std::vector<int64_t> order;
  for (const ConfigValue& element : value.as_list()) {
    if (!element.is_int()) return std::nullopt;
    order.push_back(element.as_int());
  }
  std::vector<int64_t> sorted = order;
  std::ranges::sort(sorted);
  for (int64_t i = 0; i < rank; ++i)
    if (sorted[i] != i) return std::nullopt;
  return order;
}

bool has_order(const ConfigEntry& entry) {
  if (auto* choice = std::get_if<ChoiceEntry>(&entry)) return choice->ordered;
  return !std::holds_alternative<PermutationEntry>(entry);
}

/// Where each proposal of an entry that has an order lies on the line along which a search steps.
std::vector<double> coordinates(const ConfigEntry& entry) {
  std::vector<double> result;
  for (int64_t i = 0; i < proposal_count(entry); ++i) {
    if (std::holds_alternative<ChoiceEntry>(entry))
      result.push_back(static_cast<double>(i));
    else if (ConfigValue value = proposal(entry, i); value.is_int())
      result.push_back(std::log2(value.as_int()));
    else
      result.push_back(result.empty() ? 0 : result.back() + 1);
  }
  return result;
}

int64_t nearest(const std::vector<double>& coordinates, double wanted) {
  auto distance = [&](double coordinate) { return std::abs(coordinate - wanted); };
  return std::ranges::min_element(coordinates, {}, distance) - coordinates.begin();
}

} // namespace

ConfigValue default_value(const ConfigEntry& entry) {
  return std::visit(Overloaded{
                        [](const SizeEntry& size) -> ConfigValue { return size.default_value; },
                        [](const RolledEntry& rolled) -> ConfigValue { return rolled.default_value; },
                        [](const PermutationEntry& order) -> ConfigValue { return permutation(order.rank, 0); },
                        [](const ChoiceEntry& choice) { return choice.default_value; },
                    },
                    entry);
}

std::string legal_values(const ConfigEntry& entry) {
  return std::visit(Overloaded{
                        [](const SizeEntry& size) -> std::string {
                          return size.powers_of_two ? "a power of two" : "a positive integer";
                        },
                        [](const RolledEntry& rolled) -> std::string {
                          if (rolled.max < rolled.min) return "null";
                          return fmt::format("null or a power of two from {} to {}", rolled.min, rolled.max);
                        },
                        [](const PermutationEntry& order) {
                          return fmt::format("a permutation of {}", ConfigValue(permutation(order.rank, 0)).to_json());
                        },
                        [](const ChoiceEntry& choice) {
                          std::string text;
                          for (const ConfigValue& value : choice.choices)
                            text += (text.empty() ? "" : ", ") + value.to_json();
                          return (choice.choices.size() == 1 ? "only " : "one of ") + text;
                        },
                    },
                    entry);
}

std::optional<ConfigValue> legalise(const ConfigEntry& entry, const ConfigValue& value) {
  using Result = std::optional<ConfigValue>;
  return std::visit(Overloaded{
                        [&](const SizeEntry& size) -> Result {
                          if (!value.is_int() || value.as_int() <= 0) return std::nullopt;
                          if (size.powers_of_two && !is_power_of_two(value.as_int())) return std::nullopt;
                          return std::max(value.as_int(), size.min);
                        },
                        [&](const RolledEntry& rolled) -> Result {
                          if (value.is_null()) return value;
                          if (!value.is_int() || !is_power_of_two(value.as_int()) || value.as_int() > rolled.max)
                            return std::nullopt;
                          return std::max(value.as_int(), rolled.min);
                        },
                        [&](const PermutationEntry& order) -> Result {
                          if (!as_permutation(order.rank, value)) return std::nullopt;
                          return value;
                        },
                        [&](const ChoiceEntry& choice) -> Result {
                          if (std::ranges::find(choice.choices, value) == choice.choices.end()) return std::nullopt;
                          return value;
                        },
                    },
                    entry);
}

int64_t proposal_count(const ConfigEntry& entry) {
  return std::visit(Overloaded{
                        [](const SizeEntry& size) -> int64_t { return std::ssize(proposed_sizes(size)); },
                        [](const RolledEntry& rolled) { return rolled_count(rolled); },
                        [](const PermutationEntry& order) {
                          int64_t count = 1;
                          for (int64_t i = 2; i <= order.rank; ++i) count *= i;
                          return count;
                        },
                        [](const ChoiceEntry& choice) -> int64_t { return std::ssize(choice.choices); },
                    },
                    entry);
}

ConfigValue proposal(const ConfigEntry& entry, int64_t index) {
  return std::visit(Overloaded{
                        [&](const SizeEntry& size) -> ConfigValue { return proposed_sizes(size)[index]; },
                        [&](const RolledEntry& rolled) -> ConfigValue {
                          if (index == rolled_count(rolled) - 1) return nullptr;
                          return rolled.min << index;
                        },
                        [&](const PermutationEntry& order) -> ConfigValue { return permutation(order.rank, index); },
                        [&](const ChoiceEntry& choice) { return choice.choices[index]; },
                    },
                    entry);
}

int64_t nearest_proposal(const ConfigEntry& entry, const ConfigValue& value) {
  if (auto* order = std::get_if<PermutationEntry>(&entry))
    return permutation_index(as_permutation(order->rank, value).value());
  if (auto* choice = std::get_if<ChoiceEntry>(&entry))
    return std::ranges::find(choice->choices, value) - choice->choices.begin();
  if (value.is_null()) return proposal_count(entry) - 1;
  return nearest(coordinates(entry), std::log2(value.as_int()));
}

int64_t size_of(const ConfigEntry& entry, const ConfigValue& value) {
  if (std::holds_alternative<SizeEntry>(entry)) return value.as_int();
  if (auto* rolled = std::get_if<RolledEntry>(&entry))
    return value.is_null() ? std::max<int64_t>(rolled->extent, 1) : value.as_int();
  return 1;
}

int64_t combine_proposals(const ConfigEntry& entry, int64_t a, int64_t b, int64_t c, double weight, Random& random) {
  if (b == c) return a;
  if (!has_order(entry)) return random.chance(0.5) ? b : c;
  std::vector<double> line = coordinates(entry);
  return nearest(line, line[a] + weight * (line[b] - line[c]));
}

std::vector<int64_t> neighbour_proposals(const ConfigEntry& entry, int64_t index) {
  std::vector<int64_t> result;
  const int64_t count = proposal_count(entry);
  if (auto* loops = std::get_if<PermutationEntry>(&entry)) {
    for (int64_t i = 0; i < loops->rank; ++i)
      for (int64_t j = i + 1; j < loops->rank; ++j) {
        std::vector<int64_t> order = permutation(loops->rank, index);
        std::swap(order[i], order[j]);
        result.push_back(permutation_index(order));
      }
    return result;
  }
  for (int64_t i = 0; i < count; ++i)
    if (i != index && (!has_order(entry) || std::abs(i - index) == 1)) result.push_back(i);
  return result;
}

} // namespace tilewright
