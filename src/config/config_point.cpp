#include "config/config_point.h"

#include <algorithm>

namespace tilewright {
namespace {

/// Every entry of the spec in order, each with the place of its value in a config.
struct FlatEntry {
  const ConfigOptionSpec* option;
  size_t index;
  const ConfigEntry& entry() const { return option->entries[index]; }
};

std::vector<FlatEntry> flatten(const ConfigSpec& spec) {
  std::vector<FlatEntry> entries;
  for (const ConfigOptionSpec& option : spec.options)
    for (size_t i = 0; i < option.entries.size(); ++i) entries.push_back({&option, i});
  return entries;
}

size_t flat_index(const std::vector<FlatEntry>& entries, std::string_view option, size_t index) {
  return std::ranges::find_if(entries,
                              [&](const FlatEntry& e) { return e.option->name == option && e.index == index; }) -
         entries.begin();
}

int64_t size_at(const std::vector<FlatEntry>& entries, const ConfigPoint& point, size_t i) {
  return size_of(entries[i].entry(), proposal(entries[i].entry(), point[i]));
}

/// Lowers a block that walks inside another to at most that one's size.
void fit_inside(const std::vector<FlatEntry>& entries, ConfigPoint& point) {
  for (size_t i = 0; i < entries.size(); ++i) {
    auto* size = std::get_if<SizeEntry>(&entries[i].entry());
    if (!size || size->no_larger_than < 0) continue;
    const size_t outer = flat_index(entries, entries[i].option->name, size->no_larger_than);
    while (point[i] > 0 && size_at(entries, point, i) > size_at(entries, point, outer)) --point[i];
  }
}

/// Lowers the largest factor until the product is within the limit, or nothing can be lowered.
void fit_limit(const std::vector<FlatEntry>& entries, const ElementLimit& limit, ConfigPoint& point) {
  for (;;) {
    double elements = static_cast<double>(limit.constant_factor); // may be far beyond 64 bits
    size_t largest = entries.size();
    int64_t largest_size = 1;
    for (const auto& [option, index] : limit.factors) {
      const size_t i = flat_index(entries, option, index);
      const int64_t size = size_at(entries, point, i);
      elements *= static_cast<double>(size);
      if (point[i] > 0 && size > largest_size) {
        largest = i;
        largest_size = size;
      }
    }
    if (elements <= static_cast<double>(limit.max_elements) || largest == entries.size()) return;
    --point[largest];
  }
}

/// Puts an entry that decides nothing back to its default.
void fit_dependence(const std::vector<FlatEntry>& entries, const Dependence& dependence, ConfigPoint& point) {
  const size_t on = flat_index(entries, dependence.on.option, dependence.on.entry);
  if (is_met(dependence, proposal(entries[on].entry(), point[on]))) return;
  const size_t i = flat_index(entries, dependence.entry.option, dependence.entry.entry);
  point[i] = nearest_proposal(entries[i].entry(), default_value(entries[i].entry()));
}

/// A point as a resource limit sees it, and what can be done where it needs too much.
class ResourceUse {
public:
  ResourceUse(const std::vector<FlatEntry>& entries, const ResourceLimit& limit, ConfigPoint& point)
      : entries_(entries), limit_(limit), point_(point) {}

  /// Fewer stages, down to two; then more to share it out among; then the largest size lowered; then one stage.
  void fit() {
    while (needed() > limit_.most)
      if (!lower_stages(2) && !share_out() && !lower_largest() && !lower_stages(1)) return;
  }

private:
  ConfigValue value(const EntryName& name) const {
    const size_t i = flat_index(entries_, name.option, name.entry);
    return proposal(entries_[i].entry(), point_[i]);
  }

  bool counts(const ResourceLimit::Term& term) const {
    return std::ranges::all_of(term.only_where, [&](const auto& condition) {
      return std::ranges::find(condition.second, value(condition.first)) != condition.second.end();
    });
  }

  const EntryName* stages_entry() const {
    for (const EntryName& name : limit_.stages)
      if (value(name).as_int() > 0) return &name;
    return nullptr;
  }

  double needed() const {
    const EntryName* stages = stages_entry();
    double sum = 0;
    for (const ResourceLimit::Term& term : limit_.terms) {
      if (!counts(term)) continue;
      double product = term.constant_factor;
      for (const auto& [option, entry] : term.factors)
        product *= static_cast<double>(size_at(entries_, point_, flat_index(entries_, option, entry)));
      sum += product * (term.staged && stages ? static_cast<double>(value(*stages).as_int()) : 1);
    }
    return sum / (limit_.divided_by ? static_cast<double>(value(*limit_.divided_by).as_int()) : 1);
  }

  bool lower_stages(int64_t least) {
    const EntryName* stages = stages_entry();
    if (!stages || value(*stages).as_int() <= least) return false;
    int64_t& index = point_[flat_index(entries_, stages->option, stages->entry)];
    if (index == 0) return false;
    --index;
    return true;
  }

  bool share_out() {
    if (!limit_.divided_by || value(*limit_.divided_by).as_int() >= limit_.most_divisor) return false;
    const size_t i = flat_index(entries_, limit_.divided_by->option, limit_.divided_by->entry);
    if (point_[i] + 1 >= proposal_count(entries_[i].entry())) return false;
    ++point_[i];
    return true;
  }

  bool lower_largest() {
    size_t largest = entries_.size();
    int64_t largest_size = 1;
    for (const ResourceLimit::Term& term : limit_.terms)
      for (const auto& [option, entry] : term.factors) {
        const size_t i = flat_index(entries_, option, entry);
        if (point_[i] == 0 || size_at(entries_, point_, i) <= largest_size) continue;
        largest = i;
        largest_size = size_at(entries_, point_, i);
      }
    if (largest == entries_.size()) return false;
    --point_[largest];
    return true;
  }

  const std::vector<FlatEntry>& entries_;
  const ResourceLimit& limit_;
  ConfigPoint& point_;
};

ConfigPoint fit(const ConfigSpec& spec, ConfigPoint point) {
  const std::vector<FlatEntry> entries = flatten(spec);
  auto fit_dependences = [&] {
    for (const Dependence& dependence : spec.dependences) fit_dependence(entries, dependence, point);
  };
  for (const ElementLimit& limit : spec.element_limits) fit_limit(entries, limit, point);
  if (!spec.resource_limits.empty()) fit_dependences(); // what is put back to its default may be more
  for (const ResourceLimit& limit : spec.resource_limits) ResourceUse(entries, limit, point).fit();
  fit_inside(entries, point);
  fit_dependences();
  return point;
}

} // namespace

ConfigPoint encode(const ConfigSpec& spec, const Config& config) {
  ConfigPoint point;
  for (const ConfigOptionSpec& option : spec.options) {
    const ConfigValue& value = *config.find(option.name);
    for (size_t i = 0; i < option.entries.size(); ++i)
      point.push_back(nearest_proposal(option.entries[i], option.is_list ? value.as_list()[i] : value));
  }
  return fit(spec, std::move(point));
}

Config decode(const ConfigSpec& spec, const ConfigPoint& point) {
  Config config;
  size_t next = 0;
  for (const ConfigOptionSpec& option : spec.options) {
    ConfigValue::List values;
    for (const ConfigEntry& entry : option.entries) values.push_back(proposal(entry, point[next++]));
    config.set(option.name, option.is_list ? ConfigValue(std::move(values)) : values.front());
  }
  return config;
}

ConfigPoint default_point(const ConfigSpec& spec) {
  ConfigPoint point;
  for (const FlatEntry& e : flatten(spec)) point.push_back(nearest_proposal(e.entry(), default_value(e.entry())));
  return fit(spec, std::move(point));
}

ConfigPoint random_point(const ConfigSpec& spec, Random& random) {
  ConfigPoint point;
  for (const FlatEntry& e : flatten(spec))
    point.push_back(static_cast<int64_t>(random.below(proposal_count(e.entry()))));
  return fit(spec, std::move(point));
}

ConfigPoint evolve(const ConfigSpec& spec, const ConfigPoint& parent, const ConfigPoint& a, const ConfigPoint& b,
                   const ConfigPoint& c, double weight, double crossover_rate, Random& random) {
  const std::vector<FlatEntry> entries = flatten(spec);
  ConfigPoint point = parent;
  if (point.empty()) return point;
  const size_t forced = random.below(point.size());
  for (size_t i = 0; i < point.size(); ++i)
    if (i == forced || random.chance(crossover_rate))
      point[i] = combine_proposals(entries[i].entry(), a[i], b[i], c[i], weight, random);
  return fit(spec, std::move(point));
}

ConfigPoint mutate(const ConfigSpec& spec, const ConfigPoint& point, Random& random) {
  const std::vector<FlatEntry> entries = flatten(spec);
  std::vector<size_t> movable;
  for (size_t i = 0; i < entries.size(); ++i)
    if (proposal_count(entries[i].entry()) > 1) movable.push_back(i);
  if (movable.empty()) return point;
  ConfigPoint result = point;
  do {
    const size_t i = movable[random.below(movable.size())];
    const std::vector<int64_t> steps = neighbour_proposals(entries[i].entry(), result[i]);
    result[i] = steps[random.below(steps.size())];
  } while (random.chance(0.5));
  return fit(spec, std::move(result));
}

std::vector<ConfigPoint> neighbours(const ConfigSpec& spec, const ConfigPoint& point) {
  const std::vector<FlatEntry> entries = flatten(spec);
  std::vector<ConfigPoint> result;
  for (size_t i = 0; i < entries.size(); ++i)
    for (int64_t step : neighbour_proposals(entries[i].entry(), point[i])) {
      ConfigPoint neighbour = point;
      neighbour[i] = step;
      neighbour = fit(spec, std::move(neighbour));
      if (neighbour != point && std::ranges::find(result, neighbour) == result.end())
        result.push_back(std::move(neighbour));
    }
  return result;
}

} // namespace tilewright
