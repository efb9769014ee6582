#include "config/normalise.h"

#include "config/nearest_name.h"
#include "support/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {
namespace {

/// The work on one config: what is found is collected, what is illegal thrown.
class Normaliser {
public:
  Normaliser(const ConfigSpec& spec, const SourceLocation& where)
      : spec_(spec), where_(where), defaults_(default_config(spec)) {}

  NormalisedConfig run(const Config& given) {
    for (const ConfigOption& option : given.options()) check_applies(option);
    for (const ConfigOptionSpec& option : spec_.options) {
      const ConfigValue* value = given.find(option.name);
      result_.config.set(option.name, value ? complete(option, *value) : *defaults_.find(option.name));
    }
    for (const ConfigOptionSpec& option : spec_.options) fit_inner_blocks(option);
    for (const ElementLimit& limit : spec_.element_limits) check_limit(limit);
    for (const Dependence& dependence : spec_.dependences) check_dependence(dependence);
    return std::move(result_);
  }

private:
  void check_applies(const ConfigOption& option) {
    if (spec_.find(option.name)) return;
    if (auto at = spec_.inapplicable.find(option.name); at != spec_.inapplicable.end())
      return warn("config option '{}' is left out: {}", option.name, at->second);
    std::vector<std::string> names;
    for (const ConfigOptionSpec& known : spec_.options) names.push_back(known.name);
    const std::string here = fmt::format("this kernel has {}", fmt::join(names, ", "));
    for (const auto& [name, why] : spec_.inapplicable) names.push_back(name);
    if (auto meant = nearest_name(option.name, names))
      fail(where_, "there is no config option '{}'; did you mean '{}'? ({})", option.name, *meant, here);
    fail(where_, "there is no config option '{}'; {}", option.name, here);
  }

  ConfigValue complete(const ConfigOptionSpec& option, const ConfigValue& given) {
    if (!option.is_list) return legal_value(option, 0, given);
    if (option.may_be_one_value && !given.is_list()) return one_value(option, given);
    if (!given.is_list())
      fail(where_, "config option '{}': found {}, expected a list of {}", option.name, given.to_json(),
           entries_text(option));
    const ConfigValue::List& values = given.as_list();
    const size_t count = option.entries.size();
    if (values.size() > count || (values.size() < count && !option.may_be_short))
      fail(where_, "config option '{}': found {} value{} {}, expected {}{}", option.name, values.size(),
           values.size() == 1 ? "" : "s", given.to_json(), option.may_be_short ? "at most " : "", entries_text(option));
    ConfigValue::List whole;
    for (size_t i = 0; i < values.size(); ++i) whole.push_back(legal_value(option, i, values[i]));
    const ConfigValue::List& defaults = defaults_.find(option.name)->as_list();
    whole.insert(whole.end(), defaults.begin() + values.size(), defaults.end());
    return whole;
  }

  ConfigValue one_value(const ConfigOptionSpec& option, const ConfigValue& given) {
    ConfigValue::List whole;
    bool legal = false;
    for (const ConfigEntry& entry : option.entries) {
      std::optional<ConfigValue> value = legalise(entry, given);
      legal |= value.has_value();
      whole.push_back(value ? *value : default_value(entry));
    }
    if (!legal)
      fail(where_, "config option '{}': found {}, which none of its {} entries can be; expected a list of {}",
           option.name, given.to_json(), option.entries.size(), entries_text(option));
    return whole;
  }

  ConfigValue legal_value(const ConfigOptionSpec& option, size_t i, const ConfigValue& found) {
    const ConfigEntry& entry = option.entries[i];
    std::optional<ConfigValue> value = legalise(entry, found);
    if (!value)
      fail(where_, "config option {}: found {}, expected {}", entry_text(option, i), found.to_json(),
           legal_values(entry));
    if (*value != found)
      warn("config option {}: {} is raised to {}, the least it can be here", entry_text(option, i), found.to_json(),
           value->to_json());
    return *value;
  }

  void fit_inner_blocks(const ConfigOptionSpec& option) {
    for (size_t i = 0; i < option.entries.size(); ++i) {
      auto* size = std::get_if<SizeEntry>(&option.entries[i]);
      if (!size || size->no_larger_than < 0) continue;
      ConfigValue::List values = result_.config.find(option.name)->as_list();
      const ConfigValue outer = values[size->no_larger_than];
      if (values[i].as_int() <= outer.as_int()) continue;
      warn("config option {}: {} is lowered to {}, the size of the block it walks in", entry_text(option, i),
           values[i].to_json(), outer.to_json());
      values[i] = outer;
      result_.config.set(option.name, std::move(values));
    }
  }

  ConfigValue value_of(const EntryName& name) const {
    const ConfigValue& value = *result_.config.find(name.option);
    return spec_.find(name.option)->is_list ? value.as_list()[name.entry] : value;
  }

  void check_dependence(const Dependence& dependence) {
    const auto& [name, i] = dependence.entry;
    const ConfigOptionSpec& option = *spec_.find(name);
    const ConfigValue value = value_of(dependence.entry), neutral = default_value(option.entries[i]);
    if (value == neutral || is_met(dependence, value_of(dependence.on))) return;
    warn("config option {}: {} is reset to {}: {}", entry_text(option, i), value.to_json(), neutral.to_json(),
         dependence.why);
    if (!option.is_list) {
      result_.config.set(name, neutral);
      return;
    }
    ConfigValue::List values = result_.config.find(name)->as_list();
    values[i] = neutral;
    result_.config.set(name, std::move(values));
  }

  void check_limit(const ElementLimit& limit) {
    double elements = static_cast<double>(limit.constant_factor);
    std::vector<std::string> sizes;
    for (const auto& [name, i] : limit.factors) {
      const ConfigValue& value = result_.config.find(name)->as_list()[i];
      elements *= static_cast<double>(size_of(spec_.find(name)->entries[i], value));
      sizes.push_back(fmt::format("{}[{}] = {}", name, i, value.to_json()));
    }
    if (elements > static_cast<double>(limit.max_elements))
      fail(where_,
           "config: {} would have {:.0f} elements, more than the {} a program can hold; choose smaller ones of {}",
           limit.what, elements, limit.max_elements, fmt::join(sizes, ", "));
  }

  /// `2: tile over m, tile over n`
  static std::string entries_text(const ConfigOptionSpec& option) {
    if (option.labels.empty()) return fmt::format("{}", option.entries.size());
    return fmt::format("{}: {}", option.entries.size(), fmt::join(option.labels, ", "));
  }

  /// `'block_sizes'[1] (tile over n)`
  static std::string entry_text(const ConfigOptionSpec& option, size_t i) {
    std::string text = fmt::format("'{}'", option.name);
    if (option.is_list) text += fmt::format("[{}]", i);
    if (i < option.labels.size()) text += fmt::format(" ({})", option.labels[i]);
    return text;
  }

  template <class... Args> void warn(fmt::format_string<Args...> message, Args&&... args) {
    result_.warnings.push_back(fmt::format(message, std::forward<Args>(args)...));
  }

  const ConfigSpec& spec_;
  const SourceLocation& where_;
  const Config defaults_;
  NormalisedConfig result_;
};

} // namespace

Config fit(const ConfigSpec& spec, const Config& config) {
  Config fitted = default_config(spec);
  for (const ConfigOptionSpec& option : spec.options) {
    const ConfigValue* given = config.find(option.name);
    if (!given || given->is_list() != option.is_list) continue;
    if (!option.is_list) {
      if (std::optional<ConfigValue> value = legalise(option.entries[0], *given)) fitted.set(option.name, *value);
      continue;
    }
    ConfigValue::List values = fitted.find(option.name)->as_list();
    for (size_t i = 0; i < std::min(values.size(), given->as_list().size()); ++i)
      if (std::optional<ConfigValue> value = legalise(option.entries[i], given->as_list()[i])) values[i] = *value;
    fitted.set(option.name, std::move(values));
  }
  return fitted;
}

NormalisedConfig normalise(const ConfigSpec& spec, const Config& config, const SourceLocation& where) {
  return Normaliser(spec, where).run(config);
}

} // namespace tilewright
