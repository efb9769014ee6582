#include "tilewright/config.h"

#include "support/error.h"
#include "support/hash.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

namespace tilewright {
namespace {

using Json = nlohmann::json;

std::string json_string(std::string_view text) {
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string cpp_string(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (c >= ' ' && c <= '~')
      quoted += c;
    else // three octal digits always end the escape, which hexadecimal ones do not
      quoted += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return quoted + "\"";
}

ConfigValue value_from_json(const std::string& option, const Json& json) {
  switch (json.type()) {
  case Json::value_t::null: return nullptr;
  case Json::value_t::boolean: return json.get<bool>();
  case Json::value_t::number_integer: return json.get<int64_t>();
  case Json::value_t::number_unsigned:
    if (json.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)) return json.get<int64_t>();
    break;
  case Json::value_t::string: return json.get<std::string>();
  case Json::value_t::array: {
    ConfigValue::List list;
    for (const Json& element : json) list.push_back(value_from_json(option, element));
    return list;
  }
  default: break;
  }
  fail(
      "config option '{}': {} cannot be an option's value, which is null, true, false, an integer, a string, or a list "
      "of these",
      option, json.dump());
}

/// nlohmann's text without its own name and number in brackets.
std::string parse_error_text(const Json::parse_error& error) {
  std::string_view text = error.what();
  if (size_t bracket = text.find("] "); bracket != text.npos) text.remove_prefix(bracket + 2);
  return std::string(text);
}

bool is_list_of(const ConfigValue& value, bool (*is_element)(const ConfigValue&)) {
  return value.is_list() && std::ranges::all_of(value.as_list(), is_element);
}

bool is_int(const ConfigValue& value) { return value.is_int(); }
bool is_bool(const ConfigValue& value) { return value.is_bool(); }
bool is_string(const ConfigValue& value) { return value.is_string(); }
bool is_int_or_null(const ConfigValue& value) { return value.is_int() || value.is_null(); }
bool is_int_list(const ConfigValue& value) { return is_list_of(value, is_int); }

std::vector<int64_t> ints(const ConfigValue& list) {
  std::vector<int64_t> result;
  for (const ConfigValue& element : list.as_list()) result.push_back(element.as_int());
  return result;
}

void expect(bool holds, std::string_view name, const char* expected, const ConfigValue& found) {
  if (!holds) fail("config option '{}': expected {}, found {}", name, expected, found.to_json());
}

} // namespace

std::string ConfigValue::to_json() const {
  if (is_null()) return "null";
  if (is_bool()) return as_bool() ? "true" : "false";
  if (is_int()) return std::to_string(as_int());
  if (is_string()) return json_string(as_string());
  std::string text;
  for (const ConfigValue& element : as_list()) text += (text.empty() ? "" : ", ") + element.to_json();
  return "[" + text + "]";
}

std::string ConfigValue::to_cpp() const {
  if (is_null()) return "nullptr";
  if (is_string()) return cpp_string(as_string());
  if (!is_list()) return to_json();
  std::string text;
  for (const ConfigValue& element : as_list()) text += (text.empty() ? "" : ", ") + element.to_cpp();
  return "{" + text + "}";
}

bool ConfigValue::operator==(const ConfigValue& other) const { return value_ == other.value_; }

Config::Config(std::initializer_list<ConfigOption> options) {
  for (const ConfigOption& option : options) {
    if (has(option.name)) fail("config option '{}' is given twice", option.name);
    set(option.name, option.value);
  }
}

Config Config::from_json(std::string_view text) {
  std::set<std::string> names;
  auto check_name = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
      fail("config option '{}' is given twice", parsed.get<std::string>());
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, check_name);
  } catch (const Json::parse_error& error) {
    fail("config is not valid JSON: {}", parse_error_text(error));
  }
  if (!json.is_object())
    fail("a config is a JSON object such as {{\"block_sizes\": [64, 128]}}, found {}", json.dump());
  Config config;
  for (const auto& [name, value] : json.items()) config.set(name, value_from_json(name, value));
  return config;
}

std::string Config::to_json() const {
  std::string text;
  for (const auto& [name, value] : options_)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", json_string(name), value.to_json());
  return "{" + text + "}";
}

std::string Config::to_cpp() const {
  std::string text;
  for (const auto& [name, value] : options_)
    text += fmt::format("{}{{{}, {}}}", text.empty() ? "" : ", ", cpp_string(name), value.to_cpp());
  return "tw::Config{" + text + "}";
}

uint64_t Config::hash() const { return stable_hash(to_json()).low; }

const ConfigValue* Config::find(std::string_view name) const {
  auto at = std::ranges::lower_bound(options_, name, {}, &ConfigOption::name);
  return at != options_.end() && at->name == name ? &at->value : nullptr;
}

const ConfigValue& Config::at(std::string_view name) const {
  if (const ConfigValue* value = find(name)) return *value;
  std::vector<std::string> names;
  for (const ConfigOption& option : options_) names.push_back(option.name);
  fail("config has no option '{}'; it has {}", name,
       names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

Config& Config::set(std::string_view name, ConfigValue value) {
  auto at = std::ranges::lower_bound(options_, name, {}, &ConfigOption::name);
  if (at != options_.end() && at->name == name)
    at->value = std::move(value);
  else
    options_.insert(at, {std::string(name), std::move(value)});
  return *this;
}

Config& Config::erase(std::string_view name) {
  std::erase_if(options_, [&](const ConfigOption& option) { return option.name == name; });
  return *this;
}

bool Config::get_bool(std::string_view name) const {
  expect(at(name).is_bool(), name, "true or false", at(name));
  return at(name).as_bool();
}

int64_t Config::get_int(std::string_view name) const {
  expect(at(name).is_int(), name, "an integer", at(name));
  return at(name).as_int();
}

const std::string& Config::get_string(std::string_view name) const {
  expect(at(name).is_string(), name, "a string", at(name));
  return at(name).as_string();
}

std::vector<bool> Config::get_bools(std::string_view name) const {
  expect(is_list_of(at(name), is_bool), name, "a list of true and false", at(name));
  std::vector<bool> result;
  for (const ConfigValue& element : at(name).as_list()) result.push_back(element.as_bool());
  return result;
}

std::vector<int64_t> Config::get_ints(std::string_view name) const {
  expect(is_int_list(at(name)), name, "a list of integers", at(name));
  return ints(at(name));
}

std::vector<std::optional<int64_t>> Config::get_optional_ints(std::string_view name) const {
  expect(is_list_of(at(name), is_int_or_null), name, "a list of integers and nulls", at(name));
  std::vector<std::optional<int64_t>> result;
  for (const ConfigValue& element : at(name).as_list())
    result.push_back(element.is_null() ? std::nullopt : std::optional(element.as_int()));
  return result;
}

std::vector<std::vector<int64_t>> Config::get_int_lists(std::string_view name) const {
  expect(is_list_of(at(name), is_int_list), name, "a list of lists of integers", at(name));
  std::vector<std::vector<int64_t>> result;
  for (const ConfigValue& element : at(name).as_list()) result.push_back(ints(element));
  return result;
}

std::vector<std::string> Config::get_strings(std::string_view name) const {
  expect(is_list_of(at(name), is_string), name, "a list of strings", at(name));
  std::vector<std::string> result;
  for (const ConfigValue& element : at(name).as_list()) result.push_back(element.as_string());
  return result;
}

bool Config::operator==(const Config& other) const {
  return std::ranges::equal(options_, other.options_, [](const ConfigOption& a, const ConfigOption& b) {
    return a.name == b.name && a.value == b.value;
  });
}

std::ostream& operator<<(std::ostream& out, const Config& config) { return out << config.to_json(); }

} // namespace tilewright
