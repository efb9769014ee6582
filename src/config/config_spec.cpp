#include "config/config_spec.h"

#include "config/config_point.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_of(const ConfigEntry& entry) {
  constexpr const char* kKinds[] = {"size", "rolled", "permutation", "choice"};
  static_assert(std::size(kKinds) == std::variant_size_v<ConfigEntry>);
  return kKinds[entry.index()];
}

Json entry_json(const ConfigEntry& entry) {
  Json json{{"kind", kind_of(entry)}};
  json["default"] = Json::parse(default_value(entry).to_json());
  json["legal"] = legal_values(entry);
  if (auto* size = std::get_if<SizeEntry>(&entry)) {
    json["min"] = size->min;
    json["max_searched"] = size->max;
    if (size->extent > 0) json["extent"] = size->extent;
  }
  if (std::holds_alternative<PermutationEntry>(entry)) return json; // too many to list, and plain from what is legal
  for (int64_t i = 0; i < proposal_count(entry); ++i)
    json["searched"].push_back(Json::parse(proposal(entry, i).to_json()));
  return json;
}

} // namespace

const ConfigOptionSpec* ConfigSpec::find(std::string_view name) const {
  auto at = std::ranges::find(options, name, &ConfigOptionSpec::name);
  return at == options.end() ? nullptr : &*at;
}

bool is_met(const Dependence& dependence, const ConfigValue& on) {
  if (dependence.values.empty()) return on.as_int() >= dependence.least;
  return std::ranges::find(dependence.values, on) != dependence.values.end();
}

Config default_config(const ConfigSpec& spec) { return decode(spec, default_point(spec)); }

double space_size(const ConfigSpec& spec) {
  double size = 1;
  for (const ConfigOptionSpec& option : spec.options)
    for (const ConfigEntry& entry : option.entries) size *= static_cast<double>(proposal_count(entry));
  return size;
}

std::string to_json(const ConfigSpec& spec) {
  Json json{{"space_size", space_size(spec)}, {"options", Json::array()}};
  for (const ConfigOptionSpec& option : spec.options) {
    Json entries = Json::array();
    for (size_t i = 0; i < option.entries.size(); ++i) {
      Json entry = entry_json(option.entries[i]);
      if (i < option.labels.size()) entry["label"] = option.labels[i];
      entries.push_back(std::move(entry));
    }
    json["options"].push_back(
        {{"name", option.name}, {"summary", option.summary}, {"list", option.is_list}, {"entries", entries}});
  }
  for (const auto& [name, why] : spec.inapplicable) json["inapplicable"][name] = why;
  for (const ElementLimit& limit : spec.element_limits) {
    Json factors = Json::array();
    for (const auto& [option, entry] : limit.factors) factors.push_back({{"option", option}, {"entry", entry}});
    json["element_limits"].push_back({{"what", limit.what},
                                      {"factors", factors},
                                      {"constant_factor", limit.constant_factor},
                                      {"max_elements", limit.max_elements}});
  }
  for (const Dependence& dependence : spec.dependences) {
    Json on{{"option", dependence.on.option}, {"entry", dependence.on.entry}};
    if (dependence.values.empty()) on["least"] = dependence.least;
    for (const ConfigValue& value : dependence.values) on["values"].push_back(Json::parse(value.to_json()));
    json["dependences"].push_back({{"option", dependence.entry.option},
                                   {"entry", dependence.entry.entry},
                                   {"only_with", on},
                                   {"why", dependence.why}});
  }
  return json.dump(2);
}

} // namespace tilewright
